//! Messages on their way out, bounded: a peer that does not read cannot make us grow.

mod queued;

use crate::frame::Framing;
use crate::frame_blocks::FrameBlocks;
use crate::framed::FramedMessages;
use crate::inline_queue::InlineQueue;
use crate::io::{DropPolicy, Lane, Transmit, TransmitKind};
use crate::limits::Limits;
use queued::{Queued, Run, Tally};

/// A queue of outgoing messages.
///
/// Answers and calls are never dropped: their number is bounded by the requests in flight. Notices
/// are: the same list change is queued once. Beyond the limit progress keeps the latest of a
/// request, and logs lose the oldest.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: InlineQueue<Queued>,
    tally: Tally,
    dropped: u64,
    // None where messages leave one by one.
    framing: Option<Framing>,
    // None before the first small notice that leaves alone. Boxed, because most queues have none.
    blocks: Option<Box<FrameBlocks>>,
}

impl Outbox {
    /// A queue for a transport with this framing.
    #[inline]
    pub fn framed(framing: Framing) -> Self {
        Self {
            framing: Some(framing),
            ..Self::default()
        }
    }

    /// Takes the oldest message.
    #[inline]
    pub fn pop(&mut self) -> Option<Transmit> {
        // Drivers poll an empty queue after each message.
        if self.queue.is_empty() {
            return None;
        }
        self.pop_first()
    }

    fn pop_first(&mut self) -> Option<Transmit> {
        if let Some(Queued::Run(run)) = self.queue.first_mut() {
            let transmit = run.pop(self.blocks.get_or_insert_default());
            self.tally.remove(transmit.kind, transmit.frame.len());
            self.drop_empty_run();
            return Some(transmit);
        }
        match self.queue.pop_front()? {
            Queued::Message(transmit) => {
                self.tally.remove(transmit.kind, transmit.frame.len());
                Some(transmit)
            }
            Queued::Run(_) => None,
        }
    }

    /// Returns true if the oldest message is a notice of at most `max_bytes`.
    #[inline]
    pub fn has_notice(&self, max_bytes: usize) -> bool {
        self.tally.notices > 0 && self.begins_with_notice(max_bytes)
    }

    fn begins_with_notice(&self, max_bytes: usize) -> bool {
        self.queue.get(0).is_some_and(|first| {
            matches!(first.kind(), TransmitKind::Notice(_)) && first.first_len() <= max_bytes
        })
    }

    /// Removes the notices at the head of the queue, of at most `max_bytes` in all, and passes the parts of each
    /// to `each`.
    pub fn drain_notices(&mut self, mut max_bytes: usize, mut each: impl FnMut(&[&[u8]])) {
        while self.has_notice(max_bytes) {
            let before = self.tally.bytes;
            if let Some(Queued::Run(run)) = self.queue.first_mut() {
                let removed = run.messages.drain(max_bytes, |message| each(&[message]));
                self.tally.remove_notices(removed);
                self.drop_empty_run();
            } else if let Some(notice) = self.pop_first() {
                each(&notice.frame.parts());
            }
            max_bytes -= before - self.tally.bytes;
        }
    }

    /// Takes the oldest messages in their frames, if they share a buffer: at most `max_bytes`, or one
    /// message.
    #[inline]
    pub(crate) fn pop_framed(&mut self, max_bytes: usize) -> Option<FramedMessages> {
        match self.queue.first_mut() {
            Some(Queued::Run(_)) => self.pop_run(max_bytes),
            _ => None,
        }
    }

    fn pop_run(&mut self, max_bytes: usize) -> Option<FramedMessages> {
        let Some(Queued::Run(run)) = self.queue.first_mut() else {
            return None;
        };
        let framed = run.messages.take(max_bytes);
        self.tally.remove_all(&framed);
        self.drop_empty_run();
        Some(framed)
    }

    fn drop_empty_run(&mut self) {
        if let Some(Queued::Run(run)) = self.queue.first_mut()
            && run.messages.count() == 0
        {
            self.queue.pop_front();
        }
    }

    /// Queues a message, merging or dropping notices where the limits ask for it: also one that is
    /// larger than a message may be.
    pub fn push(&mut self, transmit: Transmit, limits: &Limits) {
        let TransmitKind::Notice(policy) = transmit.kind else {
            return self.keep(transmit);
        };
        if self.is_repeated(&transmit, policy) {
            return;
        }
        if transmit.frame.len() > limits.max_outgoing_bytes && policy != DropPolicy::Never {
            self.dropped += 1;
            return;
        }
        if self.is_full(limits) && !self.make_room(policy, transmit.frame.len(), limits) {
            self.dropped += 1;
            return;
        }
        self.keep(transmit);
    }

