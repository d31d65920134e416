//! Drives the machines for the requests of a client: fetches, sends users, keeps what comes of it.
//!
//! However many requests are refused at the same time, one of them renews the token and the others
//! wait for it; among several processes that share a store, one process does.

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
use crate::credentials::{CredentialStore, GrantRecord};
use crate::error::AuthError;
use crate::flow::{AuthorizationResponse, SignInRequest, TokenGrant};
use crate::flow_context::FlowContext;
use crate::key::Proof;
use crate::reach::FetchPolicy;
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
type OnAssertion =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Secret, AuthError>> + Send + Sync>;

/// Authorizes the requests of a client to one server. Clones are the same one.
///
/// # Examples
///
/// ```no_run
/// # async fn example(fetch: impl pintle_runtime::Fetch) -> Result<(), pintle_auth::AuthError> {
/// use pintle_auth::{OAuth, ClientConfig, open_browser};
///
/// let oauth = OAuth::of("https://mcp.example/mcp", ClientConfig::new("my program"), fetch)?
///     .on_sign_in(|visit| async move {
///         // Ask first, and only where somebody sits at a terminal.
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
    bounds: FetchPolicy,
    on_visit: Option<OnVisit>,
    on_assertion: Option<OnAssertion>,
    redirect: Option<String>,
    port: Option<u16>,
    options: OAuthOptions,
    held: Mutex<Held>,
    /// Whoever has it renews; everybody else waits for it.
    renewal: Arc<tokio::sync::Mutex<()>>,
}

/// What is known now.
#[derive(Default)]
struct Held {
    // Changed with `edition` under one lock, because a refused request names its token by the edition.
    grant: Option<Arc<TokenGrant>>,
    // Never falls: later changes of other processes are read by a renewal, because each request would
    // read the store otherwise.
    is_loaded: bool,
    edition: u64,
    /// How often somebody else may have become the user: with every sign-in.
    // Not raised by a refresh, because the user and their cached results stay the same.
    sign_ins: u64,
    // Of the server, not of the issuer, because each of them has nonces of its own.
    nonce: Option<String>,
    step_ups: StepUps,
    /// Set while the store does not have the grant, because its save failed.
    // None whenever `grant` changes, because it describes the grant in use. `keep` sets it after that.
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
    /// Begins an authorizer for the server at `url`.
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

    /// Signs in now, whatever is kept: for a program that does so before it needs a token.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]. After [`AuthError::NotSaved`] the token is used all the same.
    pub async fn sign_in(&self) -> Result<(), AuthError> {
        self.sign_in_after(&[]).await
    }

    /// Signs in now, whatever is kept, for what the server said when it refused a request: its
    /// lines of `WWW-Authenticate`. They may name its metadata and scopes.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]. After [`AuthError::NotSaved`] the token is used all the same.
    pub async fn sign_in_after(&self, challenges: &[String]) -> Result<(), AuthError> {
        let edition = self.0.held().edition;
        let wanted = ChallengeSummary::of(challenges);
        match Inner::renew(&self.0, wanted, edition, None, renew::RenewMode::Ignored).await? {
            Saved::Yes => Ok(()),
            Saved::No(reason) => Err(AuthError::NotSaved(reason)),
        }
    }

    /// Signs out of this server: forgets its token, and has the issuer take back what it gave, where
    /// it does that. Registrations stay. A renewal that is under way ends first.
    ///
    /// What is kept is forgotten in any case: what became of the tokens at the issuer is no error
    /// here, but a part of [`SignedOut`].
    ///
    /// # Errors
    ///
    /// [`AuthError::StorageFailed`]: nothing is forgotten then.
    pub async fn sign_out(&self) -> Result<SignedOut, AuthError> {
        self.0.sign_out().await
    }

    /// What is kept for this server, if anything is.
    ///
    /// The first call reads the store and blocks its thread, unless a request was authorized before.
    ///
    /// # Errors
    ///
    /// [`AuthError::StorageFailed`].
    pub fn grant(&self) -> Result<Option<Arc<TokenGrant>>, AuthError> {
        self.0.load()?;
        Ok(self.0.held().grant.clone())
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
    }

    /// Under which name the grant of the server is kept.
    fn key(&self) -> String {
        format!("grant {}", self.server.canonical())
    }

    /// Reads what is kept, the first time.
    fn load(&self) -> Result<(), AuthError> {
        if self.held().is_loaded {
            return Ok(());
        }
        let found = self.kept_grant()?;
        let mut held = self.held();
        if !held.is_loaded {
            held.is_loaded = true;
            if let Some(grant) = found {
                held.grant = Some(Arc::new(grant));
                held.edition += 1;
            }
        }
        Ok(())
    }

    fn kept_grant(&self) -> Result<Option<TokenGrant>, AuthError> {
        let text = self.store.load(&self.key()).map_err(kept)?;
        Ok(self.read_grant(text.as_ref()))
    }

    /// The grant of a stored text, if it belongs to this client.
    fn read_grant(&self, text: Option<&Secret>) -> Option<TokenGrant> {
        let grant = GrantRecord::read(text?, &self.profile)?;
        let is_ours = self.profile.may_be(&grant.issuer, &grant.client.id);
        is_ours.then_some(grant)
    }

