//! The id of a session, as the server sent it.

use std::fmt;

use http::{HeaderMap, HeaderValue};

use crate::rules::headers::SESSION_ID;

/// Maximum length of an id, in bytes.
const MAX_BYTES: usize = 4096;

/// A session id of visible ASCII characters. It is never logged, because its holder can use the session.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionId(HeaderValue);

/// A session id that cannot be sent in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionIdError;

impl SessionId {
    /// Reads the id in the head of a response to `initialize`; `None` without a session.
    ///
    /// # Errors
    ///
    /// [`SessionIdError`] for two ids, for an empty one, and for one with other characters than
    /// visible ASCII.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, SessionIdError> {
        let mut values = headers.get_all(SESSION_ID).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => Self::read(value).map(Some),
            _ => Err(SessionIdError),
        }
    }

    pub(crate) fn read(value: &HeaderValue) -> Result<Self, SessionIdError> {
        let bytes = value.as_bytes();
        let is_visible = bytes.iter().all(u8::is_ascii_graphic);
        if bytes.is_empty() || bytes.len() > MAX_BYTES || !is_visible {
            return Err(SessionIdError);
        }
        let mut value = value.clone();
        value.set_sensitive(true);
        Ok(Self(value))
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&[u8]]) -> Result<Option<SessionId>, SessionIdError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(SESSION_ID, HeaderValue::from_bytes(value).expect("a value"));
        }
        SessionId::of(&headers)
    }

    // spec: 2025-11-25 TRANS-SESS-03, TRANS-SESS-04
    #[test]
    fn only_visible_characters_are_an_id() {
        assert_eq!(of(&[]), Ok(None));
        assert!(of(&[b"!a-Z~"]).is_ok_and(|id| id.is_some()));
        let long = [b'x'; MAX_BYTES + 1];
        assert!(of(&[&long[1..]]).is_ok());
        for bad in [
            &[&b""[..]][..],
            &[b"a b"],
            &[b"a\tb"],
            &[b"caf\xe9"],
            &[b"a", b"a"],
            &[&long],
        ] {
            assert_eq!(of(bad), Err(SessionIdError));
        }
    }

    // hardening: H-46
    #[test]
    fn an_id_is_not_shown() {
        let id = of(&[b"secret"]).expect("valid").expect("an id");
        let request = http::Request::builder()
            .header(SESSION_ID, id.header())
            .body(());
        assert!(!format!("{id:?} {request:?}").contains("secret"));
    }
}
