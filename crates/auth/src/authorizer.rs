//! Authorizes the requests of a client: runs sign-ins and refreshes, and stores their tokens.
//!
//! If several requests are rejected at the same time, one task renews the token and the others wait
//! for it. Among several processes that share a store, one process renews the token.

mod blocking;
mod build;
mod challenge_summary;
mod renew;
mod save;
mod sign_in;
mod sign_out;
mod step_ups;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, BoxFetch, BoxFuture, RequestSummary,
    RetryDecision, WebUrl,
};
use tokio::time::Instant;

use crate::client::ClientConfig;
use crate::credentials::{CredentialStore, TokensRecord};
use crate::error::AuthError;
use crate::fetch_policy::FetchPolicy;
use crate::flow::{AuthorizationResponse, IssuedTokens, SignInRequest, UserCode};
use crate::flow_context::FlowContext;
use crate::key::Proof;
use crate::secret::Secret;

use challenge_summary::ChallengeSummary;
use save::{Saved, Unsaved};
use step_ups::StepUps;

pub use build::{OAuthBuilder, OAuthOptions};
pub use sign_out::{Revocation, SignedOut};

type OnVisit = Arc<
    dyn Fn(SignInRequest) -> BoxFuture<'static, Result<Option<AuthorizationResponse>, AuthError>>
        + Send
        + Sync,
>;
type OnUserCode = Arc<dyn Fn(UserCode) -> BoxFuture<'static, Result<(), AuthError>> + Send + Sync>;
type OnAssertion =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Secret, AuthError>> + Send + Sync>;

/// Authorizes the requests of a client to one server. Clones share their state.
///
/// # Examples
///
/// ```no_run
/// # async fn example(fetch: impl pintle_runtime::Fetch) -> Result<(), pintle_auth::AuthError> {
/// use pintle_auth::{OAuth, ClientConfig, open_browser};
///
/// let oauth = OAuth::of("https://mcp.example/mcp", ClientConfig::new("my program"), fetch)?
///     .on_sign_in(|visit| async move {
///         // A real program asks the user first, and only at a terminal.
///         open_browser(&visit.url).await.ok();
///         Ok(None)
///     })
///     .build();
/// oauth.sign_in().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OAuth(Arc<Inner>);

struct Inner {
    server: WebUrl,
    profile: Arc<ClientConfig>,
    fetch: BoxFetch,
    store: Arc<dyn CredentialStore>,
    fetch_policy: FetchPolicy,
    on_visit: Option<OnVisit>,
    on_user_code: Option<OnUserCode>,
    on_assertion: Option<OnAssertion>,
    redirect: Option<String>,
    port: Option<u16>,
    options: OAuthOptions,
    held: Mutex<Held>,
    /// The holder renews the token; other tasks wait for it.
    renewal: Arc<tokio::sync::Mutex<()>>,
}

/// Current tokens and their state.
#[derive(Default)]
struct Held {
    // Changed with `generation` under one lock, because a refused request names its token by the edition.
    issued: Option<Arc<IssuedTokens>>,
    // Never falls: later changes of other processes are read by a renewal, because each request would
    // read the store otherwise.
    is_loaded: bool,
    generation: u64,
    /// Number of sign-ins. Each of them may change the user.
    // Not raised by a refresh, because the user and their cached results stay the same.
    sign_ins: u64,
    // Nonce of the protected server, because the issuer has nonces of its own.
    nonce: Option<String>,
    step_ups: StepUps,
    /// Set while the store does not have the tokens, because their save failed.
    // None whenever `issued` changes, because it describes the tokens in use. `keep` sets it after that.
    unsaved: Option<Unsaved>,
    /// The sign-ins of the last minute that ended with a token.
    recent_sign_ins: renew::SignIns,
    /// How many renewals have failed, and why the last one did.
    // Counted, because a request shares only a failure that ended while it waited.
    failures: u64,
    // None after a renewal that got a token.
    failure: Option<AuthError>,
}

impl OAuth {
    /// Returns a builder of an authorizer for the server at `url`.
    ///
    /// # Errors
    ///
    /// [`AuthError::Address`].
    pub fn of(
        url: &str,
        profile: ClientConfig,
        fetch: impl pintle_runtime::Fetch,
    ) -> Result<OAuthBuilder, AuthError> {
        OAuthBuilder::new(url, profile, BoxFetch::new(fetch))
    }

    /// Signs in now, even if tokens are stored, before a request needs a token.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]. After [`AuthError::NotSaved`] the token is used all the same.
    pub async fn sign_in(&self) -> Result<(), AuthError> {
        self.sign_in_after(&[]).await
    }

