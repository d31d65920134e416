//! Tool calls and their results inside of sampling messages.

use serde_json::Value;

use crate::object::object;
use crate::tagged::tag;
use crate::{ContentBlock, Extra, JsonObject, Meta, present};

tag!(ToolUseTag = "tool_use");
tag!(ToolResultTag = "tool_result");

/// Request of the model to call a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolUseContent {
    kind: ToolUseTag,
    /// Id of this use; the result refers to it.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments.
    pub input: JsonObject,
    /// Metadata that must be returned unchanged.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ToolUseContent {
    "type" => default kind,
    "id" => required id,
    "name" => required name,
    "input" => required input,
    "_meta" => optional meta,
});

impl ToolUseContent {
    /// Creates a request to call the tool `name` with `input`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        Self {
            kind: ToolUseTag,
            id: id.into(),
            name: name.into(),
            input,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// Result of a tool use.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResultContent {
    kind: ToolResultTag,
    /// The [`ToolUseContent::id`] this answers.
    pub tool_use_id: String,
    /// Unstructured result of the tool.
    pub content: Vec<ContentBlock>,
    /// Structured result. `Some(Value::Null)` is data: the tool returned `null`.
    pub structured_content: Option<Value>,
    /// Whether the tool call failed. If missing, it did not fail.
    pub is_error: Option<bool>,
    /// Metadata that must be returned unchanged.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ToolResultContent {
    "type" => default kind,
    "toolUseId" => required tool_use_id,
    "content" => default content,
    "structuredContent" => optional structured_content (read present::value),
    "isError" => optional is_error,
    "_meta" => optional meta,
});

impl ToolResultContent {
    /// Creates the result of the use `tool_use_id`.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            kind: ToolResultTag,
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}
