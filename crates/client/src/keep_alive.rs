//! Asks from time to time whether the server is still there, for those who want that.
//!
//! Spec: [2025-11-25, Ping][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use pintle_model::Feature;
use pintle_model::method::{Discover, Method, Ping};
use pintle_proto::{
    NewCall, PeerCallError, SendError, Timeouts, TransportError, TransportErrorKind,
};
use pintle_runtime::Peer;
use tokio::time::sleep;

use crate::conversation::Conversation;
use crate::options::ClientOptions;

/// Keeps asking, if that is wanted, until the conversation ends. A server that does not answer ends
/// it: calls that wait are lost, and the next one opens another conversation.
pub(crate) fn keep_alive(session: &Conversation, options: &ClientOptions) {
    let Some(every) = options.ping_interval else {
        return;
    };
    let method = match session.info.revision.has(Feature::Ping) {
        true => Ping::NAME,
        // Which every server of the later revisions answers.
        false => Discover::NAME,
    };
    let pinger = Pinger {
        peer: session.peer.clone(),
        fault: Arc::clone(&session.fault),
        method,
        patience: options.ping_timeout,
    };
    let mut end = session.end.clone();
    tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = end.wait_for(Option::is_some) => {}
            () = pinger.run(every) => {}
        }
    });
}

struct Pinger {
    peer: Peer,
    fault: Arc<OnceLock<TransportError>>,
    method: &'static str,
    patience: Duration,
}

impl Pinger {
    async fn run(self, every: Duration) {
        loop {
            sleep(every).await;
            if !self.is_answered().await {
                return self.give_up();
            }
        }
    }

    /// Whether the server says anything at all: that it does not know the question is an answer.
    async fn is_answered(&self) -> bool {
        let mut call = NewCall::new(self.method, Bytes::from_static(b"{}"));
        call.timeouts = Some(Timeouts::new(self.patience, self.patience));
        match self.peer.call(call) {
            Ok(call) => match call.outcome().await {
                Err(PeerCallError::TimedOut(_)) => false,
                // Whether all is lost is for the transport to say.
                Err(PeerCallError::Lost(error)) => error.kind() != TransportErrorKind::TimedOut,
                _ => true,
            },
            Err(SendError::Closed) => true,
            // There is so much going on that nobody needs to ask.
            Err(_) => true,
        }
    }

    fn give_up(&self) {
        tracing::warn!(method = self.method, patience = ?self.patience, "a ping was not answered");
        let error = TransportError::new(TransportErrorKind::TimedOut)
            .with_detail("a ping was not answered");
        // What is lost first is what the conversation ends with.
        let _ = self.fault.set(error.clone());
        let now = tokio::time::Instant::now().into_std();
        self.peer
            .with_engine_mut(|engine| engine.fail_transport(now, &error));
        self.peer.close();
    }
}