    /// Signs in now, even if tokens are stored, with the `WWW-Authenticate` lines of a rejected
    /// request. They may name the metadata and scopes of the server.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]. After [`AuthError::NotSaved`] the token is used all the same.
    pub async fn sign_in_after(&self, challenges: &[String]) -> Result<(), AuthError> {
        let generation = self.0.held().generation;
        let challenge = ChallengeSummary::of(challenges);
        match Inner::renew(
            &self.0,
            challenge,
            generation,
            None,
            renew::RenewMode::Ignored,
        )
        .await?
        {
            Saved::Yes => Ok(()),
            Saved::No(reason) => Err(AuthError::NotSaved(reason)),
        }
    }

    /// Signs out of this server: deletes the stored tokens, and revokes them at the issuer if the
    /// issuer supports this. Registrations stay. A renewal that is under way ends first.
    ///
    /// The tokens are deleted even if the revocation fails. [`SignedOut`] reports the revocation.
    ///
    /// # Errors
    ///
    /// [`AuthError::StorageFailed`]: the tokens are not deleted.
    pub async fn sign_out(&self) -> Result<SignedOut, AuthError> {
        self.0.sign_out().await
    }

    /// Returns the current tokens of this server, if the client has any.
    ///
    /// The first call reads the store and blocks its thread, unless a request was authorized before.
    ///
    /// # Errors
    ///
    /// [`AuthError::StorageFailed`].
    pub fn issued_tokens(&self) -> Result<Option<Arc<IssuedTokens>>, AuthError> {
        self.0.load()?;
        Ok(self.0.held().issued.clone())
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
    }

    /// Returns the storage key of the tokens.
    fn key(&self) -> String {
        format!("grant {}", self.server.canonical())
    }

    /// Reads the stored tokens on the first call.
    fn load(&self) -> Result<(), AuthError> {
        if self.held().is_loaded {
            return Ok(());
        }
        let found = self.kept_tokens()?;
        let mut held = self.held();
        if !held.is_loaded {
            held.is_loaded = true;
            if let Some(issued) = found {
                held.issued = Some(Arc::new(issued));
                held.generation += 1;
            }
        }
        Ok(())
    }

    fn kept_tokens(&self) -> Result<Option<IssuedTokens>, AuthError> {
        let text = self.store.load(&self.key()).map_err(kept)?;
        Ok(self.read_tokens(text.as_ref()))
    }

    /// Parses stored tokens, if they belong to this client.
    fn read_tokens(&self, text: Option<&Secret>) -> Option<IssuedTokens> {
        let issued = TokensRecord::read(text?, &self.profile)?;
        let is_ours = self.profile.may_be(&issued.issuer, &issued.client.id);
        is_ours.then_some(issued)
    }

    async fn authorize(
        self: &Arc<Self>,
        summary: RequestSummary<'_>,
    ) -> Result<AuthHeaders, AuthError> {
        if !self.held().is_loaded {
            self.blocking(Self::load).await?;
        }
        self.save_again().await;
        let (issued, generation) = self.current();
        let Some(issued) = issued else {
            return Ok(AuthHeaders::none());
        };
        if issued.tokens.is_stale(SystemTime::now()) && self.renews_alone(&issued) {
            let renewed = Self::renew(
                self,
                ChallengeSummary::default(),
                generation,
                None,
                renew::RenewMode::Refreshed,
            )
            .await;
            if let Err(error) = renewed {
                // The server may still accept the token. If not, it sends a challenge.
                tracing::debug!(%error, "a token was not renewed before its end");
            }
        }
        let (issued, generation) = self.current();
        let Some(issued) = issued else {
            return Ok(AuthHeaders::none());
        };
        self.auth_headers(&issued, generation, summary)
    }

    fn current(&self) -> (Option<Arc<IssuedTokens>>, u64) {
        let held = self.held();
        (held.issued.clone(), held.generation)
    }

    fn auth_headers(
        &self,
        issued: &IssuedTokens,
        generation: u64,
        summary: RequestSummary<'_>,
    ) -> Result<AuthHeaders, AuthError> {
        let token = issued.tokens.access.reveal();
        let Some(key) = issued.dpop.as_ref().filter(|_| issued.tokens.is_bound) else {
            let headers = vec![("authorization".into(), format!("Bearer {token}").into())];
            return Ok(AuthHeaders::new(headers, generation));
        };
        let at = FlowContext::draw().map_err(|_| AuthError::NoRandomness)?;
        let (nonce, id) = (self.held().nonce.clone(), at.proof_id());
        let proof = key.key.proof(&Proof {
            method: summary.method,
            url: summary.url,
            token: Some(token),
            nonce: nonce.as_deref(),
            id: &id,
            now: at.now,
        })?;
        let headers = vec![
            ("authorization".into(), format!("DPoP {token}").into()),
            ("dpop".into(), proof.reveal().as_str().into()),
        ];
        Ok(AuthHeaders::new(headers, generation))
    }

