//! Following a `$ref` inside one document.

use std::collections::HashMap;

use pintle_model::JsonObject;
use serde_json::Value;

use super::SchemaError;
use super::keywords::{join, value_of};

/// A schema document and the anchors in it.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    root: &'a JsonObject,
    /// The document's own name: references that begin with it stay inside.
    base: Option<&'a str>,
    pointer_by_anchor: HashMap<&'a str, String>,
}

/// Target of a pointer: the document itself, or a value in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Located<'a> {
    /// The whole document.
    Root(&'a JsonObject),
    /// A value in the document.
    Inside(&'a Value),
}

impl<'a> Document<'a> {
    pub(crate) fn new(root: &'a JsonObject) -> Self {
        let base = root.get("$id").and_then(Value::as_str);
        Self {
            root,
            base: base.map(without_fragment).filter(|base| !base.is_empty()),
            pointer_by_anchor: HashMap::new(),
        }
    }

    /// Remembers the anchor of the schema at `pointer`, if it has one.
    pub(crate) fn note_anchor(&mut self, pointer: &str, schema: &'a JsonObject) {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(anchor)) = value_of(schema, keyword) {
                self.pointer_by_anchor.insert(anchor, pointer.to_owned());
            }
        }
        // So they were written up to draft 7.
        let id = value_of(schema, "$id").and_then(Value::as_str);
        if let Some(anchor) = id.and_then(|id| id.strip_prefix('#')) {
            self.pointer_by_anchor.insert(anchor, pointer.to_owned());
        }
    }

    /// Resolves the `$ref` of the schema at `from` to a pointer and what stands there.
    ///
    /// # Errors
    ///
    /// [`SchemaError::RemoteRef`] if it leaves the document, [`SchemaError::DanglingRef`] if it
    /// names nothing.
    pub(crate) fn resolve(
        &self,
        from: &str,
        target: &str,
    ) -> Result<(String, Located<'a>), SchemaError> {
        let own = self.base.and_then(|base| target.strip_prefix(base));
        let fragment = match own {
            Some("") => Some(""),
            own => own.unwrap_or(target).strip_prefix('#'),
        };
        let Some(fragment) = fragment else {
            return Err(SchemaError::RemoteRef {
                pointer: from.to_owned(),
                target: target.to_owned(),
            });
        };
        let pointer = match self.pointer_by_anchor.get(fragment) {
            Some(pointer) => Some(pointer.clone()),
            None => canonical(fragment),
        };
        pointer
            .and_then(|pointer| self.locate(&pointer).map(|found| (pointer, found)))
            .ok_or_else(|| SchemaError::DanglingRef {
                pointer: from.to_owned(),
                target: target.to_owned(),
            })
    }

    fn locate(&self, pointer: &str) -> Option<Located<'a>> {
        let Some(rest) = pointer.strip_prefix('/') else {
            return pointer.is_empty().then_some(Located::Root(self.root));
        };
        let (first, rest) = rest
            .split_once('/')
            .map_or((rest, None), |(a, b)| (a, Some(b)));
        let value = self.root.get(&unescape(first))?;
        match rest {
            Some(rest) => value.pointer(&format!("/{rest}")).map(Located::Inside),
            None => Some(Located::Inside(value)),
        }
    }
}

/// The pointer in a fragment, spelled as we spell pointers, so that one place has one name.
pub(crate) fn canonical(fragment: &str) -> Option<String> {
    let decoded = percent_decoded(fragment)?;
    if decoded.is_empty() {
        return Some(decoded);
    }
    let segments = decoded.strip_prefix('/')?.split('/');
    Some(segments.fold(String::new(), |pointer, segment| {
        join(&pointer, &unescape(segment))
    }))
}

fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(base, _)| base)
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? * 16 + hex(rest.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_is_a_pointer_or_an_anchor() {
        let schema = json!({ "$defs": { "a/b c": { "$anchor": "here" } } });
        let root = schema.as_object().unwrap();
        let mut document = Document::new(root);
        document.note_anchor("/$defs/a~1b c", root["$defs"]["a/b c"].as_object().unwrap());
        for target in ["#/$defs/a~1b%20c", "#here"] {
            assert_eq!(document.resolve("", target).unwrap().0, "/$defs/a~1b c");
        }
        assert_eq!(
            document.resolve("", "#").unwrap(),
            (String::new(), Located::Root(root))
        );
    }

    // spec: 2026-07-28 N-SCH-05
    #[test]
    fn a_reference_by_the_documents_own_name_stays_inside() {
        let schema = json!({ "$id": "https://a.example/s.json", "$defs": { "A": {} } });
        let document = Document::new(schema.as_object().unwrap());
        for (target, pointer) in [
            ("https://a.example/s.json#/$defs/A", "/$defs/A"),
            ("https://a.example/s.json", ""),
            ("#/$defs/A", "/$defs/A"),
        ] {
            assert_eq!(document.resolve("", target).unwrap().0, pointer);
        }
        assert!(matches!(
            document.resolve("", "https://a.example/s.json/more#"),
            Err(SchemaError::RemoteRef { .. })
        ));
    }

    // spec: 2026-07-28 N-SCH-05, N-SCH-07
    // hardening: H-80
    #[test]
    fn nothing_outside_the_document_is_followed() {
        let schema = json!({});
        let document = Document::new(schema.as_object().unwrap());
        for target in [
            "http://a.example/s",
            "file:///etc/passwd",
            "other.json",
            "//a",
            "",
        ] {
            let refused = document.resolve("/items", target);
            assert!(
                matches!(refused, Err(SchemaError::RemoteRef { .. })),
                "{target}"
            );
        }
        for target in ["#/$defs/Gone", "#gone", "#/%zz"] {
            let refused = document.resolve("/items", target);
            assert!(
                matches!(refused, Err(SchemaError::DanglingRef { .. })),
                "{target}"
            );
        }
    }
}
