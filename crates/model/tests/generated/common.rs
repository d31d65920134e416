//! Content, identity, capabilities and tasks.

use pintle_model::*;
use serde_json::json;

use crate::generated::dice::{Dice, build};

pub(crate) fn role(dice: &mut Dice<'_>) -> Role {
    dice.pick(&[Role::User, Role::Assistant])
}

pub(crate) fn timestamp(dice: &mut Dice<'_>) -> Timestamp {
    Timestamp::new(dice.pick(&["2025-11-25T10:30:00Z", "1999-12-31T23:59:59.999+01:00"]))
}

pub(crate) fn annotations(dice: &mut Dice<'_>) -> Annotations {
    build!(Annotations::default();
        audience = dice.maybe(|dice| dice.list(role)),
        priority = dice.maybe(Dice::share),
        last_modified = dice.maybe(timestamp),
        extra = dice.extra())
}

pub(crate) fn icon(dice: &mut Dice<'_>) -> Icon {
    build!(Icon::new(dice.uri());
        mime_type = dice.maybe(Dice::word),
        sizes = dice.maybe(|dice| dice.list(|dice| dice.pick(&["48x48", "any"]).to_owned())),
        theme = dice.maybe(|dice| dice.pick(&[IconTheme::Light, IconTheme::Dark])),
        extra = dice.extra())
}

pub(crate) fn icons(dice: &mut Dice<'_>) -> Option<Vec<Icon>> {
    dice.maybe(|dice| dice.list(icon))
}

pub(crate) fn implementation(dice: &mut Dice<'_>) -> Implementation {
    build!(Implementation::new(dice.word(), dice.text());
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        icons = icons(dice),
        website_url = dice.maybe(Dice::uri),
        extra = dice.extra())
}

