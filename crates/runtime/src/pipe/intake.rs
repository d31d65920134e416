//! Lines into the engine, and its events into handlers.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant as StdInstant;

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio::time::Instant;

use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_proto::frame::Line;
use pintle_proto::{Connection, Event, IncomingRequest, Input, Ticket};

use super::PipeOptions;
use super::handlers::Handlers;
use super::held::Held;
use super::outgoing::Outgoing;
use crate::engine_handle::SharedEngine;
use crate::service::Service;

/// The engine of a pipe, with the lines that wait for room in it and the handlers of its requests.
///
/// A line costs one lock of the engine. Messages of earlier lines leave under it, and the last messages
/// cost one more.
pub(super) struct Intake<S, M, F> {
    service: Arc<S>,
    conversation: Arc<SharedEngine>,
    handlers: Handlers<M, F>,
    held: Held,
    is_abandoned: bool,
    max_line_bytes: usize,
    max_values: usize,
    max_held_bytes: usize,
    max_unsent_bytes: usize,
}

/// The state of a line that was passed to the engine.
enum Offer {
    Accepted,
    /// The line waits, because an earlier event comes first.
    EventFirst,
    /// The line waits, because the engine has no room.
    NoRoom,
}

/// The state of the engine after its messages left.
#[derive(Debug, Default)]
pub(super) struct AfterOutput {
    /// When the engine requires [`Input::Timeout`].
    pub(super) deadline: Option<StdInstant>,
    /// Whether messages stay in the engine.
    pub(super) has_more: bool,
    /// Whether a request is not answered.
    pub(super) is_answering: bool,
}

