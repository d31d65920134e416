//! Where one message ends and the next begins: lines on pipes, events on HTTP streams.
//!
//! Both are incremental and pure: bytes go in as they arrive, cut anywhere, and whole texts come
//! out. Both are bounded before they buffer. Neither knows what a message is.

mod lines;
pub mod sse;

pub use lines::{Line, Lines};

/// The longest message that is read by default, in bytes: 16 MiB.
pub const DEFAULT_MAX_BYTES: usize = 16 * 1024 * 1024;

// Buffers that grew beyond this many bytes for a large message are released after it.
const KEPT_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The bytes around a message on a transport, for messages without line breaks. Closed: there are two
/// kinds of transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A line, as on a pipe.
    Line,
    /// An event without an event id, as on an HTTP stream.
    Event,
}

impl Framing {
    const EVENT: &[u8; 21] = b"event: message\ndata: ";

    /// Writes the bytes before a message.
    #[inline]
    pub fn write_before(self, out: &mut Vec<u8>) {
        match self {
            Self::Line => {}
            Self::Event => out.extend_from_slice(Self::EVENT),
        }
    }

    /// Writes the bytes after a message.
    #[inline]
    pub fn write_after(self, out: &mut Vec<u8>) {
        match self {
            Self::Line => out.push(b'\n'),
            Self::Event => out.extend_from_slice(b"\n\n"),
        }
    }

    /// The numbers of bytes before and after a message.
    #[inline]
    pub(crate) const fn lengths(self) -> (usize, usize) {
        match self {
            Self::Line => (0, 1),
            Self::Event => (Self::EVENT.len(), 2),
        }
    }
}