pub(crate) fn text_content(dice: &mut Dice<'_>) -> TextContent {
    build!(TextContent::new(dice.text());
        annotations = dice.maybe(annotations), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

fn base64(dice: &mut Dice<'_>) -> Base64 {
    Base64::encode(dice.text())
}

pub(crate) fn image_content(dice: &mut Dice<'_>) -> ImageContent {
    build!(ImageContent::new(base64(dice), "image/png");
        annotations = dice.maybe(annotations), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn audio_content(dice: &mut Dice<'_>) -> AudioContent {
    build!(AudioContent::new(base64(dice), "audio/wav");
        annotations = dice.maybe(annotations), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn resource_link(dice: &mut Dice<'_>) -> ResourceLink {
    build!(ResourceLink::new(dice.uri(), dice.word());
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        mime_type = dice.maybe(Dice::word),
        size = dice.maybe(Dice::count),
        icons = icons(dice),
        annotations = dice.maybe(annotations),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn text_contents(dice: &mut Dice<'_>) -> TextResourceContents {
    build!(TextResourceContents::new(dice.uri(), dice.text());
        mime_type = dice.maybe(Dice::word), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn blob_contents(dice: &mut Dice<'_>) -> BlobResourceContents {
    build!(BlobResourceContents::new(dice.uri(), base64(dice));
        mime_type = dice.maybe(Dice::word), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn contents(dice: &mut Dice<'_>) -> ResourceContents {
    match dice.flag() {
        false => ResourceContents::Text(text_contents(dice)),
        true => ResourceContents::Blob(blob_contents(dice)),
    }
}

pub(crate) fn embedded(dice: &mut Dice<'_>) -> EmbeddedResource {
    build!(EmbeddedResource::new(contents(dice));
        annotations = dice.maybe(annotations), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

/// Draws a content block for tools and prompts.
pub(crate) fn block(dice: &mut Dice<'_>) -> ContentBlock {
    match dice.choice_of(5) {
        0 => ContentBlock::Text(text_content(dice)),
        1 => ContentBlock::Image(image_content(dice)),
        2 => ContentBlock::Audio(audio_content(dice)),
        3 => ContentBlock::from(resource_link(dice)),
        _ => ContentBlock::from(embedded(dice)),
    }
}

pub(crate) fn tool_use(dice: &mut Dice<'_>) -> ToolUseContent {
    build!(ToolUseContent::new(dice.word(), dice.word(), dice.object());
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn tool_result(dice: &mut Dice<'_>) -> ToolResultContent {
    build!(ToolResultContent::new(dice.word(), dice.list(block));
        structured_content = dice.maybe(Dice::value),
        is_error = dice.maybe(Dice::flag),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

fn tasks_capability(dice: &mut Dice<'_>, method: &str) -> TasksCapability {
    let base = match dice.flag() {
        false => TasksCapability::default(),
        true => TasksCapability::default().with_request(method),
    };
    build!(base;
        list = dice.maybe(Dice::plain_object), cancel = dice.maybe(Dice::plain_object), extra = dice.extra())
}

pub(crate) fn client_capabilities(dice: &mut Dice<'_>) -> ClientCapabilities {
    build!(ClientCapabilities::default();
        elicitation = dice.maybe(|dice| build!(ElicitationCapability::default();
            form = dice.maybe(Dice::plain_object), url = dice.maybe(Dice::plain_object), extra = dice.extra())),
        sampling = dice.maybe(|dice| build!(SamplingCapability::default();
            context = dice.maybe(Dice::plain_object), tools = dice.maybe(Dice::plain_object), extra = dice.extra())),
        roots = dice.maybe(|dice| build!(RootsCapability::default();
            list_changed = dice.maybe(Dice::flag), extra = dice.extra())),
        tasks = dice.maybe(|dice| tasks_capability(dice, "sampling/createMessage")),
        extensions = dice.maybe(Dice::settings),
        experimental = dice.maybe(Dice::settings),
        extra = dice.extra())
}

pub(crate) fn server_capabilities(dice: &mut Dice<'_>) -> ServerCapabilities {
    build!(ServerCapabilities::default();
        tools = dice.maybe(|dice| build!(ToolsCapability::default();
            list_changed = dice.maybe(Dice::flag), extra = dice.extra())),
        prompts = dice.maybe(|dice| build!(PromptsCapability::default();
            list_changed = dice.maybe(Dice::flag), extra = dice.extra())),
        resources = dice.maybe(|dice| build!(ResourcesCapability::default();
            subscribe = dice.maybe(Dice::flag), list_changed = dice.maybe(Dice::flag), extra = dice.extra())),
        completions = dice.maybe(Dice::plain_object),
        logging = dice.maybe(Dice::plain_object),
        tasks = dice.maybe(|dice| tasks_capability(dice, "tools/call")),
        extensions = dice.maybe(Dice::settings),
        experimental = dice.maybe(Dice::settings),
        extra = dice.extra())
}

pub(crate) fn task_metadata(dice: &mut Dice<'_>) -> TaskMetadata {
    build!(TaskMetadata::default();
        ttl = dice.maybe(span), extra = dice.extra())
}

fn span(dice: &mut Dice<'_>) -> std::time::Duration {
    std::time::Duration::from_millis(dice.count())
}

pub(crate) fn task_handle(dice: &mut Dice<'_>) -> TaskHandle {
    build!(TaskHandle::new(dice.word(), timestamp(dice));
        status = dice.pick(&[TaskStatus::Working, TaskStatus::Completed, TaskStatus::Cancelled]),
        status_message = dice.maybe(Dice::text),
        last_updated_at = timestamp(dice),
        ttl = dice.maybe(span),
        poll_interval = dice.maybe(span),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn task(dice: &mut Dice<'_>) -> Task {
    task_handle(dice).into()
}

pub(crate) fn detailed_task(dice: &mut Dice<'_>) -> DetailedTask {
    let handle = task_handle(dice);
    match dice.choice_of(4) {
        0 => DetailedTask::new(handle),
        1 => DetailedTask::asking(handle, crate::generated::asking::input_requests(dice)),
        2 => DetailedTask::completed(handle, dice.object()),
        _ => DetailedTask::failed(handle, Error::invalid_params(dice.text())),
    }
}

/// A JSON Schema with an object at its root.
pub(crate) fn object_schema(dice: &mut Dice<'_>) -> JsonObject {
    let schema = match dice.choice_of(3) {
        0 => json!({"type": "object"}),
        1 => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/b"}},
            "required": ["a"],
            "$defs": {"b": {"type": "string"}}
        }),
        _ => json!({"type": "object", "additionalProperties": false}),
    };
    schema.as_object().cloned().unwrap_or_default()
}
