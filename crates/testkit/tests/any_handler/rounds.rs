//! A handler that returns its questions itself, round by round.

use std::sync::Arc;

use pintle_model::{
    CallToolResult, ElicitParams, ElicitSchema, InputRequest, InputRequests, InputRequired,
    NoParams, Outcome, StringSchema,
};
use pintle_runtime::Context;
use pintle_testkit::SideEffects;
use proptest::collection::vec;
use proptest::prelude::Strategy;

use super::plan::word;

/// The questions of one round: forms, and perhaps the roots.
pub(crate) type Round = (Vec<u8>, bool);

/// Up to five rounds, each of which asks something.
pub(crate) fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let round = (vec(0..6_u8, 0..4), proptest::bool::ANY);
    vec(
        round.prop_filter("asks", |(forms, roots)| *roots || !forms.is_empty()),
        0..6,
    )
}

/// Runs the handler once; the state has the number of rounds and their answers.
pub(crate) async fn run(
    rounds: Arc<Vec<Round>>,
    cx: Context,
    effects: SideEffects,
) -> Outcome<CallToolResult> {
    cx.once("begin", async { effects.note("begin") }).await;
    let state = cx.request_state();
    let answers = state.iter().flat_map(|state| state.split('|'));
    let mut answers: Vec<String> = answers.map(str::to_owned).collect();
    if let Some(last) = answers.len().checked_sub(1) {
        answers[last] = round_answers(&rounds[last], &cx);
    }
    let Some(next) = rounds.get(answers.len()) else {
        return Outcome::Complete(CallToolResult::text(answers.join("|")));
    };
    answers.push(String::new());
    Outcome::InputRequired(InputRequired::asking(questions(next)).with_state(answers.join("|")))
}

fn questions((forms, roots): &Round) -> InputRequests {
    let form = |(place, at): (usize, &u8)| {
        let schema = ElicitSchema::new().required("word", StringSchema::new());
        let request = InputRequest::from(ElicitParams::form(at.to_string(), schema));
        (format!("form {place}"), request)
    };
    let roots = roots.then(|| {
        (
            "roots".to_owned(),
            InputRequest::ListRoots(NoParams::default()),
        )
    });
    forms.iter().enumerate().map(form).chain(roots).collect()
}

fn round_answers((forms, roots): &Round, cx: &Context) -> String {
    let responses = cx.input_responses();
    let form = |place: usize| {
        let Some(answer) = responses.get(&format!("form {place}")) else {
            return "lost".to_owned();
        };
        let content = answer.get("content");
        let word = content.and_then(|content| content["word"].as_str());
        word.unwrap_or("none").to_owned()
    };
    let mut words: Vec<String> = (0..forms.len()).map(form).collect();
    if *roots {
        words.push(
            responses
                .get("roots")
                .map_or("lost", |_| "roots")
                .to_owned(),
        );
    }
    words.join(",")
}

/// The expected result of rounds.
pub(crate) fn expected(rounds: &[Round]) -> String {
    let of_round = |(forms, roots): &Round| {
        let form = |at: &u8| word(*at).unwrap_or_else(|| "none".to_owned());
        let mut words: Vec<String> = forms.iter().map(form).collect();
        words.extend(roots.then(|| "roots".to_owned()));
        words.join(",")
    };
    let answers: Vec<String> = rounds.iter().map(of_round).collect();
    answers.join("|")
}
