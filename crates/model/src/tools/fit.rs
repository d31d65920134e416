//! Tools and their results for peers of other revisions.

use serde_json::Value;

use super::{CallToolParams, CallToolResult, ListToolsResult, TaskSupport, Tool, wrap};
use crate::fit::{drop_without, fit_freshness};
use crate::{ContentBlock, Feature, Fit, JsonObject, Revision, Unfit};

impl Fit for Tool {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
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
    /// Whether a peer of `revision` sees the output schema wrapped, so that the structured
    /// content of every call must be wrapped as well, even if it is an object:
    /// [`CallToolResult::wrap_structured_content`].
    pub fn wraps_output(&self, revision: Revision) -> bool {
        let has_other_root = |schema| !wrap::is_object_schema(schema);
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
        drop_without(Feature::StructuredContent, revision, &mut self.output_schema);
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
    /// Hides tools that run only as tasks from peers that have none.
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        let has_tasks = revision.has(Feature::CoreTasks) || revision.has(Feature::TasksExtension);
        if !has_tasks {
            self.tools.retain(|tool| tool.task_support() != TaskSupport::Required);
        }
        fit_freshness(&mut self.freshness, revision);
        self.tools.fit(revision)
    }
}

impl Fit for CallToolParams {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::CoreTasks, revision, &mut self.task);
        drop_without(Feature::InputRequired, revision, &mut self.input_responses);
        drop_without(Feature::InputRequired, revision, &mut self.request_state);
        Ok(())
    }
}

impl Fit for CallToolResult {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
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
            self.structured_content = Some(wrap::wrap_value(value));
        }
    }
}

/// What a tool said as data, beside what it said for the model.
pub(crate) struct StructuredContent<'a> {
    pub(crate) value: &'a mut Option<Value>,
    pub(crate) content: &'a mut Vec<ContentBlock>,
}

impl StructuredContent<'_> {
    /// Drops the data or puts it into an object, where `revision` wants that. No peer loses
    /// it: if there is no text, the data becomes the text.
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
            *self.value = Some(if value.is_object() { value } else { wrap::wrap_value(value) });
        }
    }
}

/// The member that wrapped values have.
pub(super) const WRAPPED: &str = "result";

/// An object with one member.
pub(super) fn object(name: &str, value: impl Into<Value>) -> JsonObject {
    JsonObject::from_iter([(name.to_owned(), value.into())])
}
