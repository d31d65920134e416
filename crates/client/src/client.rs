//! The client: a handle for any number of callers and one server.

mod build;

use std::fmt;
use std::sync::Arc;

use pintle_model::Revision;
use pintle_proto::TransportError;

use crate::conversation::ServerInfo;
use crate::error::ConnectError;
use crate::into_connect::IntoConnect;
use crate::state::ClientState;

pub use build::ClientBuilder;

/// A client of one server. Cloning is cheap; when the last clone is dropped the conversation ends.
///
/// The next call after a lost conversation opens a new one. Calls that were in flight fail, except
/// that calls that change nothing are sent once more.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<ClientState>);

impl Client {
    /// Connects to a server with the default options and without handlers for its questions.
    ///
    /// The target is a [`Connect`](pintle_runtime::Connect), or a server in this process. With the feature
    /// `http-client` of the crate `pintle` it is also a URL: `Client::connect("https://…")`.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the attempt.
    pub async fn connect<Kind>(target: impl IntoConnect<Kind>) -> Result<Self, ConnectError> {
        Self::builder().connect(target).await
    }

    /// Returns the configuration of a client with the default options.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Returns the server's description of itself, as of the last connection.
    pub fn server(&self) -> Option<ServerInfo> {
        let state = self.0.lock();
        state.session.as_ref().map(|session| session.info.clone())
    }

    /// Returns the revision of the present conversation, or of the last one; none before the first.
    pub fn revision(&self) -> Option<Revision> {
        let state = self.0.lock();
        state.session.as_ref().map(|session| session.info.revision)
    }

    /// Returns true while the conversation is open. The next call opens a new conversation if it is
    /// not.
    pub fn is_connected(&self) -> bool {
        let session = self.0.current();
        session.is_some_and(|session| !session.is_over())
    }

    /// Waits until the present conversation has ended, and returns its error. Returns none if it
    /// ended without an error, or if there is no conversation.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn disconnected(&self) -> Option<TransportError> {
        let session = self.0.current()?;
        let mut end = session.end.clone();
        let ended = end.wait_for(Option::is_some).await.ok()?;
        ended.clone().and_then(Result::err)
    }

    /// Reports that the user is done at a URL, by the server's id of the visit. A call that waits
    /// for the visit continues. Use it where the user confirms the visit, because not every server
    /// reports it. Returns true if the visit was pending.
    pub fn complete_visit(&self, elicitation_id: &str) -> bool {
        let session = self.0.current();
        session.is_some_and(|session| session.dispatcher.end_visit(elicitation_id))
    }

    /// Ends the conversation for good: calls that wait fail, and so do later ones. The server
    /// receives the cancellations of open and dropped calls first. Waits until the transport is
    /// closed.
    ///
    /// # Cancellation
    ///
    /// The conversation is closed in the background even if the future is dropped.
    pub async fn close(&self) {
        let Some(session) = self.0.shut() else {
            return;
        };
        session.peer.close();
        let mut end = session.end.clone();
        let ended = end.wait_for(Option::is_some);
        // The transport limits its own time to close; this timeout is for a transport that does
        // not.
        let _ = tokio::time::timeout(self.0.options.close_timeout * 4, ended).await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server())
            .finish_non_exhaustive()
    }
}
