//! Messages on their way out, bounded: a peer that does not read cannot make us grow.

use crate::inline_queue::InlineQueue;
use crate::io::{DropPolicy, Transmit, TransmitKind};
use crate::limits::Limits;

/// A queue of outgoing messages.
///
/// Answers and calls are never dropped: their number is bounded by the requests in flight. Notices
/// are: the same list change is queued once. Beyond the limit progress keeps the latest of a
/// request, and logs lose the oldest.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: InlineQueue<Transmit>,
    tally: Tally,
    dropped: u64,
}

/// How much of a queue there is.
#[derive(Debug, Default)]
struct Tally {
    bytes: usize,
    notices: usize,
    notice_bytes: usize,
}

impl Outbox {
    /// Takes the oldest message.
    pub fn pop(&mut self) -> Option<Transmit> {
        let transmit = self.queue.pop_front()?;
        self.tally.remove(&transmit);
        Some(transmit)
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

    fn keep(&mut self, transmit: Transmit) {
        self.tally.add(&transmit);
        self.queue.push_back(transmit);
    }

    /// Whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many messages wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.queue.len()
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

    /// Removes the messages that `unwanted` picks. Returns true if there were any.
    pub fn discard(&mut self, mut unwanted: impl FnMut(&Transmit) -> bool) -> bool {
        let before = self.queue.len();
        let Self { queue, tally, .. } = self;
        queue.retain(|transmit| {
            let is_unwanted = unwanted(transmit);
            if is_unwanted {
                tally.remove(transmit);
            }
            !is_unwanted
        });
        self.queue.len() < before
    }

    fn is_repeated(&self, transmit: &Transmit, policy: DropPolicy) -> bool {
        matches!(policy, DropPolicy::Merge(_))
            && self
                .queue
                .iter()
                .any(|queued| queued.lane == transmit.lane && queued.kind == transmit.kind)
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
        let freed = old.frame.len();
        let fits =
            size <= freed || self.tally.notice_bytes - freed < limits.max_queued_notice_bytes;
        if fits {
            self.give_up(at);
        }
        fits
    }

    fn give_up(&mut self, at: usize) {
        if let Some(removed) = self.queue.remove(at) {
            self.tally.remove(&removed);
            self.dropped += 1;
        }
    }

    fn position(&self, policy: DropPolicy) -> Option<usize> {
        let kind = TransmitKind::Notice(policy);
        self.queue.iter().position(|queued| queued.kind == kind)
    }
}

impl Tally {
    fn add(&mut self, transmit: &Transmit) {
        self.bytes += transmit.frame.len();
        if matches!(transmit.kind, TransmitKind::Notice(_)) {
            self.notices += 1;
            self.notice_bytes += transmit.frame.len();
        }
    }

