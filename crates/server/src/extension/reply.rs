//! The result of a method of an extension, rendered.

use bytes::Bytes;
use pintle_model::{Error, Freshness, JsonObject, Meta};
use pintle_proto::Rendered;
use serde::Serialize;
use serde_json::Value;

/// A result on its way out: an object, its `_meta` apart.
#[derive(Debug)]
pub(super) struct Body {
    json: Vec<u8>,
    meta: Option<Meta>,
}

impl Body {
    /// Renders a result.
    ///
    /// # Errors
    ///
    /// -32603 if the result is not an object, or cannot be written as JSON.
    pub(super) fn of(result: &impl Serialize) -> Result<Self, Error> {
        let json = serde_json::to_vec(result).map_err(|error| {
            tracing::warn!(%error, "the result of an extension cannot be written");
            Error::internal()
        })?;
        if json.first() != Some(&b'{') {
            tracing::warn!("the result of an extension is not an object");
            return Err(Error::internal());
        }
        // Most results have no metadata of their own, and are not read again.
        if contains(&json, b"\"_meta\"") {
            return Self::apart(&json);
        }
        Ok(Self { json, meta: None })
    }

    fn apart(json: &[u8]) -> Result<Self, Error> {
        let unreadable = |_| Error::internal();
        let mut members: JsonObject = serde_json::from_slice(json).map_err(unreadable)?;
        let meta = match members.shift_remove("_meta") {
            None | Some(Value::Null) => None,
            Some(meta) => Some(serde_json::from_value(meta).map_err(unreadable)?),
        };
        let json = serde_json::to_vec(&members).map_err(unreadable)?;
        Ok(Self { json, meta })
    }

    /// The result with a cache hint, unless it has one.
    pub(super) fn with_freshness(mut self, freshness: Freshness) -> Self {
        if contains(&self.json, b"\"ttlMs\"") {
            let has_hint = serde_json::from_slice(&self.json)
                .is_ok_and(|members: JsonObject| members.contains_key("ttlMs"));
            if has_hint {
                return self;
            }
        }
        let hint = serde_json::to_vec(&freshness).expect("a hint is always writable");
        let is_bare = self.json.len() <= 2;
        self.json.pop();
        self.json
            .extend_from_slice(if is_bare { b"" } else { b"," });
        self.json.extend_from_slice(&hint[1..]);
        self
    }

    pub(super) fn render(self) -> Rendered {
        Rendered::from_object(Bytes::from(self.json), self.meta)
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn text(body: Body) -> String {
        String::from_utf8(body.json).expect("text")
    }

    #[test]
    fn the_metadata_of_a_result_is_set_apart_wherever_it_stands() {
        let body = Body::of(&json!({"a": 1, "_meta": {"x/y": 2}, "b": {"_meta": 3}}));
        let body = body.expect("an object");
        assert_eq!(
            body.meta.as_ref().and_then(|meta| meta.get("x/y")),
            Some(&json!(2))
        );
        assert_eq!(text(body), r#"{"a":1,"b":{"_meta":3}}"#);
    }

    #[test]
    fn a_result_is_an_object() {
        assert_eq!(Body::of(&[1]).map(|_| ()), Err(Error::internal()));
        assert_eq!(Body::of(&()).map(|_| ()), Err(Error::internal()));
    }

    // spec: 2026-07-28 N-CACHE-12
    #[test]
    fn a_hint_is_added_to_a_result_without_one() {
        let hint = Freshness::public(Duration::from_secs(1));
        let of = |value: Value| {
            let body = Body::of(&value).expect("an object");
            text(body.with_freshness(hint))
        };
        let added = r#""ttlMs":1000,"cacheScope":"public""#;
        assert_eq!(of(json!({})), format!("{{{added}}}"));
        assert_eq!(
            of(json!({"of": {"ttlMs": 5}})),
            format!(r#"{{"of":{{"ttlMs":5}},{added}}}"#)
        );
        assert_eq!(of(json!({"ttlMs": 5})), r#"{"ttlMs":5}"#);
    }
}
