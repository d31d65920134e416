//! Tools: functions that a server offers to the model.
//!
//! Spec: [2026-07-28, Tools](https://modelcontextprotocol.io/specification/2026-07-28/server/tools).

mod call;
mod fit;
mod wrap;

pub use call::{CallToolParams, CallToolResult};

use serde_json::Value;

use crate::object::object;
use crate::open_enum::open_enum;
use crate::read::{ReadError, Source};
use crate::{Cursor, Extra, Freshness, Icon, JsonObject, Meta, Schema};

/// A tool in a list.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Its programmatic name; [`crate::names::check_tool_name`] is the grammar to keep to.
    pub name: String,
    /// Title, for display to people.
    pub title: Option<String>,
    /// Description of the tool, for the model.
    pub description: Option<String>,
    /// Icons, for display.
    pub icons: Option<Vec<Icon>>,
    /// The JSON Schema of the arguments: an object at the root.
    pub input_schema: Schema,
    /// The JSON Schema of the structured content. Up to 2025-11-25 an object at the root.
    pub output_schema: Option<Schema>,
    /// Hints about the behavior of the tool.
    pub annotations: Option<ToolAnnotations>,
    /// Execution properties of the tool; in 2025-11-25 only.
    pub execution: Option<ToolExecution>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Tool {
    "name" => required name,
    "title" => optional title,
    "description" => optional description,
    "icons" => optional icons,
    "inputSchema" => default input_schema (read schema),
    "outputSchema" => optional output_schema (read optional_schema),
    "annotations" => optional annotations,
    "execution" => optional execution,
    "_meta" => optional meta,
});

impl Tool {
    /// Creates a tool whose arguments match `input_schema`.
    pub fn new(name: impl Into<String>, input_schema: impl Into<Schema>) -> Self {
        Self {
            name: name.into(),
            input_schema: input_schema.into(),
            ..Self::default()
        }
    }

    /// Creates a tool without arguments.
    pub fn without_arguments(name: impl Into<String>) -> Self {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("additionalProperties".to_owned(), false.into());
        Self::new(name, schema)
    }

    /// Sets the title, for display to people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the schema of the structured content.
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<Schema>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets the hints about its behavior.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// The name to show: the title, the title among the annotations, or else the name.
    pub fn display_name(&self) -> &str {
        let hinted = || self.annotations.as_ref()?.title.as_deref();
        self.title.as_deref().or_else(hinted).unwrap_or(&self.name)
    }

    /// Returns true if the arguments are an object, as the protocol requires. Otherwise the schema
    /// is invalid, because a careless peer sent it.
    pub fn takes_an_object(&self) -> bool {
        self.input_schema.get("type").and_then(Value::as_str) == Some("object")
    }

    /// Returns the support for tasks of 2025-11-25.
    pub fn task_support(&self) -> TaskSupport {
        let execution = self.execution.as_ref();
        let declared = execution.and_then(|execution| execution.task_support.clone());
        declared.unwrap_or(TaskSupport::Forbidden)
    }
}

/// Reads a schema. JSON Schema's `true` and `false` become the objects with the same meaning. A
/// value that is not a schema becomes the schema that allows everything.
fn schema(source: &mut dyn Source<'_>) -> Result<Schema, ReadError> {
    Ok(optional_schema(source)?.unwrap_or_default())
}

fn optional_schema(source: &mut dyn Source<'_>) -> Result<Option<Schema>, ReadError> {
    source.value().map(schema_of)
}

fn schema_of(value: Value) -> Option<Schema> {
    match value {
        Value::Object(schema) => Some(schema.into()),
        Value::Bool(true) => Some(Schema::default()),
        Value::Bool(false) => {
            let nothing = ("not".to_owned(), Value::Object(JsonObject::new()));
            Some(JsonObject::from_iter([nothing]).into())
        }
        _ => None,
    }
}

/// Hints of the server about a tool. They are untrusted unless the server is trusted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Title, for display to people.
    pub title: Option<String>,
    /// Whether the tool leaves its environment unchanged.
    pub read_only_hint: Option<bool>,
    /// Whether the tool may perform destructive updates; only meaningful if it is not read-only.
    pub destructive_hint: Option<bool>,
    /// Whether a repeated call has no further effect; only meaningful if the tool is not read-only.
    pub idempotent_hint: Option<bool>,
    /// Whether the tool interacts with entities outside of the server, such as the web.
    pub open_world_hint: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ToolAnnotations {
    "title" => optional title,
    "readOnlyHint" => optional read_only_hint,
    "destructiveHint" => optional destructive_hint,
    "idempotentHint" => optional idempotent_hint,
    "openWorldHint" => optional open_world_hint,
});

