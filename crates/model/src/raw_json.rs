//! A JSON value as text.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A JSON value as text, borrowed from a message whose syntax was checked.
///
/// Unlike [`RawValue`], it is made without a second reading of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawJson<'a>(&'a str);

impl<'a> RawJson<'a> {
    /// An object without members.
    pub const EMPTY_OBJECT: Self = Self("{}");

    /// `text` is one JSON value without spaces around it.
    pub(crate) fn checked(text: &'a str) -> Self {
        Self(text)
    }

    /// Returns the JSON text.
    #[inline]
    pub fn get(self) -> &'a str {
        self.0
    }

    /// Returns true if the value is null.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns the text of a JSON string, borrowed if it has no escapes; `None` for other values, and
    /// for escapes that are not characters.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        // Most texts are names, which are too short for the search of `memchr`.
        if !inner.as_bytes().contains(&b'\\') {
            return Some(Cow::Borrowed(inner));
        }
        self.decode::<String>().ok().map(Cow::Owned)
    }

    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// The error of the type's deserializer.
    pub fn decode<T: Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.0)
    }

    /// Returns an owned copy for serde. It reads the text once more.
    pub fn to_raw_value(self) -> Box<RawValue> {
        RawValue::from_string(self.0.to_owned()).expect("the text was checked")
    }
}

impl<'a> From<&'a RawValue> for RawJson<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_string_is_borrowed_if_it_has_no_escapes() {
        let text = |json: &'static str| RawJson::checked(json).as_text();
        assert!(matches!(text(r#""abc""#), Some(Cow::Borrowed("abc"))));
        assert_eq!(text(r#""a\u0062\"""#).as_deref(), Some("ab\""));
        for other in ["7", "null", r#"["a"]"#, r#""\ud800""#] {
            assert_eq!(text(other), None, "{other}");
        }
    }
}
