//! `--trace`: every message of a conversation, into a file: a line of JSON for each.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pintle::model::JsonObject;
use pintle::proto::TransportError;
use pintle::proto::lifecycle::Binding;
use pintle::runtime::{BoxConnect, BoxTransport, Connect, Crossing, ParamHeader, Transport, Wire};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::live::Live;

/// Connects as another one does, and writes down what crosses.
pub(super) struct Traced {
    connect: BoxConnect,
    trace: Arc<Trace>,
}

/// A transport that is written down.
pub(super) struct TracedTransport {
    transport: BoxTransport,
    trace: Arc<Trace>,
}

/// The file, and when it was begun.
pub(super) struct Trace {
    file: Mutex<Option<File>>,
    began: Instant,
    live: Arc<Live>,
}

/// One line.
#[derive(Serialize)]
struct Line<'m> {
    /// Since the conversation began, in milliseconds.
    ms: f64,
    /// Who gets the message.
    to: &'static str,
    /// The message as it crossed.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'m RawValue>,
    /// What crossed and is no JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Traced {
    /// Writes down what crosses.
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
        let wire = wire.tapped(move |crossing| trace.write(crossing));
        self.transport.run(wire).await
    }
}

impl Trace {
    /// Begins a file that only its owner may read.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub(super) fn new(file: &Path, live: &Arc<Live>) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self {
            file: Mutex::new(Some(options.open(file)?)),
            began: Instant::now(),
            live: Arc::clone(live),
        })
    }

    fn write(&self, crossing: Crossing<'_>) {
        let (to, message) = match crossing {
            Crossing::Sent(message) => ("server", message),
            Crossing::Received(message) => ("client", message),
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
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *file else {
            return;
        };
        let written = serde_json::to_vec(&line)
            .map_err(io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                open.write_all(&line)
            });
        if let Err(error) = written {
            // The conversation is worth more than its trace.
            *file = None;
            self.live.warn(&format!("the trace ends here: {error}"));
        }
    }
}
