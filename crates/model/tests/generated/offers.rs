//! What servers offer: tools, resources, prompts, and the messages about them.

use pintle_model::*;
use serde_json::json;

use crate::generated::asking::input_responses;
use crate::generated::common::{
    annotations, block, client_capabilities, contents, icons, implementation, object_schema, role,
    server_capabilities, task_metadata,
};
use crate::generated::dice::{Dice, build};

fn freshness(dice: &mut Dice<'_>) -> Freshness {
    let span = std::time::Duration::from_millis(dice.count());
    if dice.flag() {
        Freshness::public(span)
    } else {
        Freshness::private(span)
    }
}

fn cursor(dice: &mut Dice<'_>) -> Cursor {
    Cursor::new(dice.text())
}

pub(crate) fn tool_annotations(dice: &mut Dice<'_>) -> ToolAnnotations {
    build!(ToolAnnotations::default();
        title = dice.maybe(Dice::text),
        read_only_hint = dice.maybe(Dice::flag),
        destructive_hint = dice.maybe(Dice::flag),
        idempotent_hint = dice.maybe(Dice::flag),
        open_world_hint = dice.maybe(Dice::flag),
        extra = dice.extra())
}

fn output_schema(dice: &mut Dice<'_>) -> JsonObject {
    match dice.flag() {
        false => object_schema(dice),
        true => json!({"type": "array", "items": {"type": "string"}})
            .as_object()
            .cloned()
            .unwrap_or_default(),
    }
}

