//! Names of events: which stream of which session, and where on it.

use std::fmt;

use crate::rules::session_id::SessionId;

/// The name of an event, unique among the events of its session. For clients it is opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    /// Of the session, so that the events of two do not look alike.
    pub(crate) tag: u32,
    /// The stream among those of the session.
    pub(crate) stream: u64,
    /// How many messages the stream has carried, this one included.
    pub(crate) position: u64,
}

impl EventId {
    /// Reads a name as we write it: three hexadecimal numbers in lower case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (tag, stream, position) = (parts.next()?, parts.next()?, parts.next()?);
        let id = Self {
            tag: u32::from_str_radix(tag, 16).ok()?,
            stream: u64::from_str_radix(stream, 16).ok()?,
            position: u64::from_str_radix(position, 16).ok()?,
        };
        // Other spellings of the same numbers are not ours.
        (id.to_string() == text).then_some(id)
    }

    /// Adds the name, as it is displayed: this is done for every event.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        write_hex(out, self.tag.into(), 8);
        out.push(b'-');
        write_hex(out, self.stream, 1);
        out.push(b'-');
        write_hex(out, self.position, 1);
    }
}

/// Adds a number in at least so many digits.
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
    /// Tells this session's events from another's. What it shows of the name is no help in guessing
    /// the rest.
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
