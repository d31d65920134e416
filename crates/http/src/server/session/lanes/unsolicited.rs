//! The messages of the server that belong to no request, and the streams that carry them.

use std::task::{Context, Poll};

use pintle_proto::Transmit;

use super::{Lanes, Remaining, now};
use crate::rules::event_id::EventId;
use crate::server::events::OutgoingMessage;
use crate::server::session::bounds::{Bounds, Replay};
use crate::server::session::replay_buffer::Source;

impl Lanes {
    pub(super) fn push_unsolicited(&mut self, transmit: Transmit, bounds: &Bounds) {
        self.unsolicited.push(transmit, &bounds.conversation_limits);
        self.wakers.extend(self.listeners.take_newest_waker());
    }

    /// Opens a stream, which receives all messages from now on. Returns the event id of its beginning
    /// if the revision has a priming event.
    pub(in crate::server::session) fn listen(
        &mut self,
        bounds: &Bounds,
    ) -> (Remaining, Option<EventId>) {
        let stream = self.replay.open(Source::Unsolicited, &bounds.replay);
        self.begin_log(stream, None, bounds);
        let released = self.replay.released(stream);
        let (reader, _) = self.listeners.attach(stream, released);
        let beginning = match self.listeners.held(stream) {
            Some(held) => {
                let primer = self
                    .primes
                    .then(|| self.replay.primer(stream, &bounds.replay));
                primer.into_iter().for_each(|primer| held.push(primer));
                None
            }
            None => self.primes.then(|| self.replay.beginning(stream)),
        };
        (Remaining::Unsolicited(stream, reader), beginning)
    }

    /// Closes a stream; the next newest receives the remaining messages.
    pub(in crate::server::session) fn hang_up(&mut self, stream: u64, reader: u32) {
        if !self.listeners.detach(stream, reader) {
            return;
        }
        if self.resumes {
            self.replay.leave(stream, now());
        } else {
            self.replay.forget(stream);
        }
        self.wakers.extend(self.listeners.take_newest_waker());
    }

    /// Closes all streams; none opens again.
    pub(in crate::server::session) fn close_streams(&mut self) {
        self.is_mute = true;
        self.wake_all();
    }

    /// Returns the next message on a stream, or `None` at its end.
    pub(in crate::server::session) fn poll_unsolicited(
        &mut self,
        stream: u64,
        reader: u32,
        cx: &Context<'_>,
        bounds: &Replay,
    ) -> Poll<Option<OutgoingMessage>> {
        if self.is_mute || !self.listeners.is_reader(stream, reader) {
            return Poll::Ready(None);
        }
        if !self.listeners.is_newest(stream) {
            return self.poll_logged(stream, cx);
        }
        self.log_unsolicited(stream, bounds);
        if self.listeners.held(stream).is_none()
            && let Some(transmit) = self.unsolicited.pop()
        {
            let message = OutgoingMessage::from(transmit);
            return Poll::Ready(Some(if self.resumes {
                self.replay.record(stream, message, bounds)
            } else {
                message
            }));
        }
        self.poll_logged(stream, cx)
    }
}
