//! What the server says unasked, and the streams that hear it.

use std::task::{Context, Poll};

use pintle_proto::Transmit;

use super::{Lanes, Remaining, now};
use crate::rules::event_id::EventId;
use crate::server::events::OutgoingMessage;
use crate::server::session::bounds::{Bounds, Replay};
use crate::server::session::replay_buffer::Source;

impl Lanes {
    pub(super) fn push_unasked(&mut self, transmit: Transmit, bounds: &Bounds) {
        self.unasked.push(transmit, &bounds.conversation);
        self.wakers.extend(self.listeners.take_newest_waker());
    }

    /// Opens a stream, which hears everything from now on; gives the name of its beginning, where
    /// clients know that.
    pub(in crate::server::session) fn listen(
        &mut self,
        bounds: &Replay,
    ) -> (Remaining, Option<EventId>) {
        let stream = self.trails.open(Source::Unasked, bounds);
        let (reader, _) = self.listeners.attach(stream);
        let beginning = self.primes.then(|| self.trails.beginning(stream));
        (Remaining::Unasked(stream, reader), beginning)
    }

    /// Closes a stream; the next newest hears what is left.
    pub(in crate::server::session) fn hang_up(&mut self, stream: u64, reader: u32) {
        if !self.listeners.detach(stream, reader) {
            return;
        }
        if self.resumes {
            self.trails.leave(stream, now());
        } else {
            self.trails.forget(stream);
        }
        self.wakers.extend(self.listeners.take_newest_waker());
    }

    /// Closes all streams, for good.
    pub(in crate::server::session) fn close_streams(&mut self) {
        self.is_mute = true;
        self.wake_all();
    }

    /// What comes next on a stream; none at its end.
    pub(in crate::server::session) fn poll_unasked(
        &mut self,
        stream: u64,
        reader: u32,
        cx: &Context<'_>,
        bounds: &Replay,
    ) -> Poll<Option<OutgoingMessage>> {
        if self.is_mute || !self.listeners.is_reader(stream, reader) {
            return Poll::Ready(None);
        }
        if self.listeners.is_newest(stream)
            && let Some(transmit) = self.unasked.pop()
        {
            let said = OutgoingMessage::from(transmit);
            return Poll::Ready(Some(if self.resumes {
                self.trails.say(stream, said, bounds)
            } else {
                said
            }));
        }
        self.listeners.wait(stream, cx.waker());
        Poll::Pending
    }
}
