//! Sessions that the replicas of a server share.

use std::time::Duration;

use pintle_store::StoreError;

#[cfg(feature = "replicas")]
use crate::fleet::{Fleet, JoinError};
use crate::future::BoxFuture;
use crate::session_key::SessionKey;
use crate::session_state::{SessionChange, SessionState};

/// Seals the ids of sessions, and records their settings and ends for all replicas of a server: see
/// [`Service::shared_sessions`](crate::Service::shared_sessions).
///
/// A replica that opens an id has all that it needs to serve the session. An id is valid for one owner: the
/// [id](crate::Principal::id) of the principal that opened the session, or none for an anonymous client.
pub trait SharedSessions: Send + Sync {
    /// Seals the content of the id of a session. The text is valid in an HTTP header, and has about 4/3 of
    /// the bytes of the content, and 60 more. `None` if the operating system did not return random bytes.
    fn seal(&self, owner: Option<&str>, content: &[u8]) -> Option<String>;

    /// Returns the content of an id, or `None` if this server did not seal the id for this owner. An unknown
    /// key costs one reading of the store.
    fn open<'a>(&'a self, owner: Option<&'a str>, id: &'a str) -> BoxFuture<'a, Option<Vec<u8>>>;

    /// Returns the key of a new session, whose parts are idle for at most `idle`. No operation of the store.
    ///
    /// The session exists until [`SessionKey::until`] without a record, and then as long as a record shows it. By default
    /// it needs no record.
    fn key(&self, number: u128, _idle: Duration) -> SessionKey {
        SessionKey::unlimited(number)
    }

    /// Records that a session has ended. Returns false if it was recorded before. One operation of the store,
    /// and two more if the session has a record.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The record may exist.
    fn end(&self, key: SessionKey) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Returns the state of a session. Without a record it is the default, or the end if the session needs a record.
    /// A record that would expire soon is renewed. One operation of the store, and one more for each renewal.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    fn state(&self, key: SessionKey) -> BoxFuture<'_, Result<SessionState, StoreError>>;

    /// Records a change of the settings of a session, and returns the state after it. If
    /// [`SessionState::apply`] rejects the change, the state has no trace of it. Two operations of the store,
    /// and two more for each change by another replica at the same time.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails, or if other replicas change the session without a pause. The change
    /// may be recorded.
    fn change<'a>(
        &'a self,
        key: SessionKey,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>>;

    /// Records settings that a part of a session knows, and that the store has lost: see [`SessionState::restore`].
    /// Returns the state after it. Two operations of the store. By default nothing is recorded.
    ///
    /// # Errors
    ///
    /// As [`Self::change`].
    fn restore<'a>(
        &'a self,
        key: SessionKey,
        _known: &'a SessionState,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        self.state(key)
    }

    /// Returns this replica, so that messages reach a session at other replicas. The first call joins the
    /// fleet. A transport calls it when it has a session or a listener; from then on clients of this process
    /// receive the changes that other replicas announce. `None`, the default, if no other process can share the store.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if this replica cannot join; the next call tries again.
    #[cfg(feature = "replicas")]
    fn fleet(&self) -> BoxFuture<'_, Result<Option<Fleet>, JoinError>> {
        Box::pin(async { Ok(None) })
    }

    /// Counts uses of a name in the current interval of the store's clock, for all replicas. Intervals of one
    /// length begin at the same times everywhere. One operation of the store; the first call also joins the
    /// fleet. A reader of the store sees a keyed digest of the name.
    ///
    /// Returns `None`, as by default, if no other process can share the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The uses may be counted.
    fn count<'a>(
        &'a self,
        _name: &'a str,
        _interval: Duration,
        _uses: u64,
    ) -> BoxFuture<'a, Result<Option<SharedCount>, StoreError>> {
        Box::pin(async { Ok(None) })
    }
}

/// The uses of a name by all replicas, in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedCount {
    /// The number of the interval. Each interval has another one.
    pub interval: u64,
    /// The time until the interval ends.
    pub rest: Duration,
    /// The uses in this interval, with those that were just counted.
    pub sum: u64,
    /// The number of replicas that this one knows, with itself.
    pub replicas: usize,
}
