//! The items of a queue of messages, and their count.

use crate::frame::Framing;
use crate::frame_blocks::FrameBlocks;
use crate::framed::FramedMessages;
use crate::io::{DropPolicy, Lane, Transmit, TransmitKind};

/// An item of the queue. Closed by design.
#[derive(Debug)]
pub(super) enum Queued {
    Message(Transmit),
    /// Notices that follow each other. Boxed, because a message moves often.
    Run(Box<Run>),
}

/// Notices of one lane and one policy that follow each other; at least one.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) lane: Lane,
    pub(super) policy: DropPolicy,
    pub(super) messages: FramedMessages,
}

/// How much of a queue there is.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) messages: usize,
    pub(super) bytes: usize,
    pub(super) notices: usize,
    pub(super) notice_bytes: usize,
}

impl Queued {
    pub(super) fn lane(&self) -> Lane {
        match self {
            Self::Message(transmit) => transmit.lane,
            Self::Run(run) => run.lane,
        }
    }

    pub(super) fn kind(&self) -> TransmitKind {
        match self {
            Self::Message(transmit) => transmit.kind,
            Self::Run(run) => TransmitKind::Notice(run.policy),
        }
    }

    /// Length of the first message, in bytes.
    pub(super) fn first_len(&self) -> usize {
        match self {
            Self::Message(transmit) => transmit.frame.len(),
            Self::Run(run) => run.messages.first().len(),
        }
    }

    pub(super) fn has_more_than_first(&self) -> bool {
        matches!(self, Self::Run(run) if run.messages.count() > 1)
    }
}

impl Run {
    pub(super) fn new(lane: Lane, policy: DropPolicy, framing: Framing) -> Self {
        Self {
            lane,
            policy,
            messages: FramedMessages::new(framing),
        }
    }

    /// Takes the first message.
    pub(super) fn pop(&mut self, blocks: &mut FrameBlocks) -> Transmit {
        let frame = blocks.frame(|out| out.extend_from_slice(self.messages.first()));
        self.messages.remove_first();
        Transmit {
            lane: self.lane,
            kind: TransmitKind::Notice(self.policy),
            frame,
        }
    }
}

impl Tally {
    pub(super) fn add(&mut self, kind: TransmitKind, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
        if matches!(kind, TransmitKind::Notice(_)) {
            self.notices += 1;
            self.notice_bytes += bytes;
        }
    }

    pub(super) fn remove(&mut self, kind: TransmitKind, bytes: usize) {
        self.messages -= 1;
        self.bytes -= bytes;
        if matches!(kind, TransmitKind::Notice(_)) {
            self.notices -= 1;
            self.notice_bytes -= bytes;
        }
    }

    pub(super) fn remove_all(&mut self, messages: &FramedMessages) {
        self.remove_notices((messages.count(), messages.message_bytes()));
    }

    /// Removes this many notices, and this many bytes.
    pub(super) fn remove_notices(&mut self, (count, bytes): (usize, usize)) {
        self.messages -= count;
        self.bytes -= bytes;
        self.notices -= count;
        self.notice_bytes -= bytes;
    }

    pub(super) fn remove_item(&mut self, queued: &Queued) {
        match queued {
            Queued::Message(transmit) => self.remove(transmit.kind, transmit.frame.len()),
            Queued::Run(run) => self.remove_all(&run.messages),
        }
    }
}
