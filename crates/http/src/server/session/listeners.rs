//! The open streams of a session for what the server says unasked.

use std::task::Waker;

/// The open streams; the one that was opened last hears everything.
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
}

impl Listeners {
    /// Lets a new reader hear a stream, and names the reader. Whoever read the stream before reads
    /// no more; its waker is given back.
    pub(super) fn attach(&mut self, stream: u64) -> (u32, Option<Waker>) {
        let before = self.position(stream).map(|at| self.open.remove(at));
        self.readers += 1;
        if self.open.capacity() == 0 {
            self.open.reserve_exact(1);
        }
        self.open.push(Listener {
            stream,
            reader: self.readers,
            waker: None,
        });
        (self.readers, before.and_then(|before| before.waker))
    }

    /// Closes a stream, if this is who reads it.
    pub(super) fn detach(&mut self, stream: u64, reader: u32) -> bool {
        let at = self.position(stream);
        let own = at.filter(|at| self.open.get(*at).is_some_and(|own| own.reader == reader));
        own.map(|at| self.open.remove(at)).is_some()
    }

    /// Whether this is who reads the stream.
    pub(super) fn is_reader(&self, stream: u64, reader: u32) -> bool {
        let is_own = |own: &Listener| own.stream == stream && own.reader == reader;
        self.open.iter().any(is_own)
    }

    /// Whether this stream hears everything.
    pub(super) fn is_newest(&self, stream: u64) -> bool {
        self.open
            .last()
            .is_some_and(|newest| newest.stream == stream)
    }

    /// Notes whom to wake for a stream.
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
