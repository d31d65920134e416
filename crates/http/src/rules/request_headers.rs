//! The headers of a request that rules read, found in one walk over the head.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::rules::headers::{self, HeaderError};

/// A header that rules read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Accept,
    ContentEncoding,
    ContentType,
    Host,
    Method,
    Name,
    Origin,
    ProtocolVersion,
    SessionId,
}

impl Known {
    const COUNT: usize = 9;

    fn named(name: &HeaderName) -> Option<Self> {
        Some(match name.as_str() {
            "accept" => Self::Accept,
            "content-encoding" => Self::ContentEncoding,
            "content-type" => Self::ContentType,
            "host" => Self::Host,
            "mcp-method" => Self::Method,
            "mcp-name" => Self::Name,
            "origin" => Self::Origin,
            "mcp-protocol-version" => Self::ProtocolVersion,
            "mcp-session-id" => Self::SessionId,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> HeaderName {
        match self {
            Self::Accept => header::ACCEPT,
            Self::ContentEncoding => header::CONTENT_ENCODING,
            Self::ContentType => header::CONTENT_TYPE,
            Self::Host => header::HOST,
            Self::Method => headers::METHOD,
            Self::Name => headers::NAME,
            Self::Origin => header::ORIGIN,
            Self::ProtocolVersion => headers::PROTOCOL_VERSION,
            Self::SessionId => headers::SESSION_ID,
        }
    }
}

/// The values of one header.
enum Values<'h> {
    None,
    One(&'h HeaderValue),
    /// More than one: they are looked up in the map.
    Several,
}

/// The headers of one request.
// Small, because the future of each answer has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestHeaders<'h> {
    map: &'h HeaderMap,
    values: [Option<&'h HeaderValue>; Known::COUNT],
    is_repeated: [bool; Known::COUNT],
}

impl<'h> RequestHeaders<'h> {
    /// Finds the known headers.
    pub(crate) fn of(map: &'h HeaderMap) -> Self {
        let (mut values, mut is_repeated) = ([None; Known::COUNT], [false; Known::COUNT]);
        for (name, value) in map {
            if let Some(header) = Known::named(name) {
                let earlier = values[header as usize].replace(value);
                is_repeated[header as usize] = earlier.is_some();
            }
        }
        Self {
            map,
            values,
            is_repeated,
        }
    }

    fn values(&self, header: Known) -> Values<'h> {
        match self.values[header as usize] {
            None => Values::None,
            Some(_) if self.is_repeated[header as usize] => Values::Several,
            Some(value) => Values::One(value),
        }
    }

    /// Returns the values of a header in their order.
    pub(crate) fn all(&self, header: Known) -> impl Iterator<Item = &'h HeaderValue> + use<'h> {
        let (one, several) = match self.values(header) {
            Values::None => (None, None),
            Values::One(value) => (Some(value), None),
            Values::Several => (None, Some(self.map.get_all(header.name()))),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }

    /// Returns true if the header has a value.
    pub(crate) fn has(&self, header: Known) -> bool {
        self.values[header as usize].is_some()
    }

    /// Returns true if the header has one value, and the value is exactly this text.
    pub(crate) fn is_exactly(&self, header: Known, text: &str) -> bool {
        matches!(self.values(header), Values::One(value) if value.as_bytes() == text.as_bytes())
    }

    /// Reads a header that may occur once, as [`headers::single`] does.
    ///
    /// # Errors
    ///
    /// As [`headers::single`].
    pub(crate) fn single(&self, header: Known) -> Result<Option<&'h str>, HeaderError> {
        match self.values(header) {
            Values::None => Ok(None),
            Values::One(value) => match headers::text(value) {
                Some(text) => Ok(Some(text)),
                None => Err(HeaderError::NotText(header.name())),
            },
            Values::Several => Err(HeaderError::Repeated(header.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Known; Known::COUNT] = [
        Known::Accept,
        Known::ContentEncoding,
        Known::ContentType,
        Known::Host,
        Known::Method,
        Known::Name,
        Known::Origin,
        Known::ProtocolVersion,
        Known::SessionId,
    ];

    #[test]
    fn each_known_header_has_its_name() {
        for header in ALL {
            assert_eq!(Known::named(&header.name()), Some(header));
        }
    }

    #[test]
    fn one_walk_finds_the_same_values_as_a_search_for_each() {
        let mut map = HeaderMap::new();
        for (name, value) in [
            ("accept", "application/json"),
            ("accept", "text/event-stream"),
            ("host", " localhost "),
            ("mcp-name", "caf\u{e9}"),
            ("x-other", "1"),
        ] {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
            map.append(name, value);
        }
        let found = RequestHeaders::of(&map);
        for header in ALL {
            let name = header.name();
            assert!(found.all(header).eq(map.get_all(&name)), "{name}");
            assert_eq!(found.has(header), map.contains_key(&name), "{name}");
            assert_eq!(found.single(header), headers::single(&map, &name), "{name}");
        }
    }
}
