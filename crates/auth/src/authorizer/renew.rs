//! Getting another token: by the one that is there for it, or by signing in.
//!
//! # States of a renewal
//!
//! ```text
//! waiting for the lock of this process
//!    ├─ another request got a token, or failed ──► its outcome
//!    ▼
//! waiting for the lock among processes
//!    ├─ too long ────────────────────────────────► error
//!    ▼
//! reading the store
//!    ├─ another process has stored a token ──────► used as it is
//!    ├─ nothing is stored: signed out elsewhere ─► signing in
//!    ├─ too many sign-ins in a minute ───────────► error
//!    ▼
//! refreshing, only in the mode `Refreshed`
//!    ├─ a token ─────────────────────────────────► saving
//!    ├─ an error of the issuer or the network ───► error, and no sign-in
//!    ▼  refused, or no refresh token
//! signing in, as a new client if the issuer does not know this one
//!    ├─ error ───────────────────────────────────► error
//!    ▼
//! saving, and using the token also where that fails
//! ```
//!
//! A renewal is a task of its own, because a user may be signing in when the request that caused it
//! is dropped. The locks are acquired in this order everywhere: `renewal`, the key of the tokens, the
//! registrations. The lock of `held` is the innermost, and never held across an `await`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pintle_runtime::{Fetch, WebUrl};
use tokio::time::{Instant, sleep};

use crate::authorizer::challenge_summary::ChallengeSummary;
use crate::authorizer::save::{Saved, User};
use crate::authorizer::{Inner, LOCK_POLL, flow_context, kept};
use crate::credentials::KeyGuard;
use crate::error::AuthError;
use crate::flow::{IssuedTokens, TokenRefresh};
use crate::metadata::{DiscoveryStep, ResourceMetadata, ResourceProbe};

/// Most sign-ins of a user within [`SIGN_IN_INTERVAL`] for a server that refuses their tokens. The second is for a
/// server that has moved to another issuer.
const MAX_SIGN_INS: u32 = 2;
const SIGN_IN_INTERVAL: Duration = Duration::from_secs(60);

/// Counts sign-ins from the first of an interval.
#[derive(Debug, Default)]
pub(super) struct SignIns {
    since: Option<Instant>,
    count: u32,
}

impl SignIns {
    fn note(&mut self) {
        self.count = self.recent() + 1;
        if self.count == 1 {
            self.since = Some(Instant::now());
        }
    }

    /// How many there were in the interval.
    fn recent(&self) -> u32 {
        match self.since {
            Some(since) if since.elapsed() < SIGN_IN_INTERVAL => self.count,
            _ => 0,
        }
    }
}

/// Use of the current tokens in a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenewMode {
    /// The tokens may be refreshed.
    Refreshed,
    /// The tokens lack scopes. A sign-in requests their scopes again, with more.
    Held,
    /// The renewal does not use the tokens.
    Ignored,
}

/// Result of a refresh.
enum Refreshed {
    Fresh(Box<IssuedTokens>),
    /// The user must sign in.
    Not,
    /// The user must sign in with another client id, because the issuer does not know this one.
    UnknownClient,
}

impl Inner {
    /// Returns true if tokens can be renewed without a user.
    pub(super) fn renews_alone(&self, issued: &IssuedTokens) -> bool {
        issued.tokens.refresh.is_some() || !self.profile.grant_flow.needs_user()
    }

    /// Renews the token of `generation`, unless another task has renewed it meanwhile.
    ///
    /// A renewal continues after its request is cancelled, because a user may be signing in.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; none of them when only the save of the new token failed.
    pub(super) async fn renew(
        this: &Arc<Self>,
        challenge: ChallengeSummary,
        generation: u64,
        operation: Option<String>,
        old: RenewMode,
    ) -> Result<Saved, AuthError> {
        let inner = Arc::clone(this);
        let failures = inner.held().failures;
        let renewing = tokio::spawn(async move {
            let _alone = Arc::clone(&inner.renewal).lock_owned().await;
            // Compared under the lock, because a renewal that ended meanwhile has changed them.
            match inner.outcome_since(generation, failures, old) {
                Some(outcome) => outcome,
                None => inner.note_failure(inner.renew_alone(challenge, old).await),
            }
        });
        tracing::debug!(?operation, ?old, "a token is renewed");
        renewing.await.unwrap_or(Err(AuthError::Unexpected))
    }

    /// The outcome of a renewal that ended while this one waited: its token, or its failure. Where a
    /// user declined or nothing answered, each waiting request would only cause that once more.
    fn outcome_since(
        &self,
        generation: u64,
        failures: u64,
        old: RenewMode,
    ) -> Option<Result<Saved, AuthError>> {
        let held = self.held();
        if held.generation != generation {
            return Some(Ok(Saved::Yes));
        }
        let is_shared = held.failures != failures && old == RenewMode::Refreshed;
        let failure = held.failure.clone().filter(|_| is_shared)?;
        Some(Err(failure))
    }

    fn note_failure(&self, outcome: Result<Saved, AuthError>) -> Result<Saved, AuthError> {
        let mut held = self.held();
        held.failure = outcome.as_ref().err().cloned();
        held.failures += u64::from(held.failure.is_some());
        outcome
    }

