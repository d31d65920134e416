//! Progress, log messages and warnings of a running call, on standard error.
//!
//! A terminal redraws progress on one line and shows the rest above it.

use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pintle::model::{LogMessageParams, ProgressParams};
use pintle::runtime::sync::{Mutex, MutexGuard};
use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

use crate::screen::{Look, Style};
use crate::text;

/// Shortest time between two drawings of progress on a terminal.
const DRAWN: Duration = Duration::from_millis(50);

/// Shortest time between two lines of progress in a file or pipe.
const WRITTEN: Duration = Duration::from_secs(1);

/// Columns of the bar.
const BAR: usize = 24;

/// Receives the lines of a server's standard error.
type StderrListener = Box<dyn Fn(&str) + Send + Sync>;

/// Standard error, shared by all parts of a conversation.
pub(crate) struct Live {
    look: Look,
    state: Mutex<State>,
    hidden: AtomicBool,
    /// Receives each line of a server's standard error as well.
    listener: OnceLock<StderrListener>,
}

#[derive(Default)]
struct State {
    /// Whether the last line on the terminal is one of progress.
    is_drawn: bool,
    last: Option<Instant>,
}

impl Live {
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            state: Mutex::default(),
            hidden: AtomicBool::new(false),
            listener: OnceLock::new(),
        }
    }

    /// Passes each line of a server's standard error to a function as well. Only the first function has an effect.
    pub(crate) fn on_stderr(&self, listener: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Passes a line of a server's standard error on.
    pub(crate) fn pass_stderr(&self, line: &str) {
        if let Some(listener) = self.listener.get() {
            listener(line);
        }
    }

    /// Whether standard error is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.look.is_terminal
    }

    /// Records that a server wrote text that is not shown.
    pub(crate) fn hide(&self) {
        self.hidden.store(true, Ordering::Relaxed);
    }

    /// Returns true if a server wrote text that was not shown.
    pub(crate) fn has_hidden(&self) -> bool {
        self.hidden.load(Ordering::Relaxed)
    }

    /// Shows the progress of a call.
    pub(crate) fn progress(&self, progress: &ProgressParams) {
        let line = progress_line(progress, self.look.columns);
        self.draw(&line);
    }

    /// Replaces the line of progress, unless the last one is too recent.
    pub(crate) fn draw(&self, line: &str) {
        let mut state = self.lock();
        let pause = if self.look.is_terminal {
            DRAWN
        } else {
            WRITTEN
        };
        if state.last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        state.last = Some(Instant::now());
        match self.look.is_terminal {
            true => {
                state.is_drawn = true;
                write(&format!("\r\u{1b}[K{line}"));
            }
            false => write(&format!("{line}\n")),
        }
    }

    /// Shows a log message.
    pub(crate) fn log(&self, message: &LogMessageParams) {
        self.note(&log_line(message, self.look));
    }

    /// Prints a text that is safe to print, on its own lines.
    pub(crate) fn note(&self, note: &str) {
        let mut state = self.lock();
        clear(&mut state);
        write(&format!("{note}\n"));
    }

    /// Prints a warning, and makes it safe to print.
    pub(crate) fn warn(&self, warning: &str) {
        let head = self.look.paint(Style::Bad, "pintle:");
        self.note(&format!("{head} {}", text::clean(warning)));
    }

    /// Removes the line of progress before other output.
    pub(crate) fn clear(&self) {
        clear(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn clear(state: &mut State) {
    if std::mem::take(&mut state.is_drawn) {
        write("\r\u{1b}[K");
    }
}

fn write(text: &str) {
    // A failure to print cannot be printed.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// `[======>     ]  50%  message`, no wider than there are columns.
fn progress_line(progress: &ProgressParams, columns: usize) -> String {
    let total = progress
        .total
        .filter(|total| *total > 0.0 && total.is_finite());
    let mut line = match total {
        Some(total) => {
            let part = (progress.progress / total).clamp(0.0, 1.0);
            format!("{} {:3.0}%", bar(part, BAR), part * 100.0)
        }
        None => format!("{}", progress.progress),
    };
    if let Some(message) = &progress.message {
        line.push_str("  ");
        line.push_str(&text::line(message));
    }
    shortened(&line, columns.saturating_sub(1))
}

/// Returns a bar. `part` is the full part of it, from 0 to 1.
pub(crate) fn bar(part: f64, columns: usize) -> String {
    let full = (part * columns as f64).floor() as usize;
    let head = if full < columns { ">" } else { "" };
    let rest = columns.saturating_sub(full + head.len());
    format!(
        "[{}{head}{}]",
        "=".repeat(full.min(columns)),
        " ".repeat(rest)
    )
}

fn shortened(line: &str, columns: usize) -> String {
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width <= columns
    };
    line.chars().take_while(fits).collect()
}

fn log_line(message: &LogMessageParams, look: Look) -> String {
    let level = serde_json::to_value(&message.level).unwrap_or(Value::Null);
    let level = level.as_str().unwrap_or_default();
    let style = match level {
        "debug" | "info" | "notice" => Style::Faint,
        _ => Style::Bad,
    };
    let words = match &message.data {
        Value::String(words) => words.clone(),
        data => data.to_string(),
    };
    let logger = message
        .logger
        .as_deref()
        .map(|logger| format!(" {}", text::line(logger)));
    let head = look.paint(style, &text::line(level));
    format!(
        "{head}{}: {}",
        logger.unwrap_or_default(),
        text::line(&words)
    )
}

#[cfg(test)]
mod tests {
    use pintle::model::LoggingLevel;
    use serde_json::json;

    use super::*;

    fn line(progress: f64, total: Option<f64>, message: &str, columns: usize) -> String {
        let mut params = ProgressParams::new(1.into(), progress).with_message(message);
        params.total = total;
        progress_line(&params, columns)
    }

    #[test]
    fn progress_is_one_line() {
        let half = line(1.0, Some(2.0), "shipping\n\u{1b}[2J", 80);
        assert_eq!(half, "[============>           ]  50%  shipping \\u{1b}[2J");
        assert_eq!(
            line(2.0, Some(2.0), "", 80),
            "[========================] 100%  "
        );
        assert_eq!(line(3.5, None, "cables", 80), "3.5  cables");
        assert_eq!(line(1.0, Some(2.0), "漢字漢字", 38).chars().count(), 35);
        for odd in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            assert!(!line(odd, Some(odd), "", 80).is_empty());
            assert!(!line(odd, Some(1.0), "", 80).is_empty());
        }
    }

    #[test]
    fn a_log_message_is_one_line() {
        let message =
            LogMessageParams::new(LoggingLevel::Warning, json!("a\nb\u{9b}")).with_logger("pilot");
        assert_eq!(log_line(&message, Look::PLAIN), "warning pilot: a b\\u{9b}");
        let message = LogMessageParams::new(LoggingLevel::Info, json!({ "a": 1 }));
        assert_eq!(log_line(&message, Look::PLAIN), "info: {\"a\":1}");
    }
}
