//! Reads server-sent events from bytes that arrive cut anywhere.

use std::time::Duration;

use bytes::Bytes;
use memchr::{memchr, memchr2};
use pintle_model::errors;

use crate::frame::{BYTE_ORDER_MARK, DEFAULT_MAX_BYTES, KEPT_BYTES};

/// The longest id of an event that is stored, in bytes: it is copied with every later event.
const MAX_ID_BYTES: usize = 4 * 1024;

/// Reads events; remembers the last event id and the retry hint of the stream.
///
/// Events without data are not returned, because they only carry an id. An event that is cut off
/// by the end of the stream is not returned either.
#[derive(Debug)]
pub struct Decoder {
    max: usize,
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    event: Parts,
    last_id: Option<Box<str>>,
    retry: Option<Duration>,
    is_start: bool,
    /// The last line ended with CR, so that an LF now belongs to it.
    after_return: bool,
    failed: bool,
}

/// An event that is being read.
#[derive(Debug, Default)]
struct Parts {
    data: Vec<u8>,
    has_data: bool,
    name: Option<Box<str>>,
    id: Option<Box<str>>,
}

/// One event that has data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The event's name; none is the same as `message`.
    pub name: Option<Box<str>>,
    /// The last id of the stream, this event's own included.
    pub id: Option<Box<str>>,
    /// The data; its lines joined by LF. Not checked to be UTF-8.
    pub data: Bytes,
}

errors! {
    /// An event went past the limit; the stream cannot be read any further.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct EventTooLongError {
        /// How long an event may be, in bytes.
        pub limit: usize,
    } => "the peer sent an event of more than {limit} bytes";
}

