//! The scopes that a caller needs for an operation.

use serde_json::Value;

use crate::error::UnsupportedOperationError;

/// Maximum number of scopes of an operation.
const MAX_SCOPES: usize = 64;

/// Maximum length of a scope, in bytes.
const MAX_SCOPE_BYTES: usize = 256;

type Result<T> = std::result::Result<T, UnsupportedOperationError>;

/// Returns all scopes of all alternatives of the security requirement. This is stricter than one alternative, because the
/// principal does not name the scheme that its scopes belong to.
pub(crate) fn of_security(document: &Value, operation: &Value) -> Result<Vec<Box<str>>> {
    let Some(requirements) = operation
        .get("security")
        .or_else(|| document.get("security"))
    else {
        return Ok(Vec::new());
    };
    let malformed = || UnsupportedOperationError::malformed("security");
    let mut scopes = Vec::new();
    for requirement in requirements.as_array().ok_or_else(malformed)? {
        for listed in requirement.as_object().ok_or_else(malformed)?.values() {
            extend(&mut scopes, listed, malformed)?;
        }
    }
    Ok(scopes)
}

/// Returns the scopes of a member such as `x-scopes`: a list, or a text with blanks.
pub(crate) fn of_member(operation: &Value, member: &str) -> Result<Vec<Box<str>>> {
    let mut scopes = Vec::new();
    match operation.get(member) {
        None => {}
        Some(Value::String(text)) => {
            scopes.extend(text.split_ascii_whitespace().map(Into::into));
        }
        Some(listed) => extend(&mut scopes, listed, || {
            UnsupportedOperationError::malformed(member)
        })?,
    }
    Ok(scopes)
}

/// Adds the texts of a list. Another value is an error, because an operation without its scopes would be open to all callers.
fn extend(
    scopes: &mut Vec<Box<str>>,
    listed: &Value,
    malformed: impl Fn() -> UnsupportedOperationError + Copy,
) -> Result<()> {
    for scope in listed.as_array().ok_or_else(malformed)? {
        let scope = scope.as_str().ok_or_else(malformed)?;
        if scope.len() > MAX_SCOPE_BYTES || scopes.len() >= MAX_SCOPES {
            return Err(malformed());
        }
        if !scopes.iter().any(|own| **own == *scope) {
            scopes.push(scope.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_scopes_of_all_alternatives_are_required() {
        let document = json!({ "security": [{ "oauth": ["read"] }] });
        let of =
            |operation: Value| of_security(&document, &operation).map(|scopes| scopes.join(" "));
        assert_eq!(of(json!({})).as_deref().ok(), Some("read"));
        assert_eq!(of(json!({ "security": [] })).as_deref().ok(), Some(""));
        let either = json!({ "security": [{ "oauth": ["read", "write"] }, { "oauth": ["admin", "read"] }, {}] });
        assert_eq!(of(either).as_deref().ok(), Some("read write admin"));
    }

    #[test]
    fn malformed_scopes_are_an_error() {
        for security in [
            json!({}),
            json!([["a"]]),
            json!([{ "oauth": "a" }]),
            json!([{ "oauth": [1] }]),
        ] {
            assert!(of_security(&json!({}), &json!({ "security": security })).is_err());
        }
        assert!(of_member(&json!({ "x-scopes": 1 }), "x-scopes").is_err());
        let listed = of_member(&json!({ "x-scopes": "a b" }), "x-scopes").expect("two");
        assert_eq!(listed.join(","), "a,b");
    }
}
