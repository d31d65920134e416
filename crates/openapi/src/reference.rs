//! References within the document.

use serde_json::Value;

use crate::error::UnsupportedOperationError;

/// The longest chain of references to references.
const MAX_HOPS: usize = 16;

type Result<T> = std::result::Result<T, UnsupportedOperationError>;

/// Follows the `$ref` of an object that is a parameter, a body or a path item.
pub(crate) fn follow<'d>(document: &'d Value, mut value: &'d Value) -> Result<&'d Value> {
    for _ in 0..MAX_HOPS {
        match value.get("$ref") {
            None => return Ok(value),
            Some(Value::String(reference)) => value = find(document, reference)?,
            Some(_) => return Err(UnsupportedOperationError::malformed("$ref")),
        }
    }
    Err(UnsupportedOperationError::Reference("a circle".into()))
}

/// Returns the value of a reference. A reference to another document is not read.
pub(crate) fn find<'d>(document: &'d Value, reference: &str) -> Result<&'d Value> {
    let found = reference
        .strip_prefix('#')
        .and_then(|pointer| document.pointer(&unescaped(pointer)));
    found.ok_or_else(|| UnsupportedOperationError::Reference(reference.into()))
}

/// Decodes the escapes of a fragment, such as `%7B`.
fn unescaped(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_is_a_pointer_in_the_document() {
        let document =
            json!({ "paths": { "/a/{b}": { "x": 1 } }, "c": { "$ref": "#/paths/~1a~1%7Bb%7D" } });
        assert_eq!(
            follow(&document, &document["c"]).ok(),
            Some(&json!({ "x": 1 }))
        );
        for elsewhere in ["other.json#/c", "https://a.example/c", "#/none", "#c"] {
            let value = json!({ "$ref": elsewhere });
            assert!(follow(&document, &value).is_err(), "{elsewhere}");
        }
    }

    #[test]
    fn a_circle_of_references_has_an_end() {
        let document = json!({ "a": { "$ref": "#/b" }, "b": { "$ref": "#/a" } });
        assert!(follow(&document, &document["a"]).is_err());
    }
}
