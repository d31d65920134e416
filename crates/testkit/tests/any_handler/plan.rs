//! The steps of a random handler, and the answers of its client.

use pintle_model::{
    CreateMessageResult, ElicitParams, ElicitResult, InputRequest, InputResponse, ListRootsResult,
    Root,
};
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use serde_json::json;

/// One step of a handler.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Asks the user by a form.
    Form(u8),
    /// Sends the user to a URL.
    Url(u8),
    /// Asks the model.
    Sample(u8),
    /// Asks for the roots.
    Roots,
    /// Does something once; the number identifies the side effect after [`numbered`].
    Once(usize),
    /// Asks the user, and chooses the next steps by the answer.
    If(u8, Vec<Step>, Vec<Step>),
    /// Does both at the same time.
    Both(Vec<Step>, Vec<Step>),
}

/// Generates random steps.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        4 => (0..6_u8).prop_map(Step::Form),
        1 => (0..6_u8).prop_map(Step::Url),
        2 => (0..6_u8).prop_map(Step::Sample),
        1 => Just(Step::Roots),
        4 => Just(Step::Once(0)),
    ];
    let step = leaf.prop_recursive(3, 12, 3, |inner| {
        let some = || vec(inner.clone(), 0..3);
        let inside: BoxedStrategy<Step> = prop_oneof![
            (0..6_u8, some(), some()).prop_map(|(at, yes, no)| Step::If(at, yes, no)),
            (some(), some()).prop_map(|(one, other)| Step::Both(one, other)),
        ]
        .boxed();
        inside
    });
    vec(step, 0..5)
        .prop_map(numbered)
        .prop_filter("at most ten rounds", |steps| rounds(steps) <= 9)
}

/// Numbers the side effects.
fn numbered(mut steps: Vec<Step>) -> Vec<Step> {
    let mut next = 0;
    number(&mut steps, &mut next);
    steps
}

fn number(steps: &mut [Step], next: &mut usize) {
    for step in steps {
        match step {
            Step::Once(number) => {
                *number = *next;
                *next += 1;
            }
            Step::If(_, one, other) | Step::Both(one, other) => {
                number(one, next);
                number(other, next);
            }
            _ => {}
        }
    }
}

/// Limit on the rounds that the steps may need.
fn rounds(steps: &[Step]) -> usize {
    let of_step = |step: &Step| match step {
        Step::Form(_) | Step::Url(_) | Step::Sample(_) | Step::Roots => 1,
        Step::Once(_) => 0,
        Step::If(_, yes, no) => 1 + rounds(yes).max(rounds(no)),
        Step::Both(one, other) => rounds(one).max(rounds(other)),
    };
    steps.iter().map(of_step).sum()
}

/// The names of all side effects.
pub(crate) fn effects(steps: &[Step]) -> Vec<String> {
    let of_step = |step: &Step| match step {
        Step::Once(number) => vec![format!("deed {number}")],
        Step::If(_, one, other) | Step::Both(one, other) => [effects(one), effects(other)].concat(),
        _ => Vec::new(),
    };
    steps.iter().flat_map(of_step).collect()
}

/// The word that the user gives for question `at`; none if the user declines or cancels.
pub(crate) fn word(at: u8) -> Option<String> {
    at.is_multiple_of(3).then(|| format!("word {at}"))
}

/// The answers of the client, which depend on the question alone.
pub(crate) fn answer(request: &InputRequest) -> Option<InputResponse> {
    match request {
        InputRequest::Elicit(params) => Some(elicited(params).into()),
        InputRequest::CreateMessage(params) => {
            let text = params
                .messages
                .first()?
                .content
                .blocks()
                .first()?
                .as_text()?;
            Some(CreateMessageResult::new(format!("said {text}"), "any").into())
        }
        InputRequest::ListRoots(_) => {
            Some(ListRootsResult::new(vec![Root::new("file:///any")]).into())
        }
        _ => None,
    }
}

fn elicited(params: &ElicitParams) -> ElicitResult {
    let at: u8 = params
        .message()
        .and_then(|message| message.parse().ok())
        .expect("messages are numbers");
    match (word(at), at % 2, params) {
        (Some(_), _, ElicitParams::Url(_)) => ElicitResult::accept(None),
        (Some(word), _, _) => ElicitResult::accept(json!({ "word": word }).as_object().cloned()),
        (None, 0, _) => ElicitResult::decline(),
        (None, _, _) => ElicitResult::cancel(),
    }
}