    /// Queues the notice that `write` writes, which has no line breaks, as [`Outbox::push`] does. On a
    /// transport with a framing it shares a buffer with the notices of its lane and policy before it.
    #[inline]
    pub fn push_notice(
        &mut self,
        lane: Lane,
        policy: DropPolicy,
        limits: &Limits,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let kind = TransmitKind::Notice(policy);
        // In a full queue, the length of the notice decides how much room is made.
        let Some(framing) = self.framing.filter(|_| !self.is_full(limits)) else {
            let frame = self.blocks.get_or_insert_default().frame(write);
            return self.push(Transmit { lane, kind, frame }, limits);
        };
        let max_bytes = limits.max_outgoing_bytes;
        let length = match self.queue.last_mut() {
            Some(Queued::Run(run)) if run.lane == lane && run.policy == policy => {
                run.messages.push(max_bytes, write)
            }
            _ => {
                let mut run = Run::new(lane, policy, framing);
                let length = run.messages.push(max_bytes, write);
                if length.is_some() {
                    self.queue.push_back(Queued::Run(Box::new(run)));
                }
                length
            }
        };
        match length {
            Some(length) => self.tally.add(kind, length),
            None => self.dropped += 1,
        }
    }

    fn keep(&mut self, transmit: Transmit) {
        self.tally.add(transmit.kind, transmit.frame.len());
        self.queue.push_back(Queued::Message(transmit));
    }

    /// Whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many messages wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.tally.messages
    }

    /// How many bytes wait.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.tally.bytes
    }

    /// How many notices were lost so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Removes the messages whose lane and role `unwanted` picks. Returns true if there were any.
    pub fn discard(&mut self, mut unwanted: impl FnMut(Lane, TransmitKind) -> bool) -> bool {
        let before = self.tally.messages;
        let Self { queue, tally, .. } = self;
        queue.retain(|queued| {
            let is_unwanted = unwanted(queued.lane(), queued.kind());
            if is_unwanted {
                tally.remove_item(queued);
            }
            !is_unwanted
        });
        self.tally.messages < before
    }

    fn is_repeated(&self, transmit: &Transmit, policy: DropPolicy) -> bool {
        matches!(policy, DropPolicy::Merge(_))
            && self
                .queue
                .iter()
                .any(|queued| queued.lane() == transmit.lane && queued.kind() == transmit.kind)
    }

    /// Whether another notice would cost one that is queued.
    #[inline]
    pub fn is_full(&self, limits: &Limits) -> bool {
        let Tally {
            notices,
            notice_bytes,
            ..
        } = self.tally;
        notices >= limits.max_queued_notices || notice_bytes >= limits.max_queued_notice_bytes
    }

    /// Drops queued notices to make room for one of `policy` and of `size` bytes. Returns false if
    /// the new notice must be dropped instead.
    fn make_room(&mut self, policy: DropPolicy, size: usize, limits: &Limits) -> bool {
        match policy {
            DropPolicy::Never | DropPolicy::Merge(_) => {
                self.give_up_logs(limits);
                true
            }
            DropPolicy::DropOldest => {
                self.give_up_logs(limits);
                !self.is_full(limits)
            }
            DropPolicy::KeepLatest(_) => self.give_up_progress(policy, size, limits),
            DropPolicy::RefuseNew => false,
        }
    }

    /// Drops the oldest logs while there are too many notices. Their sizes differ, so it may
    /// drop several.
    fn give_up_logs(&mut self, limits: &Limits) {
        while self.is_full(limits)
            && let Some(at) = self.position(DropPolicy::DropOldest)
        {
            self.give_up(at);
        }
    }

    /// Replaces the oldest progress of a request by the latest, unless that exceeds the limit.
    fn give_up_progress(&mut self, policy: DropPolicy, size: usize, limits: &Limits) -> bool {
        let oldest = self.position(policy);
        let Some((at, old)) = oldest.and_then(|at| Some((at, self.queue.get(at)?))) else {
            return false;
        };
        let freed = old.first_len();
        let fits =
            size <= freed || self.tally.notice_bytes - freed < limits.max_queued_notice_bytes;
        if fits {
            self.give_up(at);
        }
        fits
    }

    /// Drops the message at `at`, or the first one of a run there.
    fn give_up(&mut self, at: usize) {
        let Some(queued) = self.queue.get_mut(at) else {
            return;
        };
        self.tally.remove(queued.kind(), queued.first_len());
        self.dropped += 1;
        if !queued.has_more_than_first() {
            self.queue.remove(at);
        } else if let Queued::Run(run) = queued {
            run.messages.remove_first();
        }
    }

    fn position(&self, policy: DropPolicy) -> Option<usize> {
        let kind = TransmitKind::Notice(policy);
        self.queue.iter().position(|queued| queued.kind() == kind)
    }
}

#[cfg(test)]
mod tests;
