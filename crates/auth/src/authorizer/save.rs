//! Saving tokens: they are used also while the store fails, because the issuer may have revoked
//! its predecessor.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::authorizer::Inner;
use crate::credentials::TokensRecord;
use crate::error::AuthError;
use crate::flow::IssuedTokens;
use crate::secret::Secret;

/// Pause between two attempts to save tokens whose save failed.
const SAVE_INTERVAL: Duration = Duration::from_secs(30);

/// User of a new token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    /// The user of the previous token.
    Same,
    /// The user who signed in now, perhaps another one.
    Unknown,
}

/// Whether the store has the new tokens.
#[derive(Debug)]
pub(super) enum Saved {
    Yes,
    /// The tokens are used and not stored, for this reason.
    No(Box<str>),
}

/// The state of the store while it does not have the tokens in use.
#[derive(Debug)]
pub(super) struct Unsaved {
    /// Text in the store when the tokens were issued. Its refresh token may be used up.
    before: Option<Secret>,
    /// When a save was last tried.
    tried: Instant,
}

impl Inner {
    /// Uses new tokens and replaces `before` with them in the store. If the save fails, the used-up
    /// refresh token is deleted, because an issuer that receives it again may revoke all tokens.
    pub(super) async fn keep(
        self: &Arc<Self>,
        issued: IssuedTokens,
        user: User,
        before: Option<Secret>,
    ) -> Result<Saved, AuthError> {
        self.blocking(move |inner| Ok(inner.keep_now(issued, user, before)))
            .await
    }

    fn keep_now(&self, issued: IssuedTokens, user: User, before: Option<Secret>) -> Saved {
        let text = TokensRecord::write(&issued);
        let Err(error) = self.store.save(&self.key(), Some(&text)) else {
            self.adopt(issued, user);
            return Saved::Yes;
        };
        tracing::warn!(%error, server = %self.server, "a token is used and could not be saved");
        if self.is_used_up(before.as_ref(), &issued)
            && let Err(error) = self.store.save(&self.key(), None)
        {
            tracing::warn!(%error, "a used-up refresh token could not be removed");
        }
        self.adopt(issued, user);
        let tried = Instant::now();
        self.held().unsaved = Some(Unsaved { before, tried });
        Saved::No(error.to_string().into())
    }

    /// Whether stored tokens have another refresh token than the new ones.
    fn is_used_up(&self, before: Option<&Secret>, issued: &IssuedTokens) -> bool {
        let token = |issued: &IssuedTokens| {
            issued
                .tokens
                .refresh
                .as_ref()
                .map(|own| own.reveal().clone())
        };
        let before = self.read_tokens(before);
        before.is_some_and(|before| token(&before) != token(issued))
    }

    /// Uses these tokens from now on.
    pub(super) fn adopt(&self, issued: IssuedTokens, user: User) {
        let mut held = self.held();
        held.sign_ins += u64::from(user == User::Unknown);
        held.issued = Some(Arc::new(issued));
        held.is_loaded = true;
        held.unsaved = None;
        held.generation += 1;
    }

    /// Whether the store lacks the tokens in use because their save failed, and no other process has
    /// written since.
    pub(super) fn is_behind(&self, stored: Option<&Secret>) -> bool {
        let held = self.held();
        let Some(unsaved) = &held.unsaved else {
            return false;
        };
        let is_before = |text: &Secret| {
            let before = unsaved.before.as_ref();
            before.is_some_and(|before| before.is(text.reveal()))
        };
        stored.is_none_or(is_before)
    }

    /// Saves the tokens whose save failed, unless that was tried a moment ago or a renewal is under
    /// way.
    pub(super) async fn save_again(self: &Arc<Self>) {
        if !self.is_save_due() {
            return;
        }
        let Ok(alone) = Arc::clone(&self.renewal).try_lock_owned() else {
            return;
        };
        let saving = self.blocking(move |inner| {
            inner.save_again_now();
            drop(alone);
            Ok(())
        });
        if let Err(error) = saving.await {
            tracing::debug!(%error, "a token could still not be saved");
        }
    }

    fn save_again_now(&self) {
        let Ok(Some(_among_processes)) = self.store.try_lock(&self.key()) else {
            return;
        };
        let Ok(stored) = self.store.load(&self.key()) else {
            return;
        };
        let issued = self.held().issued.clone();
        if let Some(issued) = issued.filter(|_| self.is_behind(stored.as_ref())) {
            let text = TokensRecord::write(&issued);
            if let Err(error) = self.store.save(&self.key(), Some(&text)) {
                tracing::debug!(%error, "a token could still not be saved");
                return;
            }
        }
        self.held().unsaved = None;
    }

    /// Whether a save is due now; the next one is due after the pause.
    fn is_save_due(&self) -> bool {
        let (now, mut held) = (Instant::now(), self.held());
        let due = |unsaved: &&mut Unsaved| now.duration_since(unsaved.tried) >= SAVE_INTERVAL;
        let Some(unsaved) = held.unsaved.as_mut().filter(due) else {
            return false;
        };
        unsaved.tried = now;
        true
    }
}
