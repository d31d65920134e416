//! Fields for text, numbers and booleans.

use serde::de::Error as _;
use serde::ser::{Serialize, Serializer};
use serde_json::Number;

use crate::Extra;
use crate::object::object;
use crate::open_enum::open_enum;
use crate::read::{Event, Kind, Read, ReadError, Source, deserialize_by_read, read_as};
use crate::tagged::tag;

/// A field for text.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StringSchema {
    r#type: StringType,
    /// Title of the field.
    pub title: Option<String>,
    /// Description of the field.
    pub description: Option<String>,
    /// Minimum number of characters.
    pub min_length: Option<u64>,
    /// Maximum number of characters.
    pub max_length: Option<u64>,
    /// A regular expression the text must match. The schemas do not list it, the prose does.
    pub pattern: Option<String>,
    /// Format of the text.
    pub format: Option<StringFormat>,
    /// Initial value of the field.
    pub default: Option<String>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(StringSchema {
    "type" => required r#type,
    "title" => optional title,
    "description" => optional description,
    "minLength" => optional min_length (read crate::number::optional_whole),
    "maxLength" => optional max_length (read crate::number::optional_whole),
    "pattern" => optional pattern,
    "format" => optional format,
    "default" => optional default,
});

tag! {
    /// The type of text.
    StringType = "string"
}

open_enum! {
    /// Format of the text in a field.
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date (RFC 3339 `full-date`).
        Date = "date",
        /// A point in time (RFC 3339 `date-time`).
        DateTime = "date-time",
    }
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Text of one kind.
    pub fn of_format(format: StringFormat) -> Self {
        Self {
            format: Some(format),
            ..Self::default()
        }
    }
}

/// A field for a number.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NumberSchema {
    /// Whether fractions are allowed.
    pub r#type: NumberKind,
    /// Title of the field.
    pub title: Option<String>,
    /// Description of the field.
    pub description: Option<String>,
    /// Minimum.
    pub minimum: Option<Number>,
    /// Maximum.
    pub maximum: Option<Number>,
    /// Initial value of the field.
    pub default: Option<Number>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(NumberSchema {
    "type" => required r#type,
    "title" => optional title,
    "description" => optional description,
    "minimum" => optional minimum,
    "maximum" => optional maximum,
    "default" => optional default,
});

/// Whether a number may have a fraction. Closed: other types are not numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// No fraction.
    Integer,
    /// Any number.
    Number,
}

impl Serialize for NumberKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Integer => "integer",
            Self::Number => "number",
        })
    }
}

impl Read for NumberKind {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "enum NumberKind";
        read_as(source, Kind::Text, EXPECTED, |event| match event {
            Event::Text(word) if word == "integer" => Ok(Self::Integer),
            Event::Text(word) if word == "number" => Ok(Self::Number),
            Event::Text(word) => Err(ReadError::of(&serde_json::Error::unknown_variant(
                &word,
                &["integer", "number"],
            ))),
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

deserialize_by_read!(NumberKind);

impl NumberSchema {
    /// A field for any number.
    pub fn number() -> Self {
        Self::of(NumberKind::Number)
    }

    /// A field for an integer.
    pub fn integer() -> Self {
        Self::of(NumberKind::Integer)
    }

    fn of(r#type: NumberKind) -> Self {
        Self {
            r#type,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
            extra: Extra::new(),
        }
    }
}

/// A field for a boolean.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct BooleanSchema {
    r#type: BooleanType,
    /// Title of the field.
    pub title: Option<String>,
    /// Description of the field.
    pub description: Option<String>,
    /// Initial value of the field.
    pub default: Option<bool>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(BooleanSchema {
    "type" => required r#type,
    "title" => optional title,
    "description" => optional description,
    "default" => optional default,
});

tag! {
    /// The type of a boolean.
    BooleanType = "boolean"
}

impl BooleanSchema {
    /// A field without a default.
    pub fn new() -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_field_of_a_format_states_the_format() {
        let schema = StringSchema::of_format(StringFormat::DateTime);
        let wire = serde_json::to_value(schema).unwrap();
        assert_eq!(wire, json!({"type": "string", "format": "date-time"}));
    }
}