    async fn authorize(
        self: &Arc<Self>,
        errand: RequestSummary<'_>,
    ) -> Result<AuthHeaders, AuthError> {
        if !self.held().is_loaded {
            self.blocking(Self::load).await?;
        }
        self.save_again().await;
        let (grant, edition) = self.current();
        let Some(grant) = grant else {
            return Ok(AuthHeaders::none());
        };
        if grant.tokens.is_stale(SystemTime::now()) && self.renews_alone(&grant) {
            let renewed = Self::renew(
                self,
                ChallengeSummary::default(),
                edition,
                None,
                renew::RenewMode::Refreshed,
            )
            .await;
            if let Err(error) = renewed {
                // The server may still take it; if not, it says what it wants.
                tracing::debug!(%error, "a token was not renewed before its end");
            }
        }
        let (grant, edition) = self.current();
        let Some(grant) = grant else {
            return Ok(AuthHeaders::none());
        };
        self.warrant(&grant, edition, errand)
    }

    fn current(&self) -> (Option<Arc<TokenGrant>>, u64) {
        let held = self.held();
        (held.grant.clone(), held.edition)
    }

    fn warrant(
        &self,
        grant: &TokenGrant,
        edition: u64,
        errand: RequestSummary<'_>,
    ) -> Result<AuthHeaders, AuthError> {
        let token = grant.tokens.access.reveal();
        let Some(key) = grant.dpop.as_ref().filter(|_| grant.tokens.is_bound) else {
            let headers = vec![("authorization".into(), format!("Bearer {token}").into())];
            return Ok(AuthHeaders::new(headers, edition));
        };
        let at = FlowContext::draw().map_err(|_| AuthError::NoRandomness)?;
        let (nonce, id) = (self.held().nonce.clone(), at.proof_id());
        let proof = key.key.proof(&Proof {
            method: errand.method,
            url: errand.url,
            token: Some(token),
            nonce: nonce.as_deref(),
            id: &id,
            now: at.now,
        })?;
        let headers = vec![
            ("authorization".into(), format!("DPoP {token}").into()),
            ("dpop".into(), proof.reveal().as_str().into()),
        ];
        Ok(AuthHeaders::new(headers, edition))
    }

    async fn refused(
        self: &Arc<Self>,
        errand: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthError> {
        let wanted = ChallengeSummary::of(&refused.challenges);
        if wanted.has_error("use_dpop_nonce") {
            return self.take_refused_nonce(&refused);
        }
        if self.held().edition != refused.generation {
            // Somebody has renewed the token meanwhile.
            return Ok(RetryDecision::Retry);
        }
        if refused.status == 403 {
            return self.step_up(errand, refused.generation, wanted).await;
        }
        if refused.before > 0 && refused.generation > 0 {
            return Err(AuthError::NewTokenRejected(refused.status));
        }
        Self::renew(
            self,
            wanted,
            refused.generation,
            None,
            renew::RenewMode::Refreshed,
        )
        .await?;
        Ok(RetryDecision::Retry)
    }

    /// A proof without the right nonce says nothing against the token: it is sent again with
    /// another proof, and no other token is asked for. Others may have learned the nonce meanwhile.
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

    /// Signs in for more, a few times for one operation.
    async fn step_up(
        self: &Arc<Self>,
        errand: RequestSummary<'_>,
        edition: u64,
        wanted: ChallengeSummary,
    ) -> Result<RetryDecision, AuthError> {
        let Some(scopes) = wanted
            .scopes
            .clone()
            .filter(|_| wanted.has_error("insufficient_scope"))
        else {
            return Ok(RetryDecision::GiveUp);
        };
        if let Some(own) = self
            .profile
            .scopes
            .as_ref()
            .filter(|own| !own.covers(&scopes))
        {
            // No sign-in would change that: this client does not ask for more than it was told to.
            return Err(AuthError::Scopes {
                operation: errand.operation.into(),
                scopes: scopes.to_string().into(),
                own: own.to_string().into(),
            });
        }
        let now = Instant::now();
        let after = (self.held().step_ups).count(errand.operation, now, &self.options);
        if after > self.options.max_step_ups {
            return Err(AuthError::StepUps {
                operation: errand.operation.into(),
                after: self.options.max_step_ups,
                scopes: scopes.to_string().into(),
            });
        }
        Self::renew(
            self,
            wanted,
            edition,
            Some(errand.operation.to_owned()),
            renew::RenewMode::Held,
        )
        .await?;
        Ok(RetryDecision::Retry)
    }
}

impl Authorizer for OAuth {
    async fn authorize(&self, errand: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        self.0.authorize(errand).await.map_err(AuthorizerError::new)
    }

    async fn handle_challenge(
        &self,
        errand: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        self.0
            .refused(errand, refused)
            .await
            .map_err(AuthorizerError::new)
    }

    fn take_nonce(&self, nonce: &str) {
        self.0.note_nonce(nonce);
    }

    /// The issuer, the client, and which sign-in it is: whoever signs in next may be somebody else,
    /// and is shown nothing that was kept for the one before.
    fn principal(&self) -> Option<String> {
        let held = self.0.held();
        let grant = held.grant.as_ref()?;
        Some(format!(
            "{} {} {}",
            grant.issuer, grant.client.id, held.sign_ins
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

fn moment() -> Result<FlowContext, AuthError> {
    FlowContext::draw().map_err(|_| AuthError::NoRandomness)
}

/// How often one request is sent again for a nonce: servers change theirs while it is under way.
const NONCES: u32 = 3;
/// How long to wait before asking again for what another process has.
const LOCK_POLL: Duration = Duration::from_millis(50);
