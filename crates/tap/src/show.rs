//! The lines of the display.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use crate::envelope::MessageKind;
use crate::observer::{Direction, Missing, Observation};
use crate::options::Display;

/// Maximum number of shown characters of a name, an id, or a line that is not a message.
const SHOWN_CHARS: usize = 120;

/// The counts of a tap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TapCounts {
    /// Messages to the server, and other lines.
    pub to_server: u64,
    /// Messages to the client, and other lines.
    pub to_client: u64,
    /// Messages with something odd.
    pub odd: u64,
    /// Requests without an answer.
    pub unanswered: u64,
    /// Bytes that were passed on without being observed.
    pub lost_bytes: u64,
}

/// The place of a message: its time, and its session and exchange over HTTP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: Duration,
    pub(crate) session: Option<u64>,
    pub(crate) stream: Option<u64>,
}

#[derive(Serialize)]
struct Json<'a> {
    ms: f64,
    to: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<u64>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
    bytes: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    odd: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Returns the lines of a message. `text` is the line, without secrets, if it is not a message.
pub(crate) fn message(
    display: Display,
    place: Place,
    seen: &Observation,
    text: Option<&str>,
) -> String {
    match display {
        Display::None => String::new(),
        Display::Json => json_message(place, seen, text),
        Display::Text | Display::Color => text_message(display, place, seen, text),
    }
}

/// Returns the line of a request without an answer.
pub(crate) fn missing(display: Display, place: Place, missing: &Missing) -> String {
    let (method, id) = (short(&missing.method), short(&missing.id));
    match display {
        Display::None => String::new(),
        Display::Json => json_line(&serde_json::json!({
            "ms": millis(place.at), "to": missing.direction.receiver(), "session": place.session,
            "kind": "unanswered", "id": missing.id, "method": missing.method, "age_ms": millis(missing.age),
        })),
        Display::Text | Display::Color => {
            let age = duration(missing.age);
            let text = format!("! no answer to {method} id {id} after {age}");
            format!("{}{}\n", head(place), paint(display, "31", &text))
        }
    }
}

/// Returns a line with a remark.
pub(crate) fn note(display: Display, at: Duration, note: &str) -> String {
    match display {
        Display::None => String::new(),
        Display::Json => json_line(&serde_json::json!({ "ms": millis(at), "note": note })),
        Display::Text | Display::Color => {
            let place = Place {
                at,
                session: None,
                stream: None,
            };
            format!("{}{}\n", head(place), paint(display, "33", &clean(note)))
        }
    }
}

/// Returns the last line.
pub(crate) fn summary(display: Display, at: Duration, counts: TapCounts) -> String {
    match display {
        Display::None => String::new(),
        Display::Json => json_line(&serde_json::json!({ "ms": millis(at), "summary": counts })),
        Display::Text | Display::Color => {
            let TapCounts {
                to_server,
                to_client,
                odd,
                unanswered,
                lost_bytes,
            } = counts;
            let mut text = format!(
                "{to_server} messages to the server, {to_client} to the client; {odd} odd; {unanswered} requests without an answer"
            );
            if lost_bytes > 0 {
                let _ = write!(text, "; {lost_bytes} bytes were passed on unseen");
            }
            note(display, at, &text)
        }
    }
}

fn json_message(place: Place, seen: &Observation, text: Option<&str>) -> String {
    let text = text.map(|text| text.chars().take(SHOWN_CHARS).collect::<String>());
    json_line(&Json {
        ms: millis(place.at),
        to: seen.direction.receiver(),
        session: place.session,
        stream: place.stream,
        kind: kind(seen.kind),
        id: seen.id.as_deref(),
        method: seen.method.as_deref(),
        name: seen.target.as_deref(),
        latency_ms: seen.latency.map(millis),
        bytes: seen.size,
        odd: seen.oddities.iter().map(|oddity| oddity.code()).collect(),
        text: text.as_deref(),
    })
}

fn text_message(display: Display, place: Place, seen: &Observation, text: Option<&str>) -> String {
    let arrow = match seen.direction {
        Direction::ToServer => "→",
        Direction::ToClient => "←",
    };
    let mut line = format!("{}{arrow} {}", head(place), label(seen));
    if let Some(id) = &seen.id {
        let _ = write!(line, "  id {}", short(id));
    }
    let _ = write!(line, "  {}", paint(display, "2", &size(seen.size)));
    if let Some(latency) = seen.latency {
        let _ = write!(line, "  {}", duration(latency));
    }
    if let Some(text) = text {
        let _ = write!(line, "  {}", short(text));
    }
    line.push('\n');
    for oddity in &seen.oddities {
        let text = short(&format!("! {oddity}"));
        let _ = writeln!(line, "{}{}", head(place), paint(display, "31", &text));
    }
    line
}

fn label(seen: &Observation) -> String {
    let names: Vec<String> = [&seen.method, &seen.target]
        .into_iter()
        .flatten()
        .map(|name| short(name))
        .collect();
    let names = names.join(" ");
    match seen.kind {
        MessageKind::Request | MessageKind::Notification => names,
        kind_of_answer if names.is_empty() => kind(kind_of_answer).to_owned(),
        kind_of_answer => format!("{}  {names}", kind(kind_of_answer)),
    }
}

fn kind(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Request => "request",
        MessageKind::Notification => "notification",
        MessageKind::Result => "result",
        MessageKind::Error => "error",
        MessageKind::Batch => "batch",
        MessageKind::Other => "other",
    }
}

fn head(place: Place) -> String {
    let mut head = format!("{:9.3} ", place.at.as_secs_f64());
    if let Some(stream) = place.stream {
        let _ = write!(head, "#{stream:<4} ");
    }
    head
}

fn paint(display: Display, code: &str, text: &str) -> String {
    match display {
        Display::Color => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn duration(time: Duration) -> String {
    match time.as_millis() {
        0..=9_999 => format!("{:.1} ms", millis(time)),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(SHOWN_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    clean(&cut)
}

/// Escapes characters that could move the cursor, change colours, or reverse the reading direction.
fn clean(text: &str) -> String {
    let is_unsafe = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unsafe(c) {
            true => safe.extend(c.escape_default()),
            false => safe.push(c),
        }
    }
    safe
}

fn json_line(value: &impl Serialize) -> String {
    // Its members are strings and numbers, so that it can always be written.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}