    fn remove(&mut self, transmit: &Transmit) {
        self.bytes -= transmit.frame.len();
        if matches!(transmit.kind, TransmitKind::Notice(_)) {
            self.notices -= 1;
            self.notice_bytes -= transmit.frame.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{AnswerStatus, Frame, Lane, RequestKey};

    fn notice(policy: DropPolicy, text: &str) -> Transmit {
        Transmit {
            lane: Lane::Session,
            kind: TransmitKind::Notice(policy),
            frame: Frame::whole(text.into()),
        }
    }

    fn texts(outbox: &mut Outbox) -> Vec<String> {
        std::iter::from_fn(|| outbox.pop())
            .map(|transmit| String::from_utf8(transmit.frame.to_vec()).expect("text"))
            .collect()
    }

    fn tight() -> Limits {
        Limits {
            max_queued_notices: 2,
            ..Limits::default()
        }
    }

    // hardening: H-201
    #[test]
    fn a_full_queue_keeps_the_latest_progress_and_the_latest_logs() {
        let mut outbox = Outbox::default();
        let key = RequestKey(1);
        for text in ["p1", "p2", "p3"] {
            outbox.push(notice(DropPolicy::KeepLatest(key), text), &tight());
        }
        assert_eq!(texts(&mut outbox), ["p2", "p3"]);
        for text in ["l1", "l2", "l3"] {
            outbox.push(notice(DropPolicy::DropOldest, text), &tight());
        }
        assert_eq!(texts(&mut outbox), ["l2", "l3"]);
        assert_eq!(outbox.dropped(), 2);
    }

    fn narrow() -> Limits {
        Limits {
            max_queued_notice_bytes: 100,
            ..Limits::default()
        }
    }

    // hardening: H-201
    #[test]
    fn a_queue_holds_its_bytes_and_no_more() {
        let mut outbox = Outbox::default();
        let log = |size| notice(DropPolicy::DropOldest, &"l".repeat(size));
        for _ in 0..10 {
            assert!(!outbox.is_full(&narrow()));
            outbox.push(log(10), &narrow());
        }
        assert_eq!(
            (outbox.len(), outbox.bytes(), outbox.dropped()),
            (10, 100, 0)
        );
        outbox.push(log(10), &narrow());
        assert_eq!(
            (outbox.len(), outbox.bytes(), outbox.dropped()),
            (10, 100, 1)
        );
        // A large one takes the place of as many small ones as it must, not of one.
        for _ in 0..50 {
            outbox.push(log(90), &narrow());
            assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
        }
        outbox.push(notice(DropPolicy::Merge(1), &"c".repeat(50)), &narrow());
        assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
        assert!(texts(&mut outbox).contains(&"c".repeat(50)));
    }

    #[test]
    fn a_notice_larger_than_a_message_may_be_is_dropped() {
        let limits = Limits {
            max_outgoing_bytes: 10,
            ..Limits::default()
        };
        let mut outbox = Outbox::default();
        for size in [10, 11] {
            outbox.push(notice(DropPolicy::DropOldest, &"l".repeat(size)), &limits);
        }
        assert_eq!((outbox.bytes(), outbox.dropped()), (10, 1));
    }

    // hardening: H-201
    #[test]
    fn progress_that_grows_does_not_grow_the_queue() {
        let mut outbox = Outbox::default();
        let progress = |of, size| notice(DropPolicy::KeepLatest(RequestKey(of)), &"p".repeat(size));
        for of in 0..10 {
            outbox.push(progress(of, 10), &narrow());
        }
        for of in 0..10 {
            outbox.push(progress(of, 90), &narrow());
            assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
        }
        // As long as before is no more than before.
        let before = outbox.dropped();
        outbox.push(progress(5, 10), &narrow());
        assert_eq!(outbox.dropped(), before + 1);
        assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
    }

    // hardening: H-201
    #[test]
    fn an_answer_is_never_dropped() {
        let mut outbox = Outbox::default();
        for at in 0..10 {
            let answer = Transmit {
                lane: Lane::Reply(RequestKey(at)),
                kind: TransmitKind::Answer(AnswerStatus::Result),
                frame: Frame::whole(b"a".to_vec()),
            };
            outbox.push(answer, &tight());
        }
        assert_eq!(outbox.len(), 10);
    }

    #[test]
    fn a_notice_that_may_be_refused_is_when_the_queue_is_full() {
        let mut outbox = Outbox::default();
        for text in ["n1", "n2", "n3"] {
            outbox.push(notice(DropPolicy::RefuseNew, text), &tight());
        }
        assert_eq!(outbox.dropped(), 1);
        assert_eq!(texts(&mut outbox), ["n1", "n2"]);
    }

    #[test]
    fn the_same_change_is_queued_once() {
        let mut outbox = Outbox::default();
        for _ in 0..3 {
            outbox.push(notice(DropPolicy::Merge(1), "tools"), &Limits::default());
        }
        outbox.push(notice(DropPolicy::Merge(2), "prompts"), &Limits::default());
        assert_eq!(texts(&mut outbox), ["tools", "prompts"]);
    }
}
