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
