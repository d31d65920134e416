//! The call of a tool, and its result.

use serde_json::Value;

use crate::object::object;
use crate::write::{WriteError, write_json};
use crate::{Base64, ContentBlock, Extra, InputResponses, JsonObject, Meta, TaskMetadata, present};

/// Parameters of `tools/call`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolParams {
    /// Name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Option<JsonObject>,
    /// Requests a task; in 2025-11-25 only.
    pub task: Option<TaskMetadata>,
    /// Responses to the questions in the server's last result.
    pub input_responses: Option<InputResponses>,
    /// Request state from the server's last result, unchanged.
    pub request_state: Option<String>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CallToolParams {
    "name" => required name,
    "arguments" => optional arguments,
    "task" => optional task,
    "inputResponses" => optional input_responses,
    "requestState" => optional request_state,
    "_meta" => optional meta,
});

impl CallToolParams {
    /// Creates the parameters that call `name` with `arguments`.
    pub fn new(name: impl Into<String>, arguments: JsonObject) -> Self {
        Self {
            name: name.into(),
            arguments: Some(arguments),
            ..Self::default()
        }
    }
}

/// Result of a tool call: content for the model, and structured data.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// Unstructured result, for the model. Always written; read as empty when missing.
    pub content: Vec<ContentBlock>,
    /// Structured result. `Some(Value::Null)` is data: the tool returned `null`.
    pub structured_content: Option<Value>,
    /// Whether the tool failed. If missing, it did not fail; see [`CallToolResult::has_failed`].
    pub is_error: Option<bool>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CallToolResult {
    "content" => default content,
    "structuredContent" => optional structured_content (read present::value),
    "isError" => optional is_error,
    "_meta" => optional meta,
});

impl CallToolResult {
    /// Creates a result with `content`.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// Creates a result with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// Creates the result of a failed tool, with a text that lets the model correct itself.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::text(text)
        }
    }

    /// Creates a result with a value as data, and as text for peers that read only text.
    pub fn structured(value: Value) -> Self {
        Self {
            structured_content: Some(value.clone()),
            ..Self::text(value.to_string())
        }
    }

    /// Returns true if the tool failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Adds the result as JSON to `out`: what serde writes. Most results are a text and nothing else, which
    /// is written without the serializer.
    ///
    /// # Errors
    ///
    /// As [`write_json`].
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let is_plain =
            self.structured_content.is_none() && self.meta.is_none() && self.extra.is_empty();
        if !is_plain {
            return write_json(out, self);
        }
        let mut before: &[u8] = b"{\"content\":[";
        for block in &self.content {
            out.extend_from_slice(before);
            block.write(out)?;
            before = b",";
        }
        if self.content.is_empty() {
            out.extend_from_slice(before);
        }
        out.extend_from_slice(match self.is_error {
            None => b"]}",
            Some(true) => b"],\"isError\":true}",
            Some(false) => b"],\"isError\":false}",
        });
        Ok(())
    }

    /// Returns the first base64 of the result that is worth not being copied: its JSON has at least 16 KiB.
    pub fn large_base64(&mut self) -> Option<&mut Base64> {
        self.content.iter_mut().find_map(ContentBlock::large_base64)
    }

    /// Returns the first text, or `None`.
    pub fn first_text(&self) -> Option<&str> {
        self.content.iter().find_map(ContentBlock::as_text)
    }
}

impl From<ContentBlock> for CallToolResult {
    fn from(block: ContentBlock) -> Self {
        Self::new(vec![block])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn texts() -> impl Strategy<Value = Vec<ContentBlock>> {
        let block = (any::<String>(), any::<bool>()).prop_map(|(text, has_meta)| {
            let mut text = crate::TextContent::new(text);
            text.meta = has_meta.then(Meta::new);
            ContentBlock::Text(text)
        });
        proptest::collection::vec(block, 0..3)
    }

    proptest! {
        #[test]
        fn a_result_is_written_as_serde_writes_it(
            content in texts(),
            is_error in any::<Option<bool>>(),
            has_data in any::<bool>(),
        ) {
            let mut result = CallToolResult::new(content);
            result.is_error = is_error;
            result.structured_content = has_data.then(|| json!({ "a": 1 }));
            let mut written = Vec::new();
            result.write(&mut written).expect("text is writable");
            prop_assert_eq!(written, serde_json::to_vec(&result).expect("text is writable"));
        }
    }

    // spec: 2026-07-28 N-TOOL-10
    #[test]
    fn null_as_data_is_not_the_absence_of_data() {
        let null: CallToolResult =
            serde_json::from_str(r#"{"content":[],"structuredContent":null}"#).unwrap();
        let absent: CallToolResult = serde_json::from_str(r#"{"content":[]}"#).unwrap();

        assert_eq!(null.structured_content, Some(Value::Null));
        assert_eq!(absent.structured_content, None);
        let written = serde_json::to_string(&null).unwrap();
        assert_eq!(written, r#"{"content":[],"structuredContent":null}"#);
        assert_eq!(serde_json::to_string(&absent).unwrap(), r#"{"content":[]}"#);
    }

    // spec: 2025-11-25 AMB-58
    #[test]
    fn missing_content_is_read_as_empty_and_written() {
        let result: CallToolResult =
            serde_json::from_value(json!({"structuredContent": {"a": 1}, "x": 1})).unwrap();

        assert_eq!(result.content, []);
        assert_eq!(
            serde_json::to_value(result).unwrap(),
            json!({"content": [], "structuredContent": {"a": 1}, "x": 1})
        );
    }

    // spec: 2026-07-28 N-TOOL-12, N-TOOL-14
    #[test]
    fn results_are_made_with_little_effort() {
        assert!(CallToolResult::error("no such city").has_failed());
        assert!(!CallToolResult::text("3").has_failed());

        let result = CallToolResult::structured(json!([1, 2]));
        assert_eq!(result.first_text(), Some("[1,2]"));
        assert_eq!(result.structured_content, Some(json!([1, 2])));
    }

    // spec: 2026-07-28 N-TOOL-08
    #[test]
    fn params_are_written_as_they_were_read_and_null_is_absence() {
        let wire = json!({"name": "add", "arguments": {"b": 1, "a": 2}, "requestState": "s",
            "_meta": {"progressToken": 1}});
        let params: CallToolParams = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_string(&params).unwrap(), wire.to_string());

        let null = json!({"name": "add", "arguments": null, "_meta": null});
        let params: CallToolParams = serde_json::from_value(null).unwrap();
        assert_eq!(
            serde_json::to_value(params).unwrap(),
            json!({"name": "add"})
        );
    }
}