impl<S, M, F> Intake<S, M, F>
where
    S: Service,
    M: Fn(Ticket, Box<IncomingRequest>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(
        service: Arc<S>,
        conversation: Arc<SharedEngine>,
        handlers: Handlers<M, F>,
        options: &PipeOptions,
    ) -> Self {
        Self {
            service,
            conversation,
            handlers,
            held: Held::default(),
            is_abandoned: false,
            max_line_bytes: options.max_line_bytes,
            max_values: options.limits.max_values_per_message,
            max_held_bytes: options.max_held_bytes,
            max_unsent_bytes: options.max_unsent_bytes,
        }
    }

    /// Handles a line. It waits while the engine has no room, or other lines wait before it.
    /// Messages of earlier lines move into `outgoing`.
    pub(super) fn take<W>(&mut self, now: StdInstant, line: Line<'_>, outgoing: &mut Outgoing<W>)
    where
        W: AsyncWrite + Unpin,
    {
        match line {
            Line::Text(text) => {
                if !(self.held.is_empty() && self.offer(now, text, outgoing)) {
                    self.hold(now, text);
                }
            }
            Line::TooLong => self.refuse_long_line(now),
        }
    }

    /// Handles the lines that wait, while there is room. Returns true if there were any.
    pub(super) fn take_held<W>(&mut self, outgoing: &mut Outgoing<W>) -> bool
    where
        W: AsyncWrite + Unpin,
    {
        let before = self.held.bytes();
        while let Some(line) = self.held.pop() {
            if !self.offer(Instant::now().into_std(), &line, outgoing) {
                self.held.push_front(line);
                break;
            }
        }
        self.held.bytes() < before
    }

    /// Handles all events, and moves messages into `outgoing` while it has room. Output that follows
    /// wakes the driver.
    pub(super) fn collect_output<W: AsyncWrite + Unpin>(
        &mut self,
        driver: &Waker,
        outgoing: &mut Outgoing<W>,
    ) -> AfterOutput {
        let most = self.max_unsent_bytes;
        loop {
            let step =
                self.conversation
                    .drive_and_wait(driver, |engine| match engine.poll_event() {
                        Some(event) => ControlFlow::Continue(event),
                        None => {
                            drain(engine, outgoing, most);
                            ControlFlow::Break(AfterOutput::of(engine))
                        }
                    });
            match step {
                ControlFlow::Break(after) => return after,
                ControlFlow::Continue(event) => self.handle(event),
            }
        }
    }

    /// Output of the engine no longer wakes the driver, because it waits for its writer.
    pub(super) fn wait_for_writer(&self) {
        self.conversation.drive(|_| ());
    }

    /// Whether another read is allowed: lines are held up to a limit.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.held.bytes() < self.max_held_bytes
            || self.conversation.drive(|engine| engine.can_read())
    }

    /// Whether lines wait for room in the engine.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the peer did not open the conversation in time.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    /// Accepts no more input; requests that were read are answered.
    pub(super) fn close_input(&self) {
        self.conversation.drive(|engine| {
            engine.end_listens();
            engine.close_input();
        });
    }

    /// Passes the time to the engine.
    pub(super) fn pass_time(&self) {
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Timeout));
    }

    /// Passes a line to the engine. Returns false if it has no room.
    fn offer<W>(&mut self, now: StdInstant, line: &[u8], outgoing: &mut Outgoing<W>) -> bool
    where
        W: AsyncWrite + Unpin,
    {
        let most = self.max_unsent_bytes;
        loop {
            let (offer, event) = self.conversation.drive(|engine| {
                // One message at a time needs less memory than all of them together.
                drain(engine, outgoing, most);
                offer_to(engine, now, line)
            });
            if let Some(event) = event {
                self.handle(event);
            }
            match offer {
                Offer::Accepted => return true,
                Offer::EventFirst => {}
                Offer::NoRoom => return false,
            }
        }
    }

    /// Holds a line, unless it can make room: an answer to our question, or a cancellation.
    fn hold(&mut self, now: StdInstant, line: &[u8]) {
        let message = Message::parse_within(line, self.max_values);
        let is_accepted = self.conversation.drive(|engine| {
            let is_urgent = match &message {
                Ok(message) => engine.is_urgent(message),
                Err(malformed) => engine.ends_call(malformed),
            };
            if is_urgent {
                engine.handle_text(now, line);
            }
            is_urgent
        });
        if is_accepted {
            self.handle_events();
        } else {
            self.held.push(Bytes::copy_from_slice(line));
        }
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.conversation.drive(Connection::poll_event) {
            self.handle(event);
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Request(ticket, incoming) => self.handlers.start(ticket, incoming),
            Event::Cancelled(key) => self.handlers.stop(key),
            Event::Notification(notified) => self.service.notified(*notified),
            Event::Abandoned => self.is_abandoned = true,
            _ => {}
        }
    }

    fn refuse_long_line(&mut self, now: StdInstant) {
        let error = pintle_model::Error::invalid_request(format!(
            "the message is longer than {} bytes",
            self.max_line_bytes
        ));
        let malformed = InvalidMessage::new(None, error);
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Malformed(malformed)));
    }
}

/// Ends the conversation before its handlers, which read there that their client has left.
impl<S, M, F> Drop for Intake<S, M, F> {
    fn drop(&mut self) {
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Closed));
    }
}

fn offer_to(engine: &mut Connection, now: StdInstant, line: &[u8]) -> (Offer, Option<Event>) {
    if let Some(event) = engine.poll_event() {
        return (Offer::EventFirst, Some(event));
    }
    if !engine.can_read() {
        return (Offer::NoRoom, None);
    }
    engine.handle_text(now, line);
    (Offer::Accepted, engine.poll_event())
}

/// Moves messages of the engine into `outgoing`, while it has less than `most` bytes.
fn drain<W: AsyncWrite + Unpin>(engine: &mut Connection, outgoing: &mut Outgoing<W>, most: usize) {
    while outgoing.len() < most {
        if let Some(lines) = engine.poll_framed(most - outgoing.len()) {
            outgoing.push_lines(&lines);
        } else if let Some(transmit) = engine.poll_transmit() {
            outgoing.push(transmit.frame);
        } else {
            break;
        }
    }
}

impl AfterOutput {
    fn of(engine: &Connection) -> Self {
        Self {
            deadline: engine.next_deadline(),
            has_more: engine.has_output(),
            is_answering: engine.in_flight() > 0,
        }
    }
}
