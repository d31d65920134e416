//! Lists in pages.
//!
//! Spec: [2026-07-28, Pagination](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination).

use std::fmt;

use crate::fit::always_fits;
use crate::object::object;
use crate::read::as_inner;
use crate::{Extra, Meta};

/// Position of the next page of a list. Opaque to clients; the empty text is a cursor too.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cursor(Box<str>);

as_inner!(Cursor(Box<str>));

impl Cursor {
    /// Creates a cursor from any text.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Cursor {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Cursor {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parameters of every list request.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListParams {
    /// Cursor of the requested page; the first page if missing.
    pub cursor: Option<Cursor>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ListParams {
    "cursor" => optional cursor,
    "_meta" => optional meta,
});

impl ListParams {
    /// Requests the page at `cursor`.
    pub fn from_cursor(cursor: impl Into<Cursor>) -> Self {
        Self {
            cursor: Some(cursor.into()),
            ..Self::default()
        }
    }
}

always_fits!(ListParams);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2026-07-28 N-PAGE-03
    // spec: 2025-11-25 AMB-51
    #[test]
    fn an_empty_cursor_is_kept_and_a_null_cursor_is_missing() {
        let empty: ListParams = serde_json::from_value(json!({"cursor": ""})).unwrap();
        let null: ListParams = serde_json::from_value(json!({"cursor": null})).unwrap();

        assert_eq!(empty, ListParams::from_cursor(""));
        assert_eq!(null, ListParams::default());
        assert_eq!(serde_json::to_value(&null).unwrap(), json!({}));
    }
}
