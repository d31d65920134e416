//! Sessions that the replicas of a server share.

use pintle_store::StoreError;

use crate::fleet::{Fleet, JoinError};
use crate::future::BoxFuture;
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

    /// Records that a session has ended. Returns false if it was recorded before. One operation of the store,
    /// and two more if the session has settings.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The record may exist.
    fn end(&self, number: u128) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Returns the state of a session: the default without a record. One operation of the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    fn state(&self, number: u128) -> BoxFuture<'_, Result<SessionState, StoreError>>;

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
        number: u128,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>>;

    /// Returns this replica, so that messages reach a session at other replicas. The first call joins the
    /// fleet. A transport calls it when it has a session or a listener; from then on clients of this process
    /// receive the changes that other replicas announce. `None`, the default, if no other process can share the store.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if this replica cannot join; the next call tries again.
    fn fleet(&self) -> BoxFuture<'_, Result<Option<Fleet>, JoinError>> {
        Box::pin(async { Ok(None) })
    }
}
