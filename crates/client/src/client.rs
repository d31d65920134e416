//! The client: one handle, any number of callers, one server.

mod build;

use std::fmt;
use std::sync::Arc;

use pintle_proto::TransportError;

use crate::conversation::ServerInfo;
use crate::error::ConnectError;
use crate::into_connect::IntoConnect;
use crate::state::ClientState;

pub use build::ClientBuilder;

/// A client of one server. Cloning is cheap; when the last clone is dropped the conversation ends.
///
/// A conversation that is lost is opened again by the next call. Calls that were in flight have
/// failed; those that change nothing are made once more by themselves.
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

    /// Describes a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// What the server says about itself, as of the last time it was connected to.
    pub fn server(&self) -> Option<ServerInfo> {
        let state = self.0.lock();
        state.session.as_ref().map(|session| session.info.clone())
    }

    /// Whether the conversation goes on. One that does not is opened again by the next call.
    pub fn is_connected(&self) -> bool {
        let session = self.0.current();
        session.is_some_and(|session| !session.is_over())
    }

    /// Waits until the conversation of this moment has ended, and says why; none if it ended as it
    /// should, or if there is none.
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

    /// Reports that the user is done at a URL, by the server's id of the visit. The call that waits
    /// for the visit continues. Use it where the user confirms the visit, because not every server
    /// reports it. Returns true if a call waited.
    pub fn complete_visit(&self, elicitation_id: &str) -> bool {
        let session = self.0.current();
        session.is_some_and(|session| session.hub.end_visit(elicitation_id))
    }

    /// Ends the conversation for good: calls that wait fail, and so do later ones. The server
    /// receives the cancellations of open and dropped calls first. Waits until the transport is
    /// closed.
    ///
    /// # Cancellation
    ///
    /// The end goes on without being waited for.
    pub async fn close(&self) {
        let Some(session) = self.0.shut() else {
            return;
        };
        session.peer.close();
        let mut end = session.end.clone();
        let farewell = end.wait_for(Option::is_some);
        // The transport bounds its own farewell; this is for one that does not.
        let _ = tokio::time::timeout(self.0.options.close_timeout * 4, farewell).await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server())
            .finish_non_exhaustive()
    }
}
