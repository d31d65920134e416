//! Structured content for peers of other revisions.

use serde_json::Value;

use super::ContentBlock;
use crate::{Feature, JsonObject, Revision};

/// The member that wrapped values have.
pub(crate) const WRAPPED: &str = "result";

/// Structured content of a tool result, together with its content blocks.
pub(crate) struct StructuredContent<'a> {
    pub(crate) value: &'a mut Option<Value>,
    pub(crate) content: &'a mut Vec<ContentBlock>,
}

impl StructuredContent<'_> {
    /// Drops the data or wraps it in an object, where `revision` requires that. No peer loses it:
    /// if there is no text, the data becomes the text.
    pub(crate) fn fit(self, revision: Revision) {
        if revision.has(Feature::AnyStructuredContent) {
            return;
        }
        let Some(value) = self.value.take() else {
            return;
        };
        let has_text = self.content.iter().any(|block| block.as_text().is_some());
        if !has_text {
            self.content.push(ContentBlock::text(value.to_string()));
        }
        if revision.has(Feature::StructuredContent) {
            *self.value = Some(if value.is_object() {
                value
            } else {
                wrap_value(value)
            });
        }
    }
}

/// Puts a value into an object.
pub(crate) fn wrap_value(value: Value) -> Value {
    Value::Object(JsonObject::from_iter([(WRAPPED.to_owned(), value)]))
}