impl Decoder {
    /// Reads events of at most `max` bytes.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            line: Vec::new(),
            event: Parts::default(),
            last_id: None,
            retry: None,
            is_start: true,
            after_return: false,
            failed: false,
        }
    }

    /// Continues a stream after the event `last_id`.
    #[must_use]
    pub fn resuming(mut self, last_id: Option<&str>) -> Self {
        self.last_id = last_id.map(Box::from);
        self
    }

    /// Reads from the front of `chunk` to the end of the next event; nothing when the chunk is
    /// used up. Call it until then.
    ///
    /// # Errors
    ///
    /// [`EventTooLongError`] once an event went past the limit, and ever after.
    pub fn decode(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>, EventTooLongError> {
        while !chunk.is_empty() && !self.failed {
            if std::mem::take(&mut self.after_return) && chunk[0] == b'\n' {
                *chunk = &chunk[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                self.keep(std::mem::take(chunk));
                continue;
            };
            let (line, rest) = chunk.split_at(end);
            self.after_return = rest[0] == b'\r';
            *chunk = &rest[1..];
            if let Some(event) = self.end_line(line) {
                return Ok(Some(event));
            }
        }
        if self.failed {
            Err(EventTooLongError { limit: self.max })
        } else {
            Ok(None)
        }
    }

    /// The id to resume the stream after.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns the pause before the next connection that the server requested.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn fits(&mut self, more: usize) -> bool {
        self.failed |= self.event.data.len() + self.line.len() + more > self.max;
        !self.failed
    }

    fn keep(&mut self, start: &[u8]) {
        if self.fits(start.len()) {
            self.line.extend_from_slice(start);
        }
    }

    fn end_line(&mut self, end: &[u8]) -> Option<Event> {
        if !self.fits(end.len()) {
            return None;
        }
        if self.line.is_empty() {
            return self.read_line(end);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let event = self.read_line(&line);
        if line.capacity() <= KEPT_BYTES {
            line.clear();
            self.line = line;
        }
        event
    }

    fn read_line(&mut self, line: &[u8]) -> Option<Event> {
        let is_start = std::mem::take(&mut self.is_start);
        let marked = is_start
            .then(|| line.strip_prefix(BYTE_ORDER_MARK))
            .flatten();
        let line = marked.unwrap_or(line);
        if line.is_empty() {
            return self.dispatch();
        }
        let (name, value) = line.split_at(memchr(b':', line).unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        self.read_field(name, value.strip_prefix(b" ").unwrap_or(value));
        None
    }

    fn read_field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"data" => self.event.add_data(value),
            b"event" => self.event.name = Some(text_of(value)),
            // An id that is too long to be stored is cleared, because a stream cannot resume after
            // it.
            b"id" if value.len() > MAX_ID_BYTES => self.event.id = Some(Box::default()),
            b"id" if !value.contains(&0) => self.event.id = Some(text_of(value)),
            b"retry" => self.retry = milliseconds(value).or(self.retry),
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<Event> {
        let parts = std::mem::take(&mut self.event);
        if let Some(id) = parts.id {
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        (!parts.data.is_empty()).then(|| Event {
            name: parts.name.filter(|name| !name.is_empty()),
            id: self.last_id.clone(),
            data: parts.data.into(),
        })
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_BYTES)
    }
}

impl Parts {
    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }
}

fn text_of(value: &[u8]) -> Box<str> {
    String::from_utf8_lossy(value).into()
}

fn milliseconds(value: &[u8]) -> Option<Duration> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = is_number.then(|| str::from_utf8(value).ok()).flatten()?;
    Some(Duration::from_millis(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(decoder: &mut Decoder, pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut events = Vec::new();
        for piece in pieces {
            let mut piece: &[u8] = piece;
            while let Some(event) = decoder.decode(&mut piece).unwrap() {
                let data = String::from_utf8(event.data.to_vec()).unwrap();
                events.push((event.id.map(String::from), data));
            }
        }
        events
    }

    fn read(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        read_with(&mut Decoder::default(), pieces)
    }

    fn data(pieces: &[&[u8]]) -> Vec<String> {
        read(pieces).into_iter().map(|(_, data)| data).collect()
    }

    const STREAM: &str = "\u{feff}: hello\nid: 1\ndata: {\"a\":\ndata:\"ä€😀\"}\n\nid: 2\ndata:\n\nretry: 250\nevent: message\n\
                          unknown: x\ndata: b\n\nid\ndata: c\n\nid: never\ndata: cut";

    // spec: 2026-07-28 N-SUBS-20
    // hardening: H-154
    #[test]
    fn every_line_end_gives_the_same_events() {
        let expected = ["{\"a\":\n\"ä€😀\"}", "b", "c"];
        for end in ["\n", "\r", "\r\n"] {
            assert_eq!(
                data(&[STREAM.replace('\n', end).as_bytes()]),
                expected,
                "with {end:?}"
            );
        }
        let mixed = STREAM.replacen('\n', "\r\n", 3).replacen("\n\n", "\n\r", 2);
        assert_eq!(data(&[mixed.as_bytes()]), expected);
    }

    // hardening: H-154, H-155
    #[test]
    fn events_do_not_depend_on_how_the_bytes_were_cut() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = STREAM.replace('\n', end);
            let stream = stream.as_bytes();
            let whole = read(&[stream]);
            let single: Vec<_> = stream.chunks(1).collect();
            assert_eq!(read(&single), whole);
            for first in 0..stream.len() {
                for second in first..stream.len() {
                    let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                    assert_eq!(
                        read(&pieces),
                        whole,
                        "cut at {first} and {second} with {end:?}"
                    );
                }
            }
        }
    }

    // hardening: H-156
    #[test]
    fn ids_are_remembered_also_from_events_without_data() {
        let mut decoder = Decoder::default();
        assert_eq!(read_with(&mut decoder, &[b"id: 7\ndata:\n\n"]), []);
        assert_eq!(decoder.last_id(), Some("7"));
        assert_eq!(
            read_with(&mut decoder, &[b"data: x\n\n"]),
            [(Some("7".into()), "x".into())]
        );
        assert_eq!(read_with(&mut decoder, &[b"id: 8\ndata: cut"]), []);
        assert_eq!(
            decoder.last_id(),
            Some("7"),
            "an event that is not complete has not happened"
        );
        assert_eq!(
            read_with(&mut decoder, &[b"\n\nid: a\0b\n\nid:\n\n"]).len(),
            1
        );
        assert_eq!(decoder.last_id(), None);
    }

    // hardening: H-157
    #[test]
    fn an_id_that_is_too_long_is_ignored() {
        let mut decoder = Decoder::default();
        let id = "x".repeat(MAX_ID_BYTES);
        read_with(&mut decoder, &[format!("id: {id}\ndata: a\n\n").as_bytes()]);
        assert_eq!(decoder.last_id(), Some(&*id));
        read_with(
            &mut decoder,
            &[format!("id: {id}x\ndata: a\n\n").as_bytes()],
        );
        assert_eq!(decoder.last_id(), None);
    }

    // hardening: H-156
    #[test]
    fn only_digits_are_a_retry_hint() {
        let mut decoder = Decoder::default();
        read_with(
            &mut decoder,
            &[b"retry: 250\nretry: 1.5\nretry:\nretry: -3\n"],
        );
        assert_eq!(decoder.retry(), Some(Duration::from_millis(250)));
        read_with(&mut decoder, &[b"retry:99999999999999999999999\n"]);
        assert_eq!(decoder.retry(), Some(Duration::from_millis(u64::MAX)));
    }

    // hardening: H-157
    #[test]
    fn an_event_that_never_ends_fails_at_the_limit_and_is_not_kept() {
        let mut decoder = Decoder::new(1024);
        let failure = Err(EventTooLongError { limit: 1024 });
        assert_eq!(decoder.decode(&mut &[b'x'; 1000][..]), Ok(None));
        assert_eq!(decoder.decode(&mut &[b'x'; 1000][..]), failure);
        assert!(decoder.line.capacity() < 4096);
        assert_eq!(decoder.decode(&mut &b"\n\ndata: x\n\n"[..]), failure);
    }

    // hardening: H-157
    #[test]
    fn many_small_data_lines_are_bounded_together() {
        let mut decoder = Decoder::new(1024);
        let line = b"data: 0123456789\n";
        let failed = (0..1000).find(|_| decoder.decode(&mut &line[..]).is_err());
        assert_eq!(failed, Some(92));
    }

    #[test]
    fn the_decoder_reads_the_output_of_the_encoder() {
        let mut out = Vec::new();
        super::super::write_comment(&mut out, "alive");
        super::super::write_event(&mut out, Some("1"), None, &[b"a\nb", b"c"]);
        assert_eq!(read(&[&out]), [(Some("1".into()), "a\nbc".into())]);
    }
}
