//! What servers ask of clients, and what clients answer.

use pintle_model::*;
use serde_json::{Number, json};

use crate::generated::common::{
    audio_content, image_content, role, task_metadata, text_content, tool_result, tool_use,
};
use crate::generated::dice::{Dice, build};
use crate::generated::offers::tool;

fn number(dice: &mut Dice<'_>) -> Number {
    match dice.flag() {
        false => Number::from(dice.count()),
        true => Number::from_f64(dice.share()).unwrap_or(0.into()),
    }
}

fn choice(dice: &mut Dice<'_>) -> Choice {
    Choice::new(dice.word(), dice.text())
}

pub(crate) fn string_schema(dice: &mut Dice<'_>) -> StringSchema {
    build!(StringSchema::new();
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        min_length = dice.maybe(Dice::count),
        max_length = dice.maybe(Dice::count),
        pattern = dice.maybe(|_| "^a+$".to_owned()),
        format = dice.maybe(|dice| dice.pick(&[
            StringFormat::Email, StringFormat::Uri, StringFormat::Date, StringFormat::DateTime])),
        default = dice.maybe(Dice::text),
        extra = dice.extra())
}

pub(crate) fn number_schema(dice: &mut Dice<'_>) -> NumberSchema {
    let base = if dice.flag() {
        NumberSchema::integer()
    } else {
        NumberSchema::number()
    };
    // The published schemas have integers where the specification has numbers.
    build!(base;
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        minimum = dice.maybe(|dice| dice.count().into()),
        maximum = dice.maybe(|dice| dice.count().into()),
        default = dice.maybe(|dice| dice.count().into()),
        extra = dice.extra())
}

pub(crate) fn boolean_schema(dice: &mut Dice<'_>) -> BooleanSchema {
    build!(BooleanSchema::new();
        title = dice.maybe(Dice::text),
        description = dice.maybe(Dice::text),
        default = dice.maybe(Dice::flag),
        extra = dice.extra())
}

pub(crate) fn single_select(dice: &mut Dice<'_>) -> UntitledSingleSelectEnumSchema {
    build!(UntitledSingleSelectEnumSchema::new(dice.list(Dice::word));
        title = dice.maybe(Dice::text), default = dice.maybe(Dice::word), extra = dice.extra())
}

pub(crate) fn titled_single_select(dice: &mut Dice<'_>) -> TitledSingleSelectEnumSchema {
    build!(TitledSingleSelectEnumSchema::new(dice.list(choice));
        description = dice.maybe(Dice::text), default = dice.maybe(Dice::word), extra = dice.extra())
}

pub(crate) fn legacy_titled(dice: &mut Dice<'_>) -> LegacyTitledEnumSchema {
    build!(LegacyTitledEnumSchema::default();
        words = dice.list(Dice::word),
        enum_names = Some(dice.texts()),
        default = dice.maybe(Dice::word),
        extra = dice.extra())
}

pub(crate) fn multi_select(dice: &mut Dice<'_>) -> UntitledMultiSelectEnumSchema {
    build!(UntitledMultiSelectEnumSchema::new(dice.list(Dice::word));
        min_items = dice.maybe(Dice::count),
        max_items = dice.maybe(Dice::count),
        default = dice.maybe(|dice| dice.list(Dice::word)),
        extra = dice.extra())
}

pub(crate) fn titled_multi_select(dice: &mut Dice<'_>) -> TitledMultiSelectEnumSchema {
    build!(TitledMultiSelectEnumSchema::new(dice.list(choice));
        title = dice.maybe(Dice::text),
        default = dice.maybe(|dice| dice.list(Dice::word)),
        extra = dice.extra())
}

pub(crate) fn primitive(dice: &mut Dice<'_>) -> PrimitiveSchema {
    match dice.choice_of(8) {
        0 => string_schema(dice).into(),
        1 => number_schema(dice).into(),
        2 => boolean_schema(dice).into(),
        3 => single_select(dice).into(),
        4 => titled_single_select(dice).into(),
        5 => legacy_titled(dice).into(),
        6 => multi_select(dice).into(),
        _ => titled_multi_select(dice).into(),
    }
}

pub(crate) fn elicit_schema(dice: &mut Dice<'_>) -> ElicitSchema {
    build!(ElicitSchema::new();
        dialect = dice.maybe(|_| "https://json-schema.org/draft/2020-12/schema".to_owned()),
        properties = dice.list(|dice| (dice.word(), primitive(dice))).into_iter().collect(),
        required = dice.maybe(|dice| dice.list(Dice::word)),
        extra = dice.extra())
}