    async fn refused(
        self: &Arc<Self>,
        summary: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthError> {
        let challenge = ChallengeSummary::of(&refused.challenges);
        if challenge.has_error("use_dpop_nonce") {
            return self.take_refused_nonce(&refused);
        }
        if self.held().generation != refused.generation {
            // Another task has renewed the token meanwhile.
            return Ok(RetryDecision::Retry);
        }
        if refused.status == 403 {
            return self.step_up(summary, refused.generation, challenge).await;
        }
        if refused.before > 0 && refused.generation > 0 {
            return Err(AuthError::NewTokenRejected(refused.status));
        }
        Self::renew(
            self,
            challenge,
            refused.generation,
            None,
            renew::RenewMode::Refreshed,
        )
        .await?;
        Ok(RetryDecision::Retry)
    }

    /// Retries with a new proof after a rejected nonce. The token stays in use, because only the
    /// proof was rejected.
    fn take_refused_nonce(&self, refused: &AuthChallenge) -> Result<RetryDecision, AuthError> {
        match &refused.nonce {
            Some(nonce) if refused.before < NONCES => {
                self.note_nonce(nonce);
                Ok(RetryDecision::Retry)
            }
            _ => Err(AuthError::NewTokenRejected(refused.status)),
        }
    }

    fn note_nonce(&self, nonce: &str) {
        self.held().nonce = Some(nonce.to_owned());
    }

    /// Signs in for more scopes, at most `max_step_ups` times for one operation.
    async fn step_up(
        self: &Arc<Self>,
        summary: RequestSummary<'_>,
        generation: u64,
        challenge: ChallengeSummary,
    ) -> Result<RetryDecision, AuthError> {
        let Some(scopes) = challenge
            .scopes
            .clone()
            .filter(|_| challenge.has_error("insufficient_scope"))
        else {
            return Ok(RetryDecision::GiveUp);
        };
        if let Some(own) = self
            .profile
            .scopes
            .as_ref()
            .filter(|own| !own.covers(&scopes))
        {
            // A sign-in cannot succeed, because the client requests only its configured scopes.
            return Err(AuthError::Scopes {
                operation: summary.operation.into(),
                scopes: scopes.to_string().into(),
                own: own.to_string().into(),
            });
        }
        let now = Instant::now();
        let after = (self.held().step_ups).count(summary.operation, now, &self.options);
        if after > self.options.max_step_ups {
            return Err(AuthError::StepUps {
                operation: summary.operation.into(),
                after: self.options.max_step_ups,
                scopes: scopes.to_string().into(),
            });
        }
        Self::renew(
            self,
            challenge,
            generation,
            Some(summary.operation.to_owned()),
            renew::RenewMode::Held,
        )
        .await?;
        Ok(RetryDecision::Retry)
    }
}

impl Authorizer for OAuth {
    async fn authorize(&self, summary: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        self.0
            .authorize(summary)
            .await
            .map_err(AuthorizerError::new)
    }

    async fn handle_challenge(
        &self,
        summary: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        self.0
            .refused(summary, refused)
            .await
            .map_err(AuthorizerError::new)
    }

    fn take_nonce(&self, nonce: &str) {
        self.0.note_nonce(nonce);
    }

    /// Returns the issuer, the client and the number of the sign-in. The number changes with each
    /// sign-in, because the next user must not see cached results of the previous user.
    fn principal(&self) -> Option<String> {
        let held = self.0.held();
        let issued = held.issued.as_ref()?;
        Some(format!(
            "{} {} {}",
            issued.issuer, issued.client.id, held.sign_ins
        ))
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OAuth({})", self.0.server)
    }
}

fn kept(error: std::io::Error) -> AuthError {
    AuthError::StorageFailed(error.to_string().into())
}

fn flow_context() -> Result<FlowContext, AuthError> {
    FlowContext::draw().map_err(|_| AuthError::NoRandomness)
}

/// Maximum number of retries of one request for a nonce. A server may change its nonce meanwhile.
const NONCES: u32 = 3;
/// Pause between attempts to get the lock that another process holds.
const LOCK_POLL: Duration = Duration::from_millis(50);
