//! Parameters of an operation, and their texts in a request.

use serde_json::Value;

use crate::error::UnsupportedOperationError;

/// A parameter that the caller fills.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// The name of the argument.
    pub(crate) argument: Box<str>,
    /// The name in the request.
    pub(crate) name: Box<str>,
    pub(crate) place: Place,
    pub(crate) style: Style,
}

/// The place of a parameter in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

impl Place {
    pub(crate) const ALL: [Self; 3] = [Self::Path, Self::Query, Self::Header];

    pub(crate) fn of(parameter: &Value) -> Option<Self> {
        match parameter["in"].as_str()? {
            "path" => Some(Self::Path),
            "query" => Some(Self::Query),
            "header" => Some(Self::Header),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
        }
    }
}

/// The form of a value that is a list or an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Items between separators. An object has its names and values as items.
    Joined(&'static str),
    /// As `Joined(",")`, but an object has items `name=value`.
    Pairs,
    /// One parameter for each item, or for each member of an object.
    Exploded,
    /// One parameter `name[member]` for each member.
    Deep,
    /// The value as JSON text.
    Json,
}

impl Style {
    /// Returns the style of a parameter; `None` for a style that is not supported at its place.
    pub(crate) fn of(parameter: &Value, place: Place) -> Option<Self> {
        if parameter.get("content").is_some() {
            return Some(Self::Json);
        }
        let usual = if place == Place::Query {
            "form"
        } else {
            "simple"
        };
        let style = parameter["style"].as_str().unwrap_or(usual);
        let explode = parameter["explode"].as_bool().unwrap_or(style == "form");
        match (place, style) {
            (Place::Query, "form") if explode => Some(Self::Exploded),
            (Place::Query, "form") => Some(Self::Joined(",")),
            (Place::Query, "spaceDelimited") => Some(Self::Joined("%20")),
            (Place::Query, "pipeDelimited") => Some(Self::Joined("%7C")),
            (Place::Query, "deepObject") => Some(Self::Deep),
            (Place::Path | Place::Header, "simple") if explode => Some(Self::Pairs),
            (Place::Path | Place::Header, "simple") => Some(Self::Joined(",")),
            _ => None,
        }
    }

    /// Returns the value as one text. `encode` is applied to each part of it.
    pub(crate) fn text(self, value: &Value, encode: fn(&str) -> String) -> String {
        let (separator, is_between) = match self {
            Self::Json => return encode(&value.to_string()),
            Self::Joined(separator) => (separator, separator),
            Self::Pairs | Self::Exploded | Self::Deep => (",", "="),
        };
        let scalar = |value: &Value| encode(&scalar(value));
        let items: Vec<String> = match value {
            Value::Array(items) => items.iter().map(scalar).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| format!("{}{is_between}{}", encode(name), scalar(value)))
                .collect(),
            other => vec![scalar(other)],
        };
        items.join(separator)
    }
}

/// Returns the text of a value. Lists and objects in lists are JSON.
pub(crate) fn scalar(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Headers that OpenAPI reserves, or that HTTP clients set.
const RESERVED: [&str; 16] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Returns true if an argument may be the value of this header.
pub(crate) fn is_free_header(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty()
        && name.bytes().all(is_token)
        && !RESERVED.contains(&&*name.to_ascii_lowercase())
}

/// Returns the schema of a parameter.
pub(crate) fn schema(parameter: &Value) -> Result<&Value, UnsupportedOperationError> {
    let of_content = || {
        let content = parameter["content"].as_object()?;
        content.values().next()?.get("schema")
    };
    let schema = parameter.get("schema").or_else(of_content);
    schema.ok_or_else(|| UnsupportedOperationError::malformed("schema"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::encode::encode;

    #[test]
    fn lists_and_objects_have_the_form_of_their_style() {
        let (list, object) = (json!(["a b", 2, true]), json!({ "x": 1, "y": "é" }));
        assert_eq!(Style::Joined(",").text(&list, encode), "a%20b,2,true");
        assert_eq!(Style::Joined("%7C").text(&list, encode), "a%20b%7C2%7Ctrue");
        assert_eq!(Style::Joined(",").text(&object, encode), "x,1,y,%C3%A9");
        assert_eq!(Style::Pairs.text(&object, encode), "x=1,y=%C3%A9");
        assert_eq!(Style::Json.text(&json!([1]), encode), "%5B1%5D");
        assert_eq!(Style::Exploded.text(&json!("a,b"), encode), "a%2Cb");
    }

    #[test]
    fn styles_of_another_place_are_not_supported() {
        assert_eq!(Style::of(&json!({ "style": "matrix" }), Place::Path), None);
        assert_eq!(Style::of(&json!({}), Place::Query), Some(Style::Exploded));
        assert_eq!(
            Style::of(&json!({ "explode": false }), Place::Query),
            Some(Style::Joined(","))
        );
        assert_eq!(
            Style::of(&json!({ "content": {} }), Place::Query),
            Some(Style::Json)
        );
    }

    #[test]
    fn headers_of_the_connection_are_not_arguments() {
        assert!(is_free_header("X-Tenant"));
        for name in ["Host", "cookie", "Content-Length", "a b", "x:y", ""] {
            assert!(!is_free_header(name), "{name}");
        }
    }
}
