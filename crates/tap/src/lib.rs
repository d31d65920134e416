//! Shows and records the messages between an MCP host and a server, and passes their bytes unchanged.
//!
//! [`tap_stdio`] starts a server and passes the bytes of standard input and output. A [`Tap`] gets copies of them, and
//! observes them on a thread of its own: the transport never waits for the display or the recording. Memory is
//! bounded by [`TapOptions`].
//!
//! An [`Observer`] finds each [`Oddity`] of a message. It performs no I/O. A [`Recorder`] writes the
//! format of [`recording`], and [`Recording`] reads it.

mod background_writer;
mod envelope;
mod exchanges;
mod framing;
#[cfg(feature = "http")]
mod http;
mod lines;
mod matcher;
#[cfg(feature = "replay")]
mod mock;
mod observer;
mod oddity;
mod options;
mod queue;
pub mod recording;
mod redact;
#[cfg(feature = "replay")]
mod replay;
mod report;
mod show;
mod stdio;
mod tap;

#[cfg(feature = "http")]
pub use crate::http::{HttpTap, HttpTapError};
pub use envelope::MessageKind;
pub use exchanges::{RecordedExchange, RecordedServer, RecordedStep};
pub use framing::Framing;
pub use lines::{Line, LineSplitter};
pub use matcher::{Matcher, Miss};
#[cfg(feature = "replay")]
pub use mock::{Mock, MockError};
pub use observer::{Direction, Missing, Observation, Observer};
pub use oddity::Oddity;
pub use options::{Display, TapOptions};
pub use recording::{RecordedMessage, Recorder, Recording, RecordingError};
pub use redact::{is_secret_name, redact};
#[cfg(feature = "replay")]
pub use replay::{Replay, ReplayMisses};
pub use show::TapCounts;
pub use stdio::tap_stdio;
pub use tap::{Tap, TapEnd, TapTransport};
