//! The log output of a server whose program has set up no subscriber for `tracing`.
//!
//! Warnings and errors of our crates go to standard error, one line each. Otherwise an error that the
//! client reads as "internal error" would be recorded nowhere.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::time::{Duration, Instant};

use pintle_runtime::sync::Mutex;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Limit on the length of a line, in bytes.
const MAX_LINE: usize = 4_096;

/// Limit on the lines of one interval: a peer must not fill the standard error of the host.
const MAX_LINES: u32 = 100;

/// The interval that lines are counted in.
const INTERVAL: Duration = Duration::from_secs(60);

/// Installs the fallback, unless the program has set up a subscriber.
pub(crate) fn install() {
    // An error means that the program has a subscriber of its own, which is what we prefer.
    let _ = tracing::subscriber::set_global_default(Fallback::default());
}

/// A subscriber that writes warnings and errors of our crates.
#[derive(Default)]
struct Fallback {
    quota: Mutex<Quota>,
}

/// The lines of the current interval.
#[derive(Default)]
struct Quota {
    since: Option<Instant>,
    written: u32,
}

impl Quota {
    /// Returns true if one more line fits, and counts it.
    fn take(&mut self, now: Instant) -> bool {
        let is_over = |since: Instant| now.duration_since(since) >= INTERVAL;
        if self.since.is_none_or(is_over) {
            (self.since, self.written) = (Some(now), 0);
        }
        self.written = self.written.saturating_add(1);
        self.written <= MAX_LINES
    }
}

impl Subscriber for Fallback {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("pintle");
        // `tracing::enabled!` asks with neither an event nor a span, and skips the event if it gets false.
        is_ours && !metadata.is_span() && *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut quota = self.quota.lock();
        if quota.take(Instant::now()) {
            // Standard error may be closed; there is no other place to report that.
            let _ = std::io::stderr().write_all(line_of(event).as_bytes());
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An event as one line: level, message, fields.
fn line_of(event: &Event<'_>) -> String {
    let mut line = Line::default();
    event.record(&mut line);
    let level = match *event.metadata().level() {
        Level::ERROR => "error",
        _ => "warning",
    };
    let Line { message, fields } = line;
    let mut text = String::new();
    for part in format!("{level}: {message}{fields}").chars() {
        match part.is_control() {
            true => text.extend(part.escape_default()),
            false => text.push(part),
        }
    }
    if text.len() > MAX_LINE {
        let is_end = |at: &usize| text.is_char_boundary(*at);
        let end = (0..=MAX_LINE).rev().find(is_end);
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text.push('\n');
    text
}

/// The parts of a line.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Line {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // A text always has room.
        let _ = match field.name() {
            "message" => write!(self.message, "{value}"),
            name => write!(self.fields, " {name}={value}"),
        };
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A subscriber that stores the lines that the fallback would write.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Kept {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            Fallback::default().enabled(metadata)
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            self.0.lock().push(line_of(event));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn warnings_and_errors_of_our_crates_are_lines() {
        let kept = Kept::default();
        tracing::subscriber::with_default(kept.clone(), || {
            tracing::info!("not a line");
            tracing::error!(target: "another", "not a line either");
            tracing::error!(handler = "prompt", name = "a\nb\u{1b}", "a handler failed");
            tracing::warn!("{}", "é".repeat(MAX_LINE));
        });
        let lines = kept.0.lock();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[0],
            "error: a handler failed handler=\"prompt\" name=\"a\\nb\\u{1b}\"\n"
        );
        assert!(lines[1].len() <= MAX_LINE + "…\n".len());
        assert!(lines[1].starts_with("warning: é") && lines[1].ends_with("…\n"));
    }

    #[test]
    fn an_interval_has_a_limit_of_lines() {
        let (start, mut quota) = (Instant::now(), Quota::default());
        let written = (0..MAX_LINES * 2).filter(|_| quota.take(start)).count();
        assert_eq!(written, MAX_LINES as usize);
        assert!(quota.take(start + INTERVAL));
    }
}
