//! Shapes of JSON values.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

/// The first fault of a value, as a text about its place.
pub(crate) type Fault = Option<String>;

/// Returns a fault unless the member is a text.
pub(crate) fn text(value: &Value, name: &str) -> Fault {
    match value.get(name) {
        Some(Value::String(_)) => None,
        found => Some(not(name, "a text", found)),
    }
}

/// Returns a fault if the member is present and is not a text.
pub(crate) fn optional_text(value: &Value, name: &str) -> Fault {
    value.get(name).and_then(|_| text(value, name))
}

/// Returns a fault unless the member is an object.
pub(crate) fn object(value: &Value, name: &str) -> Fault {
    match value.get(name) {
        Some(Value::Object(_)) => None,
        found => Some(not(name, "an object", found)),
    }
}

/// Returns a fault if the member is present and is not a boolean.
pub(crate) fn optional_bool(value: &Value, name: &str) -> Fault {
    match value.get(name) {
        None | Some(Value::Bool(_)) => None,
        found => Some(not(name, "a boolean", found)),
    }
}

/// Returns a fault if the member is present and is not a number from 0.
pub(crate) fn optional_count(value: &Value, name: &str) -> Fault {
    match value.get(name) {
        None => None,
        Some(Value::Number(number)) if number.as_f64().is_some_and(|number| number >= 0.0) => None,
        found => Some(not(name, "a number from 0", found)),
    }
}

/// Returns a fault unless the member is a list.
pub(crate) fn list(value: &Value, name: &str) -> Fault {
    match value.get(name) {
        Some(Value::Array(_)) => None,
        found => Some(not(name, "a list", found)),
    }
}

/// Returns the entries of a member that is a list.
pub(crate) fn entries<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn not(name: &str, expected: &str, found: Option<&Value>) -> String {
    match found {
        Some(found) => format!("`{name}` is not {expected}: {}", crate::text::shown(found)),
        None => format!("`{name}` is missing"),
    }
}

/// Returns a fault unless the member is Base64, with or without padding.
pub(crate) fn base64(value: &Value, name: &str) -> Fault {
    if let Some(fault) = text(value, name) {
        return Some(fault);
    }
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let data = value.get(name).and_then(Value::as_str).unwrap_or_default();
    let engines = [&STANDARD, &URL_SAFE].map(|alphabet| GeneralPurpose::new(alphabet, config));
    match engines.iter().any(|engine| engine.decode(data).is_ok()) {
        true => None,
        false => Some(format!("`{name}` is not Base64")),
    }
}

/// Returns a fault unless the member is a media type.
pub(crate) fn media_type(value: &Value, name: &str) -> Fault {
    let is_media = |text: &str| {
        let essence = text.split(';').next().unwrap_or_default().trim();
        let mut parts = essence.split('/');
        let is_part = |part: Option<&str>| part.is_some_and(|part| !part.is_empty());
        is_part(parts.next()) && is_part(parts.next()) && parts.next().is_none()
    };
    match value.get(name).and_then(Value::as_str) {
        Some(text) if is_media(text) => None,
        _ => Some(not(name, "a media type", value.get(name))),
    }
}

/// Returns a fault unless the member is a URI with a scheme.
pub(crate) fn uri(value: &Value, name: &str) -> Fault {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let is_clean = |rest: &str| !rest.chars().any(|c| c.is_control() || c == ' ');
    match value
        .get(name)
        .and_then(Value::as_str)
        .and_then(|uri| uri.split_once(':'))
    {
        Some((scheme, rest)) if is_scheme(scheme) && is_clean(rest) => None,
        _ => Some(not(name, "a URI", value.get(name))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_flavour_of_base64_is_accepted() {
        for data in ["", "AA==", "AA", "_-8=", "/+8="] {
            assert_eq!(base64(&json!({ "d": data }), "d"), None, "{data}");
        }
        assert!(base64(&json!({ "d": "a b" }), "d").is_some());
    }

    #[test]
    fn uris_have_a_scheme() {
        for good in ["file:///a", "urn:x", "custom+x://a/%20"] {
            assert_eq!(uri(&json!({ "u": good }), "u"), None, "{good}");
        }
        for bad in ["a", "/a", "1a:b", "a b:c", "x:a b"] {
            assert!(uri(&json!({ "u": bad }), "u").is_some(), "{bad}");
        }
    }

    #[test]
    fn media_types_have_two_parts() {
        assert_eq!(media_type(&json!({ "m": "text/plain; a=b" }), "m"), None);
        for bad in ["", "text", "a/b/c", "/x"] {
            assert!(media_type(&json!({ "m": bad }), "m").is_some(), "{bad}");
        }
    }
}
