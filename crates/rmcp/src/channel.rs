//! The transport of one peer: two channels to the request that it belongs to.

use std::fmt;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};

/// How many messages wait in each direction.
const CAPACITY: usize = 16;

/// The end of the peer.
pub(crate) struct Channel {
    to_request: mpsc::Sender<Outgoing>,
    from_request: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
}

/// The end of the request.
pub(crate) struct Link {
    pub(crate) outgoing: mpsc::Receiver<Outgoing>,
    pub(crate) answers: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
}

/// A message of the handler on its way to the client.
pub(crate) struct Outgoing {
    pub(crate) message: TxJsonRpcMessage<RoleServer>,
    /// The handler waits until the message was sent.
    pub(crate) sent: oneshot::Sender<()>,
}

/// The request of the peer has ended.
#[derive(Debug)]
pub(crate) struct EndedError;

impl fmt::Display for EndedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request of this peer has ended")
    }
}

impl std::error::Error for EndedError {}

pub(crate) fn channel() -> (Channel, Link) {
    let (to_request, outgoing) = mpsc::channel(CAPACITY);
    let (answers, from_request) = mpsc::channel(CAPACITY);
    let channel = Channel {
        to_request,
        from_request,
    };
    (channel, Link { outgoing, answers })
}

impl Transport<RoleServer> for Channel {
    type Error = EndedError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), EndedError>> + Send + 'static {
        let to_request = self.to_request.clone();
        async move {
            let (sent, is_sent) = oneshot::channel();
            let outgoing = Outgoing { message, sent };
            to_request.send(outgoing).await.map_err(|_| EndedError)?;
            is_sent.await.map_err(|_| EndedError)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.from_request.recv().await
    }

    async fn close(&mut self) -> Result<(), EndedError> {
        Ok(())
    }
}
