//! A connection over the streams of one process, which records lines that are not messages.

use std::sync::Arc;

use pintle::proto::lifecycle::Binding;
use pintle::proto::{TransportError, TransportErrorKind};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{Connect, StreamOptions, StreamTransport, TappedMessage, Transport, Wire};
use tokio::process::{ChildStdin, ChildStdout};

use crate::options::DoctorOptions;

/// Connects once: a server that ended is not started again.
pub(super) struct Once {
    streams: Mutex<Option<StreamTransport<ChildStdout, ChildStdin>>>,
    strays: Arc<Strays>,
}

/// The transport of the streams, with its record.
pub(super) struct OnceTransport {
    streams: StreamTransport<ChildStdout, ChildStdin>,
    strays: Arc<Strays>,
}

/// Lines of standard output that are not messages.
pub(super) struct Strays {
    lines: Mutex<(Vec<String>, usize)>,
    max_lines: usize,
    max_bytes: usize,
}

impl Once {
    pub(super) fn new(
        stdout: ChildStdout,
        stdin: ChildStdin,
        strays: &Arc<Strays>,
        options: &DoctorOptions,
    ) -> Self {
        let mut streams = StreamOptions::default();
        streams.close_timeout = options.exit_timeout;
        Self {
            streams: Mutex::new(Some(StreamTransport::with(stdout, stdin, streams))),
            strays: Arc::clone(strays),
        }
    }
}

impl Connect for Once {
    type Transport = OnceTransport;

    async fn connect(&self) -> Result<OnceTransport, TransportError> {
        let streams = self.streams.lock().take();
        let over = || TransportError::new(TransportErrorKind::Disconnected);
        Ok(OnceTransport {
            streams: streams.ok_or_else(over)?,
            strays: Arc::clone(&self.strays),
        })
    }

    fn binding(&self) -> Binding {
        Binding::Pipe
    }
}

impl Transport for OnceTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let strays = self.strays;
        let wire = wire.tapped(move |tapped| strays.read(tapped));
        self.streams.run(wire).await
    }
}

impl Strays {
    pub(super) fn new(options: &DoctorOptions) -> Arc<Self> {
        Arc::new(Self {
            lines: Mutex::default(),
            max_lines: options.max_stray_lines,
            max_bytes: options.max_stray_bytes,
        })
    }

    fn read(&self, tapped: TappedMessage<'_>) {
        if let TappedMessage::Received(line) = tapped {
            self.add(line);
        }
    }

    /// Records a line, unless it is empty or a message.
    fn add(&self, line: &[u8]) {
        let line = line.trim_ascii();
        let is_message =
            line.starts_with(b"{") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
        let is_batch =
            line.starts_with(b"[") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
        if line.is_empty() || is_message || is_batch {
            return;
        }
        let mut lines = self.lines.lock();
        lines.1 += 1;
        if lines.0.len() < self.max_lines {
            let cut = line.get(..self.max_bytes).unwrap_or(line);
            lines.0.push(String::from_utf8_lossy(cut).into_owned());
        }
    }

    /// Returns the first lines and the number of all.
    pub(super) fn found(&self) -> (Vec<String>, usize) {
        self.lines.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_messages_are_counted_and_cut_off() {
        let options = DoctorOptions {
            max_stray_bytes: 5,
            ..DoctorOptions::default()
        };
        let strays = Strays::new(&options);
        for line in [
            "{\"jsonrpc\": \"2.0\"}",
            "[1]",
            "",
            " ",
            "Server ready",
            "{oops",
            "3",
            "4",
        ] {
            strays.add(line.as_bytes());
        }
        let (lines, count) = strays.found();
        assert_eq!(
            (lines, count),
            (vec!["Serve".into(), "{oops".into(), "3".into()], 4)
        );
    }
}
