//! Answers to batches: those of one batch leave together, as one array.

use super::Connection;
use crate::io::{DropPolicy, Frame, Lane, RequestKey, TransmitKind};

/// The batches that have no complete answer, oldest first.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    batches: Vec<Answers>,
    /// Whether the last of them is still read.
    is_reading: bool,
    /// Length of all answers that wait, in bytes.
    bytes: usize,
}

/// The answers to one batch.
#[derive(Debug, Default)]
struct Answers {
    unanswered: Vec<RequestKey>,
    frames: Vec<Frame>,
}

impl Gathered {
    /// Begins to read a batch: answers that the engine gives while reading belong to it.
    pub(super) fn begin(&mut self) {
        self.batches.push(Answers::default());
        self.is_reading = true;
    }

    /// Waits for the answer to a request of the batch that is read.
    pub(super) fn owe(&mut self, key: RequestKey) {
        if let Some(read) = self.batches.last_mut() {
            read.unanswered.push(key);
        }
    }

    /// Ends the reading of a batch.
    pub(super) fn end(&mut self) {
        self.is_reading = false;
    }

    /// Whether no batch waits.
    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether a batch is being read.
    pub(super) fn is_reading(&self) -> bool {
        self.is_reading
    }

    /// Stores the answer to a request; returns it if the request is not of a batch.
    pub(super) fn store(&mut self, key: RequestKey, frame: Frame) -> Option<Frame> {
        let Some(batch) = self.batch_of(key) else {
            return Some(frame);
        };
        batch.unanswered.retain(|unanswered| *unanswered != key);
        let length = frame.len();
        batch.frames.push(frame);
        self.bytes += length;
        None
    }

    /// Waits for no answer to this request.
    pub(super) fn forget(&mut self, key: RequestKey) {
        for batch in &mut self.batches {
            batch.unanswered.retain(|unanswered| *unanswered != key);
        }
    }

    fn batch_of(&mut self, key: RequestKey) -> Option<&mut Answers> {
        let owing = self.batches.iter();
        let at = owing
            .clone()
            .position(|batch| batch.unanswered.contains(&key));
        let at = at.or_else(|| self.is_reading.then(|| owing.len() - 1))?;
        self.batches.get_mut(at)
    }

    /// Takes the arrays that can leave: those that are complete, and all if they hold more than
    /// `limit` bytes.
    fn take(&mut self, limit: usize) -> Vec<Frame> {
        let is_too_large = self.bytes > limit;
        let read = self.batches.len() - usize::from(self.is_reading);
        let mut arrays = Vec::new();
        for (at, batch) in self.batches.iter_mut().enumerate() {
            let is_complete = batch.unanswered.is_empty() && at < read;
            if (is_complete || is_too_large) && !batch.frames.is_empty() {
                arrays.push(array_of(std::mem::take(&mut batch.frames)));
            }
        }
        let is_reading = self.is_reading;
        let mut left = self.batches.len();
        self.batches.retain(|batch| {
            left -= 1;
            let is_read = is_reading && left == 0;
            is_read || !batch.unanswered.is_empty()
        });
        let frames = self.batches.iter().flat_map(|batch| &batch.frames);
        self.bytes = frames.map(Frame::len).sum();
        arrays
    }
}

fn array_of(frames: Vec<Frame>) -> Frame {
    let length = frames.iter().map(|frame| frame.len() + 1).sum::<usize>();
    let mut text = Vec::with_capacity(length + 1);
    for frame in frames {
        text.push(if text.is_empty() { b'[' } else { b',' });
        for part in frame.parts() {
            text.extend_from_slice(part);
        }
    }
    text.push(b']');
    Frame::whole(text)
}

impl Connection {
    /// Sends an answer, or stores it until the answers to its batch are complete.
    pub(super) fn gather(&mut self, key: RequestKey, kind: TransmitKind, frame: Frame) {
        match self.gathered.store(key, frame) {
            Some(frame) => self.enqueue(Lane::Reply(key), kind, frame),
            None => self.send_gathered(),
        }
    }

    /// Sends the answers to batches that can leave.
    pub(super) fn send_gathered(&mut self) {
        let arrays = self.gathered.take(self.limits.max_outgoing_bytes);
        for array in arrays {
            self.enqueue(
                Lane::Session,
                TransmitKind::Notice(DropPolicy::Never),
                array,
            );
        }
    }

    /// Waits for no answer to a request that is cancelled.
    pub(super) fn forget_gathered(&mut self, key: RequestKey) {
        if self.gathered.is_empty() {
            return;
        }
        self.gathered.forget(key);
        self.send_gathered();
    }
}