pub(crate) fn tool(dice: &mut Dice<'_>) -> Tool {
    build!(Tool::new(dice.word(), object_schema(dice));
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        icons = icons(dice),
        output_schema = dice.maybe(output_schema).map(Into::into),
        annotations = dice.maybe(tool_annotations),
        execution = dice.maybe(|dice| build!(ToolExecution::default();
            task_support = dice.maybe(|dice| dice.pick(&[TaskSupport::Forbidden, TaskSupport::Optional])),
            extra = dice.extra())),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn list_tools_result(dice: &mut Dice<'_>) -> ListToolsResult {
    build!(ListToolsResult::new(dice.list(tool));
        next_cursor = dice.maybe(cursor),
        freshness = dice.maybe(freshness),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn call_tool(dice: &mut Dice<'_>) -> CallToolParams {
    build!(CallToolParams::new(dice.word(), dice.object());
        task = dice.maybe(task_metadata),
        input_responses = dice.maybe(input_responses),
        request_state = dice.maybe(Dice::text),
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn call_tool_result(dice: &mut Dice<'_>) -> CallToolResult {
    build!(CallToolResult::new(dice.list(block));
        structured_content = dice.maybe(Dice::value),
        is_error = dice.maybe(Dice::flag),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn resource(dice: &mut Dice<'_>) -> Resource {
    build!(Resource::new(dice.uri(), dice.word());
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        mime_type = dice.maybe(Dice::word),
        size = dice.maybe(Dice::count),
        icons = icons(dice),
        annotations = dice.maybe(annotations),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn resource_template(dice: &mut Dice<'_>) -> ResourceTemplate {
    build!(ResourceTemplate::new("docs://{slug}", dice.word());
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        mime_type = dice.maybe(Dice::word),
        icons = icons(dice),
        annotations = dice.maybe(annotations),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn list_resources_result(dice: &mut Dice<'_>) -> ListResourcesResult {
    build!(ListResourcesResult::new(dice.list(resource));
        next_cursor = dice.maybe(cursor),
        freshness = dice.maybe(freshness),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn list_templates_result(dice: &mut Dice<'_>) -> ListResourceTemplatesResult {
    build!(ListResourceTemplatesResult::new(dice.list(resource_template));
        next_cursor = dice.maybe(cursor),
        freshness = dice.maybe(freshness),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn read_resource(dice: &mut Dice<'_>) -> ReadResourceParams {
    build!(ReadResourceParams::new(dice.uri());
        input_responses = dice.maybe(input_responses),
        request_state = dice.maybe(Dice::text),
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn read_resource_result(dice: &mut Dice<'_>) -> ReadResourceResult {
    build!(ReadResourceResult::new(dice.list(contents));
        freshness = dice.maybe(freshness),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn prompt_argument(dice: &mut Dice<'_>) -> PromptArgument {
    build!(PromptArgument::optional(dice.word());
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        required = dice.maybe(Dice::flag),
        extra = dice.extra())
}

pub(crate) fn prompt(dice: &mut Dice<'_>) -> Prompt {
    build!(Prompt::new(dice.word());
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        icons = icons(dice),
        arguments = dice.maybe(|dice| dice.list(prompt_argument)),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn list_prompts_result(dice: &mut Dice<'_>) -> ListPromptsResult {
    build!(ListPromptsResult::new(dice.list(prompt));
        next_cursor = dice.maybe(cursor),
        freshness = dice.maybe(freshness),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

fn string_map(dice: &mut Dice<'_>) -> std::collections::BTreeMap<String, String> {
    dice.list(|dice| (dice.word(), dice.text()))
        .into_iter()
        .collect()
}

pub(crate) fn get_prompt(dice: &mut Dice<'_>) -> GetPromptParams {
    build!(GetPromptParams::new(dice.word());
        arguments = dice.maybe(string_map),
        input_responses = dice.maybe(input_responses),
        request_state = dice.maybe(Dice::text),
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn prompt_message(dice: &mut Dice<'_>) -> PromptMessage {
    build!(PromptMessage::new(role(dice), block(dice)); extra = dice.extra())
}

pub(crate) fn get_prompt_result(dice: &mut Dice<'_>) -> GetPromptResult {
    build!(GetPromptResult::new(dice.list(prompt_message));
        description = dice.maybe(Dice::text), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn completion_reference(dice: &mut Dice<'_>) -> CompletionReference {
    match dice.flag() {
        false => CompletionReference::prompt(dice.word()),
        true => CompletionReference::resource_template(dice.pick(&["docs://{slug}", "file:///a"])),
    }
}

pub(crate) fn complete(dice: &mut Dice<'_>) -> CompleteParams {
    let mut params = CompleteParams::new(completion_reference(dice), dice.word(), dice.text());
    params.argument.extra = dice.extra();
    if dice.flag() {
        let mut context = CompletionContext::default();
        context.arguments = dice.maybe(string_map);
        context.extra = dice.extra();
        params.context = Some(context);
    }
    build!(params; meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn complete_result(dice: &mut Dice<'_>) -> CompleteResult {
    build!(CompleteResult::default();
        completion = build!(Completion::new(dice.texts());
            total = dice.maybe(Dice::count), has_more = dice.maybe(Dice::flag), extra = dice.extra()),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn initialize(dice: &mut Dice<'_>) -> InitializeParams {
    build!(InitializeParams::new(Revision::LATEST_LEGACY, client_capabilities(dice), implementation(dice));
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn initialize_result(dice: &mut Dice<'_>) -> InitializeResult {
    build!(InitializeResult::new(Revision::LATEST_LEGACY, server_capabilities(dice), implementation(dice));
        protocol_version = dice.text(),
        instructions = dice.maybe(Dice::text),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn discover_result(dice: &mut Dice<'_>) -> DiscoverResult {
    build!(DiscoverResult::new([Revision::LATEST], server_capabilities(dice));
        instructions = dice.maybe(Dice::text),
        freshness = dice.maybe(freshness),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

fn level(dice: &mut Dice<'_>) -> LoggingLevel {
    dice.pick(&[
        LoggingLevel::Debug,
        LoggingLevel::Error,
        LoggingLevel::Emergency,
    ])
}

pub(crate) fn set_level(dice: &mut Dice<'_>) -> SetLevelParams {
    build!(SetLevelParams::new(level(dice)); meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn log_message(dice: &mut Dice<'_>) -> LogMessageParams {
    build!(LogMessageParams::new(level(dice), dice.value());
        logger = dice.maybe(Dice::word), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

fn id(dice: &mut Dice<'_>) -> RequestId {
    match dice.flag() {
        false => RequestId::from(dice.pick(&[0, -1, i64::MAX])),
        true => RequestId::from(dice.text()),
    }
}

pub(crate) fn progress(dice: &mut Dice<'_>) -> ProgressParams {
    build!(ProgressParams::new(ProgressToken::from(id(dice)), dice.share());
        total = dice.maybe(Dice::share),
        message = dice.maybe(Dice::text),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn cancelled(dice: &mut Dice<'_>) -> CancelledParams {
    build!(CancelledParams::new(id(dice));
        reason = dice.maybe(Dice::text), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn list_params(dice: &mut Dice<'_>) -> ListParams {
    build!(ListParams::default(); cursor = dice.maybe(cursor), meta = dice.maybe(Dice::meta), extra = dice.extra())
}
