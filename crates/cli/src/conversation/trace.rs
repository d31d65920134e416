//! `--trace`: writes every message of a conversation to a file, as one line of JSON each.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use pintle::model::JsonObject;
use pintle::proto::TransportError;
use pintle::proto::lifecycle::Binding;
use pintle::runtime::sync::Mutex;
use pintle::runtime::{
    BoxConnect, BoxTransport, Connect, ParamHeader, ServerAddress, TappedMessage, Transport, Wire,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::live::Live;
use crate::text;

/// Maximum number of reported lines that are not messages.
const STRAYS: u32 = 3;

/// Largest part of such a line that is printed, in bytes.
const STRAY_BYTES: usize = 1024;

/// A connection whose messages are written to the trace.
pub(super) struct Traced {
    connect: BoxConnect,
    trace: Arc<Trace>,
}

/// A transport whose messages are written to the trace.
pub(super) struct TracedTransport {
    transport: BoxTransport,
    trace: Arc<Trace>,
}

/// The trace: its file, and the time of its start.
pub(super) struct Trace {
    file: Mutex<Option<File>>,
    /// The number of lines that were not messages.
    strays: AtomicU32,
    began: Instant,
    live: Arc<Live>,
}

/// One line of the file.
#[derive(Serialize)]
struct Line<'m> {
    /// Time since the start of the trace, in milliseconds.
    ms: f64,
    /// The receiver of the message: `server` or `client`.
    to: &'static str,
    /// The message, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'m RawValue>,
    /// The bytes of a message that is not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Traced {
    /// Writes the messages of a connection to the trace.
    pub(super) fn new(connect: BoxConnect, trace: &Arc<Trace>) -> Self {
        Self {
            connect,
            trace: Arc::clone(trace),
        }
    }
}

impl Connect for Traced {
    type Transport = TracedTransport;

    async fn connect(&self) -> Result<TracedTransport, TransportError> {
        Ok(TracedTransport {
            transport: self.connect.connect().await?,
            trace: Arc::clone(&self.trace),
        })
    }

    fn binding(&self) -> Binding {
        self.connect.binding()
    }

    fn key(&self) -> Option<String> {
        self.connect.key()
    }

    fn server_address(&self) -> Option<ServerAddress> {
        self.connect.server_address()
    }

    fn principal(&self) -> Option<String> {
        self.connect.principal()
    }

    fn param_headers(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        self.connect.param_headers(input_schema)
    }
}

impl Transport for TracedTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let trace = self.trace;
        let wire = wire.tapped(move |tapped| trace.write(tapped));
        self.transport.run(wire).await
    }
}

impl Trace {
    /// Creates the file, or empties it. A new file may be read by its owner only.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn new(file: &Path, live: &Arc<Live>) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self {
            file: Mutex::new(Some(options.open(file)?)),
            strays: AtomicU32::new(0),
            began: Instant::now(),
            live: Arc::clone(live),
        })
    }

    /// Writes no file, and only reports lines that are not messages.
    pub(super) fn without_file(live: &Arc<Live>) -> Self {
        Self {
            file: Mutex::new(None),
            strays: AtomicU32::new(0),
            began: Instant::now(),
            live: Arc::clone(live),
        }
    }

    /// Reports a line of a server that is not a message. Only the first three, because there may be many.
    fn report_stray(&self, line: &[u8]) {
        let line = line.trim_ascii();
        let is_message = matches!(line.first(), None | Some(b'{' | b'['));
        if is_message || self.strays.fetch_add(1, Ordering::Relaxed) >= STRAYS {
            return;
        }
        let line = String::from_utf8_lossy(line.get(..STRAY_BYTES).unwrap_or(line));
        let line = text::line(&line);
        self.live.warn(&format!(
            "the server printed a line that is not a message: {line}"
        ));
    }

    fn write(&self, tapped: TappedMessage<'_>) {
        let (to, message) = match tapped {
            TappedMessage::Sent(message) => ("server", message),
            TappedMessage::Received(message) => ("client", message),
        };
        if to == "client" {
            self.report_stray(message);
        }
        let mut file = self.file.lock();
        let Some(open) = &mut *file else {
            return;
        };
        let raw = serde_json::from_slice(message).ok();
        let line = Line {
            ms: self.began.elapsed().as_secs_f64() * 1000.0,
            to,
            text: raw
                .is_none()
                .then(|| String::from_utf8_lossy(message).into_owned()),
            message: raw,
        };
        let written = serde_json::to_vec(&line)
            .map_err(io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                open.write_all(&line)
            });
        if let Err(error) = written {
            // The conversation continues without a trace.
            *file = None;
            self.live.warn(&format!("the trace ends here: {error}"));
        }
    }
}
