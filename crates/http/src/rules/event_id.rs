//! Ids of SSE events (`Last-Event-ID`): a tag of the session, the stream, the position.

use std::fmt;

use crate::rules::session_id::SessionId;

/// The id of an event, unique in its session. Clients treat it as opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    /// Tag of the session, so that events of different sessions differ.
    pub(crate) tag: u32,
    /// Number of the stream in the session.
    pub(crate) stream: u64,
    /// Number of messages on the stream, with this one.
    pub(crate) position: u64,
}

impl EventId {
    /// Parses an id: three hexadecimal numbers in lower case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (tag, stream, position) = (parts.next()?, parts.next()?, parts.next()?);
        let id = Self {
            tag: u32::from_str_radix(tag, 16).ok()?,
            stream: u64::from_str_radix(stream, 16).ok()?,
            position: u64::from_str_radix(position, 16).ok()?,
        };
        // Other spellings of the same numbers are invalid.
        (id.to_string() == text).then_some(id)
    }

    /// Appends the displayed form of the id. It runs for every event, so it does not use `fmt`.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        self.write_stream(out);
        Self::write_position(out, self.position);
    }

    /// Appends the part that all events of the stream share.
    pub(crate) fn write_stream(self, out: &mut Vec<u8>) {
        write_hex(out, self.tag.into(), 8);
        out.push(b'-');
        write_hex(out, self.stream, 1);
        out.push(b'-');
    }

    /// Appends the part behind the stream.
    pub(crate) fn write_position(out: &mut Vec<u8>, position: u64) {
        write_hex(out, position, 1);
    }
}

/// Appends a number, padded to a minimum of digits.
fn write_hex(out: &mut Vec<u8>, number: u64, least: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let needed = (u64::BITS - number.leading_zeros()).div_ceil(4);
    let digits = (0..needed.max(least)).rev();
    out.extend(digits.map(|at| DIGITS[(number >> (4 * at)) as usize & 15]));
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-{:x}-{:x}", self.tag, self.stream, self.position)
    }
}

impl SessionId {
    /// Returns a tag that distinguishes the events of sessions. It does not help to guess the rest of
    /// the session id.
    pub(crate) fn tag(self) -> u32 {
        (self.bits() >> 96) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_it_is_displayed() {
        for bits in (0..64).step_by(3) {
            for number in [0, 1 << bits, (1 << bits) - 1, u64::MAX] {
                let id = EventId {
                    tag: number as u32,
                    stream: number,
                    position: number.rotate_left(7),
                };
                let mut written = Vec::new();
                id.write(&mut written);
                assert_eq!(String::from_utf8(written), Ok(id.to_string()));
            }
        }
    }

    // spec: 2025-11-25 TRANS-RESUME-03
    // hardening: H-189
    #[test]
    fn only_our_own_spelling_is_an_event() {
        let id = EventId {
            tag: 0xbeef,
            stream: 0x12,
            position: u64::MAX,
        };
        assert_eq!(id.to_string(), "0000beef-12-ffffffffffffffff");
        assert_eq!(EventId::parse(&id.to_string()), Some(id));
        let others = [
            "",
            "7",
            "beef-12-1",
            "0000beef-12",
            "0000beef-12-1-1",
            "0000BEEF-12-1",
            "0000beef-+12-1",
            "0000beef-012-1",
            "0000beef-12-10000000000000000",
            "0000beef-12-é",
        ];
        for text in others {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
