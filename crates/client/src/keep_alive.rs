//! Pings the server from time to time, if the options ask for it.
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

/// Pings the server until the conversation ends, if an interval is set. A missing answer ends the
/// conversation: waiting calls fail, and the next call opens another one.
pub(crate) fn keep_alive(session: &Conversation, options: &ClientOptions) {
    let Some(every) = options.ping_interval else {
        return;
    };
    let method = match session.info.revision.has(Feature::Ping) {
        true => Ping::NAME,
        // Every server of the later revisions answers this method.
        false => Discover::NAME,
    };
    let pinger = Pinger {
        peer: session.peer.clone(),
        fault: Arc::clone(&session.fault),
        method,
        timeout: options.ping_timeout,
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
    timeout: Duration,
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

    /// Returns true if the server answers at all; an unknown method is an answer, too.
    async fn is_answered(&self) -> bool {
        let mut call = NewCall::new(self.method, Bytes::from_static(b"{}"));
        call.timeouts = Some(Timeouts::new(self.timeout, self.timeout));
        match self.peer.call(call) {
            Ok(call) => match call.outcome().await {
                Err(PeerCallError::TimedOut(_)) => false,
                // Only the transport decides whether the conversation is lost.
                Err(PeerCallError::Lost(error)) => error.kind() != TransportErrorKind::TimedOut,
                _ => true,
            },
            Err(SendError::Closed) => true,
            // With too many open calls a ping is not needed.
            Err(_) => true,
        }
    }

    fn give_up(&self) {
        tracing::warn!(method = self.method, timeout = ?self.timeout, "a ping was not answered");
        let error = TransportError::new(TransportErrorKind::TimedOut)
            .with_detail("a ping was not answered");
        // The conversation ends with the first recorded fault.
        let _ = self.fault.set(error.clone());
        let now = tokio::time::Instant::now().into_std();
        self.peer
            .with_engine_mut(|engine| engine.fail_transport(now, &error));
        self.peer.close();
    }
}