    async fn renew_alone(
        self: &Arc<Self>,
        challenge: ChallengeSummary,
        old: RenewMode,
    ) -> Result<Saved, AuthError> {
        let _alone = self.lock(&self.key()).await?;
        // Read under the lock, because another process may have used up the refresh token meanwhile.
        let stored = self.load_text(self.key()).await?;
        let mut own = self
            .held()
            .issued
            .clone()
            .filter(|_| old != RenewMode::Ignored);
        let found = self.read_tokens(stored.as_ref());
        match found.filter(|_| old != RenewMode::Ignored) {
            _ if self.is_behind(stored.as_ref()) => {}
            // Another process was faster.
            Some(found) if !own.as_ref().is_some_and(|own| is_same(own, &found)) => {
                self.adopt(found, User::Unknown);
                return Ok(Saved::Yes);
            }
            Some(_) => {}
            // Another process has signed out.
            None => own = None,
        }
        if let Some(own) = own.as_ref().filter(|_| old == RenewMode::Refreshed) {
            self.check_sign_ins(own)?;
        }
        let mut stale = None;
        if let Some(own) = own.as_ref().filter(|_| old == RenewMode::Refreshed) {
            match self.refresh(own, &challenge).await? {
                Refreshed::Fresh(refreshed) => {
                    return self.keep(*refreshed, User::Same, stored).await;
                }
                Refreshed::UnknownClient => stale = Some(own.issuer.clone()),
                Refreshed::Not => {}
            }
        }
        let held = own.map(|own| (own.issuer.clone(), own.requested.clone()));
        let issued = self.sign_in(challenge, held, stale.as_deref()).await?;
        self.held().recent_sign_ins.note();
        self.keep(issued, User::Unknown, stored).await
    }

    /// Bounds the sign-ins within a minute: a server that refuses each token would open one page after
    /// another.
    fn check_sign_ins(&self, own: &IssuedTokens) -> Result<(), AuthError> {
        let has_room = self.held().recent_sign_ins.recent() < MAX_SIGN_INS;
        let needs_user = !self.renews_alone(own) && !own.tokens.is_stale(SystemTime::now());
        match !has_room && needs_user {
            true => Err(AuthError::NewTokenRejected(401)),
            false => Ok(()),
        }
    }

    /// The right to renew, among all processes that share the store.
    pub(super) async fn lock(self: &Arc<Self>, key: &str) -> Result<KeyGuard, AuthError> {
        let started = Instant::now();
        loop {
            let own = key.to_owned();
            let locked = self.blocking(move |inner| inner.store.try_lock(&own).map_err(kept));
            if let Some(guard) = locked.await? {
                return Ok(guard);
            }
            if started.elapsed() >= self.options.lock_timeout {
                return Err(AuthError::StorageFailed(
                    "another process does not let go of them".into(),
                ));
            }
            sleep(LOCK_POLL).await;
        }
    }

    /// Another token by the one that is there for it.
    async fn refresh(
        &self,
        own: &IssuedTokens,
        challenge: &ChallengeSummary,
    ) -> Result<Refreshed, AuthError> {
        if own.tokens.refresh.is_none() {
            return Ok(Refreshed::Not);
        }
        // The server may accept another issuer now. The old issuer then receives no request.
        let issuers = self.issuers(challenge).await;
        if issuers.is_some_and(|issuers| !issuers.contains(&own.issuer)) {
            return Ok(Refreshed::Not);
        }
        let url = WebUrl::parse(&own.token_endpoint);
        let Some(url) = url.ok().filter(|url| self.fetch_policy.check(url).is_ok()) else {
            return Ok(Refreshed::Not);
        };
        let Some(mut refresh) = TokenRefresh::of(own, None, self.fetch_policy.network(&url)) else {
            return Ok(Refreshed::Not);
        };
        let mut request = refresh.begin(&flow_context()?)?;
        loop {
            let answer = self.fetch.fetch(request).await;
            match refresh.take(answer, &flow_context()?) {
                Ok(Ok(issued)) => return Ok(Refreshed::Fresh(Box::new(issued))),
                Ok(Err(again)) => request = again,
                Err(error) if error.is_of_unknown_client() => return Ok(Refreshed::UnknownClient),
                Err(error) if error.is_retryable() => return Err(error),
                Err(AuthError::Refused { refusal, .. }) => {
                    tracing::debug!(%refusal, "a token was not refreshed");
                    return Ok(Refreshed::Not);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the issuers in the resource metadata, if the server has it.
    async fn issuers(&self, challenge: &ChallengeSummary) -> Option<Vec<String>> {
        let named = challenge.metadata.as_deref();
        let mut probe = ResourceProbe::of_resource(&self.server, named, &self.fetch_policy);
        let mut step: DiscoveryStep<ResourceMetadata> = probe.begin();
        loop {
            step = match step {
                DiscoveryStep::Fetch(request) => probe.take(self.fetch.fetch(request).await),
                DiscoveryStep::Found(found) => return Some(found.document.authorization_servers),
                DiscoveryStep::Nowhere { .. }
                | DiscoveryStep::Refused(..)
                | DiscoveryStep::Unavailable(..) => {
                    return None;
                }
            };
        }
    }
}

fn is_same(one: &IssuedTokens, other: &IssuedTokens) -> bool {
    one.tokens.access.is(other.tokens.access.reveal())
}