impl ToolAnnotations {
    /// Returns annotations of a read-only tool.
    pub fn read_only() -> Self {
        Self {
            read_only_hint: Some(true),
            ..Self::default()
        }
    }

    /// Returns annotations of a tool with destructive updates.
    pub fn destructive() -> Self {
        Self {
            read_only_hint: Some(false),
            destructive_hint: Some(true),
            ..Self::default()
        }
    }

    /// Returns true if the tool leaves its environment unchanged; false if the hint is missing.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Returns true if the tool may perform destructive updates; true if the hint is missing.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Returns true if a repeated call has no further effect; false if the hint is missing.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Returns true if the tool interacts with outside entities; true if the hint is missing.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

/// Execution properties of a tool; in 2025-11-25 only.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether the tool can run as a task. If missing, tasks are forbidden.
    pub task_support: Option<TaskSupport>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ToolExecution {
    "taskSupport" => optional task_support,
});

impl From<TaskSupport> for ToolExecution {
    fn from(task_support: TaskSupport) -> Self {
        Self {
            task_support: Some(task_support),
            extra: Extra::new(),
        }
    }
}

open_enum! {
    /// Whether a tool can be run as a task of 2025-11-25.
    pub enum TaskSupport {
        /// The tool never runs as a task.
        Forbidden = "forbidden",
        /// The client decides whether the tool runs as a task.
        Optional = "optional",
        /// The tool always runs as a task.
        Required = "required",
    }
}

/// A page of tools.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools, in a stable order.
    pub tools: Vec<Tool>,
    /// Position of the next page; missing on the last page.
    pub next_cursor: Option<Cursor>,
    /// Cache hint of the page.
    pub freshness: Option<Freshness>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ListToolsResult {
    "tools" => required tools,
    "nextCursor" => optional next_cursor,
    "ttlMs" | "cacheScope" => hint freshness,
    "_meta" => optional meta,
});

impl ListToolsResult {
    /// Creates the last, or only, page.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2026-07-28 N-SCH-11
    // spec: 2025-11-25 JSCH-09, GEN-08
    #[test]
    fn a_tool_is_written_as_it_was_read() {
        let wire = json!({"name": "add", "title": "Add", "description": "Adds.",
            "icons": [{"src": "data:,", "theme": "neon"}],
            "inputSchema": {"type": "object", "x-mcp-header": "A", "$defs": {}, "properties": {"z": true, "a": {}}},
            "outputSchema": {"type": "array"}, "annotations": {"readOnlyHint": true, "x": 1},
            "execution": {"taskSupport": "perhaps"}, "_meta": {"k": 1}, "x": 1});
        let tool: Tool = serde_json::from_value(wire.clone()).unwrap();

        assert_eq!(serde_json::to_string(&tool).unwrap(), wire.to_string());
        assert_eq!(tool.task_support(), TaskSupport::Unknown("perhaps".into()));
    }

    // spec: 2025-11-25 AMB-56, AMB-66
    #[test]
    fn an_invalid_schema_does_not_invalidate_the_list() {
        let wire = json!({"tools": [
            {"name": "a", "inputSchema": true}, {"name": "b", "inputSchema": null}, {"name": "c"},
            {"name": "d", "inputSchema": {"type": "object"}, "outputSchema": null},
            {"name": "e", "inputSchema": {"type": "object"}, "outputSchema": false}]});
        let list: ListToolsResult = serde_json::from_value(wire).unwrap();

        let usable: Vec<bool> = list.tools.iter().map(Tool::takes_an_object).collect();
        assert_eq!(usable, [false, false, false, true, true]);
        assert_eq!(list.tools[3].output_schema, None);
        let nothing = json!({"not": {}});
        assert_eq!(json!(list.tools[4].output_schema), nothing);
    }

    // spec: 2026-07-28 N-TOOL-16
    // spec: 2025-11-25 TOOL-10
    #[test]
    fn hints_not_given_are_the_careful_ones() {
        let hints = ToolAnnotations::default();

        assert!(!hints.is_read_only() && hints.is_destructive());
        assert!(!hints.is_idempotent() && hints.is_open_world());
        assert!(!ToolAnnotations::read_only().is_destructive());
    }

    // spec: 2026-07-28 N-TOOL-21, N-TOOL-07
    // spec: 2025-11-25 TOOL-11
    #[test]
    fn the_name_to_show_is_the_first_of_title_hint_and_name() {
        let tool = Tool::without_arguments("add");
        assert_eq!(tool.display_name(), "add");
        assert!(tool.takes_an_object());

        let hint = ToolAnnotations {
            title: Some("Plus".to_owned()),
            ..ToolAnnotations::default()
        };
        let tool = tool.with_annotations(hint);
        assert_eq!(tool.display_name(), "Plus");
        assert_eq!(tool.with_title("Sum").display_name(), "Sum");
    }
}
