//! Messages on an HTTP stream: server-sent events.
//!
//! Writing is three functions; reading is a [`Decoder`].
//!
//! Format: [WHATWG HTML, section 9.2][format].
//!
//! [format]: https://html.spec.whatwg.org/multipage/server-sent-events.html

use std::time::Duration;

use memchr::memchr2;

mod decoder;

pub use decoder::{Decoder, Event, EventTooLongError};

/// Writes an event whose data is the concatenation of `data`.
///
/// Line breaks in the data are kept as several data lines, which every reader joins again by LF.
/// What cannot stand in `id` or `event` (line breaks, NUL) is left out.
pub fn write_event(out: &mut Vec<u8>, id: Option<&str>, event: Option<&str>, data: &[&[u8]]) {
    let room: usize = data.iter().map(|part| part.len()).sum();
    out.reserve(room + 64);
    if let Some(event) = event {
        write_field(out, b"event: ", event);
    }
    if let Some(id) = id {
        write_field(out, b"id: ", id);
    }
    write_data(out, data);
    out.extend_from_slice(b"\n\n");
}

/// Writes a comment, which readers ignore: it keeps a quiet stream alive.
pub fn write_comment(out: &mut Vec<u8>, text: &str) {
    write_field(out, b": ", text);
    out.push(b'\n');
}

/// Writes how long the reader waits before it connects again.
pub fn write_retry(out: &mut Vec<u8>, wait: Duration) {
    write_field(out, b"retry: ", &wait.as_millis().to_string());
    out.push(b'\n');
}

fn write_field(out: &mut Vec<u8>, name: &[u8], value: &str) {
    out.extend_from_slice(name);
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0);
    for piece in value.as_bytes().split(is_break) {
        out.extend_from_slice(piece);
    }
    out.push(b'\n');
}

fn write_data(out: &mut Vec<u8>, data: &[&[u8]]) {
    out.extend_from_slice(b"data: ");
    for part in data {
        let mut rest: &[u8] = part;
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            out.extend_from_slice(&rest[..end]);
            out.extend_from_slice(b"\ndata: ");
            rest = &rest[end + 1..];
        }
        out.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_event_has_its_id_its_name_and_its_data() {
        let event =
            written(|out| write_event(out, Some("7"), Some("message"), &[b"{\"a\":", b"1}"]));
        assert_eq!(event, "event: message\nid: 7\ndata: {\"a\":1}\n\n");
    }

    #[test]
    fn a_priming_event_has_an_id_and_no_data() {
        assert_eq!(
            written(|out| write_event(out, Some("7"), None, &[])),
            "id: 7\ndata: \n\n"
        );
    }

    #[test]
    fn nothing_that_is_written_breaks_out_of_its_field() {
        let event =
            written(|out| write_event(out, Some("7\nretry: 1"), None, &[b"a\n", b"b\r\rid: 8"]));
        assert_eq!(
            event,
            "id: 7retry: 1\ndata: a\ndata: b\ndata: \ndata: id: 8\n\n"
        );
    }

    #[test]
    fn comments_and_retries_are_complete_blocks() {
        assert_eq!(written(|out| write_comment(out, "alive")), ": alive\n\n");
        assert_eq!(
            written(|out| write_retry(out, Duration::from_secs(3))),
            "retry: 3000\n\n"
        );
    }
}
