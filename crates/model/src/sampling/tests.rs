use serde_json::json;

use super::*;
use crate::{Feature, Fit, FitError, Revision, ToolResultContent};

fn uses(ids: &[&str]) -> SamplingMessage {
    let block = |id: &&str| ContentBlock::from(ToolUseContent::new(*id, "t", JsonObject::new()));
    SamplingMessage::assistant(ids.iter().map(block).collect::<Vec<_>>())
}

fn results(ids: &[&str]) -> SamplingMessage {
    let block = |id: &&str| ContentBlock::from(ToolResultContent::new(*id, Vec::new()));
    SamplingMessage::user(ids.iter().map(block).collect::<Vec<_>>())
}

fn id(id: &str) -> String {
    id.to_owned()
}

// spec: 2025-11-25 SAMP-13, SAMP-14, SAMP-15, SAMP-16
// spec: 2026-07-28 N-SAMP-05, N-SAMP-06
#[test]
fn every_tool_use_is_answered_by_the_next_turn_in_any_order() {
    let conversation = [
        SamplingMessage::user("hi"),
        uses(&["1", "2"]),
        results(&["2", "1"]),
        uses(&["1"]),
        results(&["1"]),
    ];

    assert_eq!(check_tool_results(&conversation), Ok(()));
    assert_eq!(check_tool_results(&[]), Ok(()));
}

// spec: 2025-11-25 SAMP-28, SAMP-29, AMB-70, AMB-71, SAMP-13, SAMP-14, SAMP-15, SAMP-16
// spec: 2026-07-28 N-SAMP-05, N-SAMP-06
#[test]
fn unbalanced_tool_uses_and_results_are_rejected() {
    use SamplingRequestError as F;
    let mixed = SamplingMessage::user(vec![
        ContentBlock::from(ToolResultContent::new("1", Vec::new())),
        ContentBlock::text("and"),
    ]);
    let mut said_by_user = uses(&["1"]);
    said_by_user.role = Role::User;
    let mut answered_by_assistant = results(&["1"]);
    answered_by_assistant.role = Role::Assistant;

    assert_eq!(
        check_tool_results(&[uses(&["1"])]),
        Err(F::Unanswered { id: id("1") })
    );
    assert_eq!(
        check_tool_results(&[uses(&["1"]), SamplingMessage::user("no"), results(&["1"])]),
        Err(F::Unanswered { id: id("1") })
    );
    assert_eq!(
        check_tool_results(&[uses(&["1", "2"]), results(&["1"])]),
        Err(F::Unanswered { id: id("2") })
    );
    assert_eq!(
        check_tool_results(&[results(&["1"])]),
        Err(F::Stray { id: id("1") })
    );
    assert_eq!(
        check_tool_results(&[uses(&["1", "1"])]),
        Err(F::Repeated { id: id("1") })
    );
    assert_eq!(
        check_tool_results(&[uses(&["1"]), results(&["1", "1"])]),
        Err(F::Repeated { id: id("1") })
    );
    assert_eq!(
        check_tool_results(&[uses(&["1"]), mixed]),
        Err(F::Mixed { turn: 1 })
    );
    assert_eq!(
        check_tool_results(&[said_by_user]),
        Err(F::UseOutsideAssistant { turn: 0 })
    );
    assert_eq!(
        check_tool_results(&[answered_by_assistant]),
        Err(F::ResultOutsideUser { turn: 0 })
    );
}

// spec: 2025-11-25 AMB-72
#[test]
fn a_tool_can_only_be_required_where_there_is_one() {
    let none = ToolSampling::new(Vec::new(), 1, Vec::new()).choose(ToolChoiceMode::Required);
    let one = ToolSampling::new(Vec::new(), 1, vec![Tool::without_arguments("t")])
        .choose(ToolChoiceMode::Required);

    assert_eq!(
        none.as_params().check(),
        Err(SamplingRequestError::NothingToUse)
    );
    assert_eq!(one.as_params().check(), Ok(()));
}

// spec: 2025-11-25 SEED-10, SEED-14
#[test]
fn sampling_with_tools_is_a_type_of_its_own() {
    let plain = CreateMessageParams::new(vec![SamplingMessage::user("hi")], 10);
    let tools = vec![Tool::without_arguments("t")];
    let with_tools = CreateMessageParams::with_tools(plain.messages.clone(), 10, tools);

    assert!(ToolSampling::try_from(plain.clone()).is_err());
    assert_eq!(with_tools.tools().len(), 1);
    let wire = serde_json::to_value(&with_tools).unwrap();
    assert_eq!(
        serde_json::from_value::<ToolSampling>(wire).unwrap(),
        with_tools
    );
    assert!(serde_json::from_value::<ToolSampling>(serde_json::to_value(&plain).unwrap()).is_err());
}

// spec: 2025-11-25 SAMP-10
// spec: 2026-07-28 N-SAMP-07
#[test]
fn one_block_and_an_array_of_one_keep_their_form() {
    for content in [
        json!({"type": "text", "text": "a"}),
        json!([{"type": "text", "text": "a"}]),
        json!([]),
    ] {
        let wire =
            json!({"role": "assistant", "content": content, "model": "m", "stopReason": "pause"});
        let result: CreateMessageResult = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&result).unwrap(), wire);
    }
}

// spec: 2025-11-25 D0618-06, AMB-69 (older peers)
#[test]
fn an_older_peer_gets_one_plain_block_or_nothing() {
    let old: Revision = "2025-06-18".parse().unwrap();
    let mut single = CreateMessageResult::new(vec![ContentBlock::text("a")], "m");
    let mut several =
        CreateMessageResult::new(vec![ContentBlock::text("a"), ContentBlock::text("b")], "m");
    let mut tool_use = CreateMessageResult::new(uses(&["1"]).content, "m");

    assert_eq!(single.fit(old), Ok(()));
    assert!(matches!(single.content, SamplingContent::One(_)));
    assert_eq!(several.fit(old), Err(FitError::new(Feature::SamplingTools)));
    assert_eq!(
        tool_use.fit(old),
        Err(FitError::new(Feature::SamplingTools))
    );
}

#[test]
fn a_result_becomes_the_next_message_with_its_role_and_content() {
    let result = CreateMessageResult::new(ContentBlock::text("hi"), "model");
    let message = result.clone().into_message();
    assert_eq!(
        (message.role, message.content),
        (Role::Assistant, result.content)
    );
}

#[test]
fn content_has_a_single_block_only_if_it_has_exactly_one() {
    let block = |text: &str| ContentBlock::text(text);
    let one = SamplingContent::from(block("a"));
    let array_of_one = SamplingContent::from(vec![block("a")]);
    assert_eq!(one.into_single(), Ok(block("a")));
    assert_eq!(array_of_one.into_single(), Ok(block("a")));
    for several in [vec![], vec![block("a"), block("b")]] {
        let content = SamplingContent::from(several);
        assert_eq!(content.clone().into_single(), Err(content));
    }
}
