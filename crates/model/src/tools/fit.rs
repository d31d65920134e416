//! Tools and their results for peers of other revisions.

use super::{CallToolParams, CallToolResult, ListToolsResult, TaskSupport, Tool, wrap};
use crate::content::{StructuredContent, wrap_value};
use crate::fit::{drop_without, fit_freshness};
use crate::{Feature, Fit, FitError, Revision, Schema};

impl Fit for Tool {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.fit_title(revision);
        self.fit_schemas(revision);
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::ToolAnnotations, revision, &mut self.annotations);
        drop_without(Feature::CoreTasks, revision, &mut self.execution);
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        Ok(())
    }
}

impl Tool {
    /// Returns true if a peer of `revision` sees the output schema wrapped. Then the structured
    /// content of every call must be wrapped too, even an object:
    /// [`CallToolResult::wrap_structured_content`].
    pub fn wraps_output(&self, revision: Revision) -> bool {
        let has_other_root = |schema: &Schema| !wrap::is_object_schema(schema);
        !revision.has(Feature::AnyStructuredContent)
            && revision.has(Feature::StructuredContent)
            && self.output_schema.as_ref().is_some_and(has_other_root)
    }

    /// Moves the title to where older revisions have it.
    fn fit_title(&mut self, revision: Revision) {
        if revision.has(Feature::Titles) {
            return;
        }
        if let Some(title) = self.title.take() {
            let annotations = self.annotations.get_or_insert_default();
            annotations.title.get_or_insert(title);
        }
    }

    fn fit_schemas(&mut self, revision: Revision) {
        drop_without(
            Feature::StructuredContent,
            revision,
            &mut self.output_schema,
        );
        if revision.has(Feature::AnyStructuredContent) {
            return;
        }
        wrap::spell_out_properties(&mut self.input_schema);
        if let Some(mut schema) = self.output_schema.take() {
            wrap::spell_out_properties(&mut schema);
            self.output_schema = wrap::wrap_schema(schema);
        }
    }
}

impl Fit for ListToolsResult {
    /// Hides tools that run only as tasks from peers without tasks.
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        let has_tasks = revision.has(Feature::CoreTasks) || revision.has(Feature::TasksExtension);
        if !has_tasks {
            self.tools
                .retain(|tool| tool.task_support() != TaskSupport::Required);
        }
        fit_freshness(&mut self.freshness, revision);
        self.tools.fit(revision)
    }
}

impl Fit for CallToolParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::CoreTasks, revision, &mut self.task);
        drop_without(Feature::InputRequired, revision, &mut self.input_responses);
        drop_without(Feature::InputRequired, revision, &mut self.request_state);
        Ok(())
    }
}

impl Fit for CallToolResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        StructuredContent {
            value: &mut self.structured_content,
            content: &mut self.content,
        }
        .fit(revision);
        self.content.fit(revision)
    }
}

