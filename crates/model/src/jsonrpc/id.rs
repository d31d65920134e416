//! Names of requests and of progress: a string or an integer, never null.

use crate::read::{
    Event, Kind, Read, ReadError, Source, as_inner, deserialize_by_read, from_text, read_as,
};
use std::fmt;

use serde::{Serialize, Serializer};

/// The largest integer that a double holds exactly; integers spelled as floats end here.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The id of a request, echoed by its response with its JSON type.
///
/// Integers of 64 bits with a sign are kept digit for digit; larger ones and fractions are refused
/// when read. An integer spelled as a float (`1.0`) is that integer.
///
/// Spec: [2026-07-28, Base protocol, Requests][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// A number on the wire.
    Integer(i64),
    /// A string on the wire; `"1"` is not `1`.
    String(Box<str>),
}

impl RequestId {
    /// Reads an id from its JSON text; none if it is not a string or an integer of 64 bits.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        from_text(text).ok()
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.into())
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::String(id.into())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => id.fmt(f),
            Self::String(id) => id.fmt(f),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(id) => serializer.serialize_i64(*id),
            Self::String(id) => serializer.serialize_str(id),
        }
    }
}

impl Read for RequestId {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "a string or an integer";
        read_as(source, Kind::Any, EXPECTED, |event| match event {
            Event::Signed(id) => Ok(Self::Integer(id)),
            Event::Unsigned(id) => i64::try_from(id)
                .map(Self::Integer)
                .map_err(|_| event.wrong_value(EXPECTED)),
            Event::Float(id) if id.fract() == 0.0 && id.abs() <= EXACT_FLOAT => {
                Ok(Self::Integer(id as i64))
            }
            Event::Float(_) => Err(event.wrong_value(EXPECTED)),
            Event::Text(id) => Ok(Self::String(id.into())),
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

deserialize_by_read!(RequestId);

/// Token that a requester chooses to receive progress notifications.
///
/// Spec: [2026-07-28, Progress][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgressToken(pub RequestId);

as_inner!(ProgressToken(RequestId));

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-BASE-02, N-BASE-04
    // spec: 2025-11-25 MSG-02, MSG-06, AMB-02
    // hardening: H-98, H-99
    #[test]
    fn an_id_is_echoed_digit_for_digit_with_its_type() {
        for text in [
            "0",
            "-1",
            "9007199254740993",
            "9223372036854775807",
            "-9223372036854775808",
            "\"1\"",
            "\"\"",
        ] {
            let id = RequestId::from_json(text).expect(text);
            assert_eq!(serde_json::to_string(&id).expect("writes"), text);
        }
        assert_eq!(RequestId::from_json("1.0"), Some(RequestId::Integer(1)));
    }

    // spec: 2025-11-25 MSG-03, AMB-02
    // hardening: H-97, H-98
    #[test]
    fn an_id_must_be_a_string_or_an_integer() {
        for text in [
            "null",
            "true",
            "{}",
            "[]",
            "1.5",
            "1e30",
            "18446744073709551616",
            "9223372036854775808",
        ] {
            assert_eq!(RequestId::from_json(text), None, "{text}");
        }
    }
}
