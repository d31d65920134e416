//! The open streams of a session for messages that belong to no request.

use std::collections::VecDeque;
use std::task::Waker;

use super::held::Held;
use super::journal::Released;

/// The open streams. The newest receives all messages.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    open: Vec<Listener>,
    readers: u32,
}

/// One open stream.
#[derive(Debug)]
struct Listener {
    stream: u64,
    reader: u32,
    waker: Option<Waker>,
    /// The messages that wait for the log of the stream.
    held: Option<Box<Held>>,
}

impl Listeners {
    /// Replaces the reader of a stream, which becomes the newest. Returns the number of the new reader
    /// and the waker of the one before. `released` is present if the stream has a log.
    pub(super) fn attach(
        &mut self,
        stream: u64,
        released: Option<Released>,
    ) -> (u32, Option<Waker>) {
        let before = self.position(stream).map(|at| self.open.remove(at));
        self.readers += 1;
        if self.open.capacity() == 0 {
            self.open.reserve_exact(1);
        }
        self.open.push(Listener {
            stream,
            reader: self.readers,
            waker: None,
            held: released.map(|released| Box::new(Held::new(released, VecDeque::new()))),
        });
        (self.readers, before.and_then(|before| before.waker))
    }

    /// Closes a stream if `reader` reads it.
    pub(super) fn detach(&mut self, stream: u64, reader: u32) -> bool {
        let at = self.position(stream);
        let own = at.filter(|at| self.open.get(*at).is_some_and(|own| own.reader == reader));
        own.map(|at| self.open.remove(at)).is_some()
    }

    /// Returns true if `reader` reads the stream.
    pub(super) fn is_reader(&self, stream: u64, reader: u32) -> bool {
        let is_own = |own: &Listener| own.stream == stream && own.reader == reader;
        self.open.iter().any(is_own)
    }

    /// Returns true if this stream receives all messages.
    pub(super) fn is_newest(&self, stream: u64) -> bool {
        self.open
            .last()
            .is_some_and(|newest| newest.stream == stream)
    }

    /// Returns the messages that wait for the log of a stream, if it has a log.
    pub(super) fn held(&mut self, stream: u64) -> Option<&mut Held> {
        let listener = self.open.iter_mut().find(|own| own.stream == stream)?;
        listener.held.as_deref_mut()
    }

    /// Closes a stream and its reader. Returns the waker of its reader.
    pub(super) fn close(&mut self, stream: u64) -> Option<Waker> {
        let at = self.position(stream)?;
        self.open.remove(at).waker
    }

    /// Stores the waker of the reader of a stream.
    pub(super) fn wait(&mut self, stream: u64, waker: &Waker) {
        if let Some(listener) = self.open.iter_mut().find(|own| own.stream == stream) {
            listener.waker = Some(waker.clone());
        }
    }

    pub(super) fn take_newest_waker(&mut self) -> Option<Waker> {
        self.open.last_mut()?.waker.take()
    }

    pub(super) fn take_wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.open.iter_mut().filter_map(|own| own.waker.take())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn position(&self, stream: u64) -> Option<usize> {
        self.open.iter().position(|own| own.stream == stream)
    }
}