impl CallToolResult {
    /// Puts the structured content into an object: see [`Tool::wraps_output`].
    pub fn wrap_structured_content(&mut self) {
        if let Some(value) = self.structured_content.take() {
            self.structured_content = Some(wrap_value(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::JsonObject;
    use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

    fn fitted<T: Fit + Serialize + DeserializeOwned>(wire: &Value, revision: Revision) -> Value {
        let mut value: T = serde_json::from_value(wire.clone()).unwrap();
        value.fit(revision).unwrap();
        serde_json::to_value(value).unwrap()
    }

    fn names(tool: &Value) -> Vec<&str> {
        tool.as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect()
    }

    // spec: 2025-11-25 D0618-04, D0326-06, D1105-08
    // spec: 2026-07-28 N-TOOL-22
    #[test]
    fn a_tool_has_the_members_its_revision_knows() {
        let tool = json!({"name": "a", "title": "A", "icons": [], "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
            "execution": {"taskSupport": "optional"}, "_meta": {}, "x": 1});
        let table = [
            (V2024_11_05, "name inputSchema x"),
            (V2025_03_26, "name inputSchema annotations x"),
            (
                V2025_06_18,
                "name title inputSchema outputSchema annotations _meta x",
            ),
            (
                V2025_11_25,
                "name title icons inputSchema outputSchema annotations execution _meta x",
            ),
            (
                V2026_07_28,
                "name title icons inputSchema outputSchema annotations _meta x",
            ),
        ];

        for (revision, members) in table {
            assert_eq!(
                names(&fitted::<Tool>(&tool, revision)).join(" "),
                members,
                "{revision}"
            );
        }
    }

    #[test]
    fn fitting_shares_schemas_that_need_no_change() {
        let schema = |text| Schema::from(serde_json::from_str::<JsonObject>(text).unwrap());
        let plain = schema(r#"{"type": "object", "properties": {"a": {}}}"#);
        let boolean = schema(r#"{"type": "object", "properties": {"a": true}}"#);
        let original = Tool::new("a", plain.clone()).with_output_schema(boolean.clone());
        for revision in Revision::ALL {
            let mut fitted = original.clone();
            fitted.fit(revision).unwrap();
            assert!(fitted.input_schema.is_shared_with(&plain), "{revision}");
        }

        let mut changed = original.clone();
        changed.fit(V2025_11_25).unwrap();
        assert_eq!(changed.output_schema.as_ref(), Some(&plain));
        assert_eq!(original.output_schema.as_ref(), Some(&boolean));
    }

    // spec: 2025-11-25 D0326-06
    #[test]
    fn the_title_moves_to_the_hints_where_only_they_have_one() {
        let tool = json!({"name": "a", "title": "A", "inputSchema": {"type": "object"}});

        assert_eq!(
            fitted::<Tool>(&tool, V2025_03_26)["annotations"],
            json!({"title": "A"})
        );
        assert_eq!(fitted::<Tool>(&tool, V2025_06_18), tool);
    }

    // spec: 2025-11-25 AMB-66
    #[test]
    fn boolean_schemas_of_properties_are_spelled_out_for_older_peers() {
        let schema =
            json!({"type": "object", "properties": {"a": true, "b": false, "c": {"items": true}}});
        let spelled = json!({"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {"items": true}}});
        let tool = json!({"name": "a", "inputSchema": schema});

        assert_eq!(fitted::<Tool>(&tool, V2025_11_25)["inputSchema"], spelled);
        assert_eq!(fitted::<Tool>(&tool, V2026_07_28), tool);
    }

    // spec: 2025-11-25 D0618-01, D0618-04
    #[test]
    fn tools_that_are_always_tasks_are_hidden_from_peers_without_tasks() {
        let execution = json!({"taskSupport": "required"});
        let list = json!({"tools": [
            {"name": "a", "inputSchema": {"type": "object"}, "execution": execution},
            {"name": "b", "inputSchema": {"type": "object"}}]});
        let count = |revision| {
            fitted::<ListToolsResult>(&list, revision)["tools"]
                .as_array()
                .map(Vec::len)
        };

        assert_eq!(count(V2025_06_18), Some(1));
        assert_eq!(count(V2025_11_25), Some(2));
        assert_eq!(count(V2026_07_28), Some(2));
    }

    // spec: 2026-07-28 N-CACHE-01, N-CACHE-17
    #[test]
    fn lists_have_a_cache_hint_where_there_are_any() {
        let bare = json!({"tools": []});
        let hinted = json!({"tools": [], "ttlMs": 5, "cacheScope": "public"});

        assert_eq!(
            fitted::<ListToolsResult>(&bare, V2026_07_28),
            json!({"tools": [], "ttlMs": 0, "cacheScope": "private"})
        );
        assert_eq!(fitted::<ListToolsResult>(&hinted, V2026_07_28), hinted);
        assert_eq!(fitted::<ListToolsResult>(&hinted, V2025_11_25), bare);
    }

    // spec: 2026-07-28 N-TOOL-12
    #[test]
    fn non_object_data_is_wrapped_and_repeated_as_text_for_older_peers() {
        let result = json!({"content": [], "structuredContent": [1]});
        let text = json!([{"type": "text", "text": "[1]"}]);

        assert_eq!(fitted::<CallToolResult>(&result, V2026_07_28), result);
        assert_eq!(
            fitted::<CallToolResult>(&result, V2025_06_18),
            json!({"content": text, "structuredContent": {"result": [1]}})
        );
        assert_eq!(
            fitted::<CallToolResult>(&result, V2025_03_26),
            json!({"content": text})
        );
    }

    #[test]
    fn data_that_is_an_object_and_stands_in_the_text_is_left_alone() {
        let result =
            json!({"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": 1}});

        assert_eq!(fitted::<CallToolResult>(&result, V2025_11_25), result);
    }

    #[test]
    fn an_object_is_wrapped_when_its_schema_was() {
        let any_of = json!({"anyOf": [{"type": "object"}, {"type": "null"}]});
        let tool =
            Tool::without_arguments("a").with_output_schema(any_of.as_object().unwrap().clone());
        assert!(tool.wraps_output(V2025_11_25) && tool.wraps_output(V2025_06_18));
        assert!(!tool.wraps_output(V2026_07_28) && !tool.wraps_output(V2025_03_26));

        let mut result = CallToolResult::structured(json!({"a": 1}));
        result.wrap_structured_content();
        result.fit(V2025_11_25).unwrap();
        assert_eq!(result.structured_content, Some(json!({"result": {"a": 1}})));
    }

    // spec: 2025-11-25 D0618-02
    #[test]
    fn call_params_have_only_members_of_their_revision() {
        let params =
            json!({"name": "a", "task": {"ttl": 5}, "inputResponses": {}, "requestState": "s"});

        assert_eq!(
            fitted::<CallToolParams>(&params, V2025_06_18),
            json!({"name": "a"})
        );
        assert_eq!(
            fitted::<CallToolParams>(&params, V2025_11_25),
            json!({"name": "a", "task": {"ttl": 5}})
        );
        assert_eq!(
            fitted::<CallToolParams>(&params, V2026_07_28),
            json!({"name": "a", "inputResponses": {}, "requestState": "s"})
        );
    }
}
