//! Fields for text, numbers and booleans.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::Extra;
use crate::open_enum::open_enum;
use crate::tagged::tag;

/// A field for text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringSchema {
    r#type: StringType,
    /// Title of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Minimum number of characters.
    #[serde(
        default,
        deserialize_with = "crate::number::optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub min_length: Option<u64>,
    /// Maximum number of characters.
    #[serde(
        default,
        deserialize_with = "crate::number::optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_length: Option<u64>,
    /// A regular expression the text must match. The schemas do not list it, the prose does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Format of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// Initial value of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NumberSchema {
    /// Whether fractions are allowed.
    pub r#type: NumberKind,
    /// Title of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// Maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// Initial value of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Number>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Whether a number may have a fraction. Closed: other types are not numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    /// No fraction.
    Integer,
    /// Any number.
    Number,
}

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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BooleanSchema {
    r#type: BooleanType,
    /// Title of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Initial value of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

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
