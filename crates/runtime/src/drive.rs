//! Driving a client's conversation: its transport, its deadlines, its events.

use std::future::poll_fn;
use std::pin::pin;

use pintle_proto::{Event, Input, TransportError, TransportErrorKind};
use tokio::time::{Instant, sleep_until};

use crate::first::{First, first};
use crate::peer::{Peer, Woken};
use crate::transport::Transport;

/// Drives a conversation to its end: moves messages, passes deadlines to the engine, and hands over
/// messages that the server sends unasked. All of it happens in the task that polls this future.
///
/// `on_event` must not block: it starts what takes longer.
///
/// # Errors
///
/// Whatever ended the conversation before the client did.
///
/// # Cancellation
///
/// Dropping the future ends the conversation: calls that wait have failed.
pub async fn drive<T: Transport>(
    peer: Peer,
    transport: T,
    mut on_event: impl FnMut(Event) + Send,
) -> Result<(), TransportError> {
    let guard = Ending(peer.clone());
    peer.begin_driving();
    let mut run = pin!(transport.run(peer.wire()));
    let end = loop {
        let deadline = peer.arm();
        let woken = poll_fn(|task| peer.poll_woken(task));
        // Events of received messages are handled before more messages are read.
        match first(woken, first(until(deadline), run.as_mut())).await {
            First::One(Woken::Event(event)) => on_event(event),
            First::One(Woken::Rearm) => {}
            First::Other(First::One(())) => pass_time(&peer),
            First::Other(First::Other(end)) => break end,
        }
    };
    let lost = match &end {
        Ok(()) => TransportError::new(TransportErrorKind::Disconnected),
        // Only the call that the server refused was certainly not carried out, and that call has
        // failed already. The others may have been carried out.
        Err(error) if error.kind() == TransportErrorKind::SessionLost => {
            TransportError::new(TransportErrorKind::Disconnected)
                .with_detail("its session was lost")
        }
        Err(error) => error.clone(),
    };
    peer.lose(&lost);
    while let Some(event) = peer.look_mut(|engine| engine.poll_event()) {
        on_event(event);
    }
    drop(guard);
    end
}

/// Fails all calls that still wait, on every exit of the driver.
struct Ending(Peer);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0
            .lose(&TransportError::new(TransportErrorKind::Disconnected));
        self.0.end_driving();
    }
}

fn pass_time(peer: &Peer) {
    let now = Instant::now().into_std();
    peer.with_engine_mut(|engine| drop(engine.handle_input(now, Input::Timeout)));
}

async fn until(deadline: Option<std::time::Instant>) {
    match deadline {
        Some(deadline) => sleep_until(Instant::from_std(deadline)).await,
        None => std::future::pending().await,
    }
}
