//! Generated values survive the wire, and, fitted to a revision, satisfy that revision's
//! published schema.
//!
//! The schemas are read from the folder `PINTLE_SPEC_DIR`, laid out as
//! `<revision>/schema.json`. Without it only the first half is tested, and CI fails.

mod asking;
mod common;
mod dice;
mod offers;
mod published;

use std::cell::Cell;
use std::fmt::Debug;

use pintle_model::{ContentBlock, Fit, FitError, PrimitiveSchema, Revision, SamplingContent};
use proptest::prelude::{ProptestConfig, any};
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde::de::DeserializeOwned;

use dice::Dice;
use published::{PUBLISHED, Wrap};

/// Draws values and tests each.
fn for_all<T: Debug>(draw: fn(&mut Dice<'_>) -> T, test: impl Fn(T)) {
    let config = ProptestConfig {
        cases: 192,
        failure_persistence: None,
        max_shrink_iters: 256,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&proptest::collection::vec(any::<u8>(), 0..256), |bytes| {
            test(draw(&mut Dice::new(&bytes)));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("values are written");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, value, "{text}");
    let tree = serde_json::to_value(value).expect("values are written");
    let read: T = serde_json::from_value(tree).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, value, "through a tree: {text}");
}

/// Fits the value to every revision. A fitted value satisfies the published schema, and fitting
/// again does not change it. Returns the number of revisions that can express the value.
fn fits<T: Fit + Serialize + Clone + PartialEq + Debug>(value: &T, wrap: Wrap) -> usize {
    Revision::ALL
        .into_iter()
        .filter(|revision| fits_one(value.clone(), wrap, *revision).is_ok())
        .count()
}

fn fits_one<T: Fit + Serialize + Clone + PartialEq + Debug>(
    mut value: T,
    wrap: Wrap,
    revision: Revision,
) -> Result<(), FitError> {
    value.fit(revision)?;
    let once = value.clone();
    assert_eq!(
        value.fit(revision),
        Ok(()),
        "{revision}: fits once, but not twice"
    );
    assert_eq!(value, once, "{revision}: changes when it is fitted again");
    if let Some(published) = &*PUBLISHED {
        let tree = serde_json::to_value(&value).expect("values are written");
        if let Some(faults) = published.faults(revision, wrap, tree) {
            panic!("{faults}");
        }
    }
    Ok(())
}

/// Declares one test per type: its generator and its check.
macro_rules! generated {
    ($( $name:ident: $draw:expr => $wrap:expr; )+) => {
        $(
            // hardening: H-114
            #[test]
            fn $name() {
                let count = Cell::new(0);
                for_all($draw, |value| {
                    survives(&value);
                    count.set(count.get() + fits(&value, $wrap));
                });
                assert!(count.get() > 0, "no revision could say any of the values");
            }
        )+
    };
}

use Wrap::{Bare, Notice, Question, Request, ResultOf};

generated! {
    annotations: common::annotations => Bare("Annotations");
    implementations: common::implementation => Bare("Implementation");
    text_content: |dice| ContentBlock::Text(common::text_content(dice)) => Bare("TextContent");
    images: |dice| ContentBlock::Image(common::image_content(dice)) => Bare("ImageContent");
    sounds: |dice| ContentBlock::Audio(common::audio_content(dice)) => Bare("AudioContent");
    resource_links: |dice| ContentBlock::from(common::resource_link(dice)) => Bare("ResourceLink");
    embedded_resources: |dice| ContentBlock::from(common::embedded(dice)) => Bare("EmbeddedResource");
    content_blocks: common::block => Bare("ContentBlock");
    tool_uses: |dice| SamplingContent::from(ContentBlock::from(common::tool_use(dice))) => Bare("ToolUseContent");
    tool_results: |dice| SamplingContent::from(ContentBlock::from(common::tool_result(dice))) => Bare("ToolResultContent");
    client_capabilities: common::client_capabilities => Bare("ClientCapabilities");
    server_capabilities: common::server_capabilities => Bare("ServerCapabilities");
}

generated! {
    tools: offers::tool => Bare("Tool");
    tool_lists: offers::list_tools_result => Wrap::Result("ListToolsResult");
    tool_calls: offers::call_tool => Request("CallToolRequest", "tools/call");
    tool_answers: offers::call_tool_result => Wrap::Result("CallToolResult");
    resources: offers::resource => Bare("Resource");
    resource_templates: offers::resource_template => Bare("ResourceTemplate");
    resource_lists: offers::list_resources_result => Wrap::Result("ListResourcesResult");
    template_lists: offers::list_templates_result => Wrap::Result("ListResourceTemplatesResult");
    resource_reads: offers::read_resource => Request("ReadResourceRequest", "resources/read");
    resource_contents: offers::read_resource_result => Wrap::Result("ReadResourceResult");
    prompts: offers::prompt => Bare("Prompt");
    prompt_arguments: offers::prompt_argument => Bare("PromptArgument");
    prompt_lists: offers::list_prompts_result => Wrap::Result("ListPromptsResult");
    prompt_gets: offers::get_prompt => Request("GetPromptRequest", "prompts/get");
    prompt_messages: offers::prompt_message => Bare("PromptMessage");
    prompt_answers: offers::get_prompt_result => Wrap::Result("GetPromptResult");
    completions: offers::complete => Request("CompleteRequest", "completion/complete");
    completion_answers: offers::complete_result => Wrap::Result("CompleteResult");
    list_requests: offers::list_params => Request("ListToolsRequest", "tools/list");
    handshakes: offers::initialize => Request("InitializeRequest", "initialize");
    handshake_answers: offers::initialize_result => Wrap::Result("InitializeResult");
    discoveries: offers::discover_result => Wrap::Result("DiscoverResult");
    log_levels: offers::set_level => Request("SetLevelRequest", "logging/setLevel");
    log_messages: offers::log_message => Notice("LoggingMessageNotification", "notifications/message");
    progress: offers::progress => Notice("ProgressNotification", "notifications/progress");
    cancellations: offers::cancelled => Notice("CancelledNotification", "notifications/cancelled");
}

generated! {
    form_fields: asking::primitive => Bare("PrimitiveSchemaDefinition");
    text_fields: |dice| PrimitiveSchema::from(asking::string_schema(dice)) => Bare("StringSchema");
    number_fields: |dice| PrimitiveSchema::from(asking::number_schema(dice)) => Bare("NumberSchema");
    yes_or_no_fields: |dice| PrimitiveSchema::from(asking::boolean_schema(dice)) => Bare("BooleanSchema");
    choice_fields: |dice| PrimitiveSchema::from(asking::single_select(dice)) => Bare("UntitledSingleSelectEnumSchema");
    titled_choice_fields: |dice| PrimitiveSchema::from(asking::titled_single_select(dice)) => Bare("TitledSingleSelectEnumSchema");
    old_titled_choice_fields: |dice| PrimitiveSchema::from(asking::legacy_titled(dice)) => Bare("LegacyTitledEnumSchema");
    multiple_choice_fields: |dice| PrimitiveSchema::from(asking::multi_select(dice)) => Bare("UntitledMultiSelectEnumSchema");
    titled_multiple_choice_fields: |dice| PrimitiveSchema::from(asking::titled_multi_select(dice)) => Bare("TitledMultiSelectEnumSchema");
    questions: asking::elicit => Question("ElicitRequest", "elicitation/create");
    answers: asking::elicit_result => Bare("ElicitResult");
    finished_urls: asking::elicitation_complete => Notice("ElicitationCompleteNotification", "notifications/elicitation/complete");
    sampling_messages: asking::sampling_message => Bare("SamplingMessage");
    sampling_requests: asking::create_message => Question("CreateMessageRequest", "sampling/createMessage");
    sampling_answers: asking::create_message_result => Bare("CreateMessageResult");
    roots: asking::list_roots_result => Bare("ListRootsResult");
    input_requests: asking::input_requests => Bare("InputRequests");
    input_required: asking::input_required => ResultOf("InputRequiredResult", "input_required");
    input_responses: asking::input_responses => Bare("InputResponses");
    subscription_filters: asking::subscription_filter => Bare("SubscriptionFilter");
    tasks: common::task => Bare("Task");
    task_handles: common::task_handle => ResultOf("Result", "task");
    detailed_tasks: common::detailed_task => Wrap::Result("Result");
}

// spec: 2025-11-25 AMB-01
#[test]
fn fractions_in_answers_survive_although_the_schema_omits_them() {
    for_all(asking::fractional_elicit_result, |answer| survives(&answer));
}