pub(crate) fn elicit_form(dice: &mut Dice<'_>) -> ElicitFormParams {
    build!(ElicitFormParams::new(dice.text(), elicit_schema(dice));
        task = dice.maybe(task_metadata), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

/// With the id that 2025-11-25 requires.
pub(crate) fn elicit_url(dice: &mut Dice<'_>) -> ElicitUrlParams {
    build!(ElicitUrlParams::new(dice.text(), dice.uri());
        elicitation_id = Some(dice.word()),
        task = dice.maybe(task_metadata),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn elicit(dice: &mut Dice<'_>) -> ElicitParams {
    match dice.flag() {
        false => ElicitParams::Form(elicit_form(dice)),
        true => ElicitParams::Url(elicit_url(dice)),
    }
}

/// Without fractions: `schema.json` has integer where the specification has number (AMB-01).
pub(crate) fn elicit_result(dice: &mut Dice<'_>) -> ElicitResult {
    let answer = |dice: &mut Dice<'_>| match dice.choice_of(4) {
        0 => json!(dice.text()),
        1 => json!(dice.count()),
        2 => json!(dice.flag()),
        _ => json!(dice.texts()),
    };
    let content = dice
        .list(|dice| (dice.word(), answer(dice)))
        .into_iter()
        .collect::<JsonObject>();
    let base = dice.pick(&[
        ElicitResult::accept(content),
        ElicitResult::decline(),
        ElicitResult::cancel(),
    ]);
    build!(base; meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn fractional_elicit_result(dice: &mut Dice<'_>) -> ElicitResult {
    let content = dice
        .list(|dice| (dice.word(), json!(number(dice))))
        .into_iter();
    ElicitResult::accept(content.collect::<JsonObject>())
}

pub(crate) fn elicitation_complete(dice: &mut Dice<'_>) -> ElicitationCompleteParams {
    build!(ElicitationCompleteParams::new(dice.word());
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

/// Draws a content block for sampling messages.
pub(crate) fn sampling_block(dice: &mut Dice<'_>) -> ContentBlock {
    match dice.choice_of(5) {
        0 => ContentBlock::Text(text_content(dice)),
        1 => ContentBlock::Image(image_content(dice)),
        2 => ContentBlock::Audio(audio_content(dice)),
        3 => ContentBlock::from(tool_use(dice)),
        _ => ContentBlock::from(tool_result(dice)),
    }
}

fn sampling_content(dice: &mut Dice<'_>) -> SamplingContent {
    match dice.flag() {
        false => sampling_block(dice).into(),
        true => dice.list(sampling_block).into(),
    }
}

pub(crate) fn sampling_message(dice: &mut Dice<'_>) -> SamplingMessage {
    build!(SamplingMessage::new(role(dice), sampling_content(dice));
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn model_preferences(dice: &mut Dice<'_>) -> ModelPreferences {
    build!(ModelPreferences::default();
        hints = dice.maybe(|dice| dice.list(|dice| ModelHint::named(dice.word()))),
        cost_priority = dice.maybe(Dice::share),
        speed_priority = dice.maybe(Dice::share),
        intelligence_priority = dice.maybe(Dice::share),
        extra = dice.extra())
}

pub(crate) fn create_message(dice: &mut Dice<'_>) -> CreateMessageParams {
    build!(CreateMessageParams::new(dice.list(sampling_message), dice.count());
        model_preferences = dice.maybe(model_preferences),
        system_prompt = dice.maybe(Dice::text),
        include_context = dice.maybe(|dice| dice.pick(&[
            IncludeContext::None, IncludeContext::ThisServer, IncludeContext::AllServers])),
        temperature = dice.maybe(Dice::share),
        stop_sequences = dice.maybe(Dice::texts),
        metadata = dice.maybe(Dice::plain_object),
        tools = dice.maybe(|dice| dice.list(tool)),
        tool_choice = dice.maybe(|dice| dice.pick(&[
            ToolChoiceMode::Auto, ToolChoiceMode::Required, ToolChoiceMode::None]).into()),
        task = dice.maybe(task_metadata),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn create_message_result(dice: &mut Dice<'_>) -> CreateMessageResult {
    build!(CreateMessageResult::new(sampling_content(dice), dice.word());
        role = role(dice),
        stop_reason = dice.maybe(|dice| dice.pick(&[StopReason::EndTurn, StopReason::ToolUse, "other".into()])),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn root(dice: &mut Dice<'_>) -> Root {
    build!(Root::new("file:///home");
        name = dice.maybe(Dice::text), meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn list_roots_result(dice: &mut Dice<'_>) -> ListRootsResult {
    build!(ListRootsResult::new(dice.list(root));
        meta = dice.maybe(Dice::meta), extra = dice.extra())
}

pub(crate) fn input_request(dice: &mut Dice<'_>) -> InputRequest {
    match dice.choice_of(3) {
        0 => InputRequest::ListRoots(NoParams::default()),
        1 => elicit(dice).into(),
        _ => create_message(dice).into(),
    }
}

pub(crate) fn input_requests(dice: &mut Dice<'_>) -> InputRequests {
    dice.list(|dice| (dice.word(), input_request(dice)))
        .into_iter()
        .collect()
}

pub(crate) fn input_required(dice: &mut Dice<'_>) -> InputRequired {
    build!(InputRequired::resume(dice.text());
        input_requests = dice.maybe(input_requests),
        meta = dice.maybe(Dice::meta),
        extra = dice.extra())
}

pub(crate) fn input_responses(dice: &mut Dice<'_>) -> InputResponses {
    let answer = |dice: &mut Dice<'_>| {
        let mut answer: InputResponse = match dice.choice_of(3) {
            0 => list_roots_result(dice).into(),
            1 => elicit_result(dice).into(),
            _ => create_message_result(dice).into(),
        };
        // Answers are fitted before they lose their type.
        answer
            .fit(Revision::LATEST)
            .expect("the latest revision can say it");
        answer
    };
    dice.list(|dice| (dice.word(), answer(dice)))
        .into_iter()
        .collect()
}

pub(crate) fn subscription_filter(dice: &mut Dice<'_>) -> SubscriptionFilter {
    build!(SubscriptionFilter::new();
        tools_list_changed = dice.maybe(Dice::flag),
        prompts_list_changed = dice.maybe(Dice::flag),
        resources_list_changed = dice.maybe(Dice::flag),
        resource_subscriptions = dice.maybe(|dice| dice.list(Dice::uri)),
        task_ids = dice.maybe(|dice| dice.list(Dice::word)),
        extra = dice.extra())
}
