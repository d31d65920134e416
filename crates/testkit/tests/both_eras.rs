//! The comparison of eras, on servers that agree and on servers that do not.

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_model::{
    CallToolResult, CreateMessageParams, ElicitParams, ElicitSchema, InputRequest, InputRequests,
    InputRequired, Outcome, Revision, SamplingMessage, StringSchema,
};
use pintle_runtime::{AskError, Context};
use pintle_server::{Prompt, Resource, Server, Tool};
use pintle_testkit::{BothEras, DisagreementError, SideEffects};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Word {
    word: String,
}

async fn ask(cx: &Context, message: &str) -> Result<String, AskError> {
    let answer = cx.elicit::<Word>(message).await?.accepted();
    Ok(answer.map_or_else(|| "nothing".to_owned(), |word| word.word))
}

fn one_tool(tool: Tool) -> Server {
    Server::new("eras", "1.0.0").add_tool(tool)
}

/// The lines in which two revisions differ.
fn differences(outcome: Result<pintle_testkit::Agreement, DisagreementError>) -> String {
    let disagreement = outcome.expect_err("the revisions differ");
    assert!(
        matches!(disagreement, DisagreementError::Parted { .. }),
        "{disagreement}"
    );
    disagreement.to_string()
}

#[test]
fn a_handler_of_tools_prompts_and_resources_goes_the_same_way() {
    let hello = async |cx: Context| -> Result<String, AskError> { ask(&cx, "Who?").await };
    let eras = move || {
        BothEras::new(move |_| {
            one_tool(Tool::new("hello").handler(hello))
                .add_prompt(Prompt::new("hello").handler(hello))
                .add_resource(Resource::new("hello://", "hello").reader(hello))
        })
        .answering("Who?", json!({ "word": "Ada" }))
    };
    assert_eq!(eras().calling("hello", json!({})).run().text(), "Ada");
    let prompt = eras().getting("hello", json!({})).run();
    assert!(prompt.response().to_string().contains("Ada"));
    let resource = eras().reading("hello://").run();
    assert!(resource.response().to_string().contains("Ada"));
    assert_eq!(resource.asked().len(), 1);
}

#[test]
fn a_deed_above_a_question_is_found() {
    let eras = |is_once: bool| {
        BothEras::new(move |effects: SideEffects| {
            one_tool(Tool::new("pay").handler(move |cx: Context| {
                let effects = effects.clone();
                async move {
                    if is_once {
                        cx.once("pay", async { effects.note("pay") }).await;
                    } else {
                        effects.note("pay");
                    }
                    ask(&cx, "Sure?").await
                }
            }))
        })
        .calling("pay", json!({}))
        .declining("Sure?")
    };
    assert_eq!(eras(true).run().count("pay"), 1);
    let runtime = paused();
    let found = differences(runtime.block_on(eras(false).play()));
    assert_eq!(
        found,
        "2025-11-25 and 2026-07-28 differ:\n  done \"pay\": 1 × in 2025-11-25, 2 × in \
         2026-07-28; `Context::once` is for what must not be done again"
    );
}

#[test]
fn a_question_that_changes_between_runs_is_found() {
    let runs = std::sync::Arc::new(AtomicUsize::new(0));
    let eras = BothEras::new(move |_| {
        let runs = runs.clone();
        one_tool(Tool::new("fickle").handler(move |cx: Context| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            async move { ask(&cx, &format!("Question {run}")).await }
        }))
    })
    .calling("fickle", json!({}))
    .cancelling("Question");
    let found = differences(paused().block_on(eras.play()));
    assert!(found.contains("asked only in 2025-11-25"), "{found}");
    assert!(
        found.contains("came to, in 2026-07-28: error -32603"),
        "{found}"
    );
}

#[test]
fn a_missing_feature_is_named_and_its_revision_is_not_compared() {
    let sample = async |cx: Context| -> Result<String, AskError> {
        let question = vec![SamplingMessage::user("Say something")];
        let sent = cx.sample(CreateMessageParams::new(question, 10)).await?;
        let url = cx.elicit_url("Sign in", "https://example.com/in").await?;
        let text = sent.content.blocks()[0].as_text().unwrap_or("?").to_owned();
        Ok(format!("{text} {url:?}"))
    };
    let agreed = BothEras::new(move |_| one_tool(Tool::new("sample").handler(sample)))
        .calling("sample", json!({}))
        .sampling("something", "hm")
        .consenting("Sign in")
        .run();
    assert_eq!(agreed.text(), "hm Accepted(())");
    assert_eq!(
        agreed.revisions(),
        [Revision::LATEST, Revision::LATEST_LEGACY]
    );
    let lacks: Vec<&str> = agreed.skipped().iter().map(|s| &*s.lacks).collect();
    assert_eq!(lacks, ["elicitation by a URL"; 3]);
}

#[test]
fn handlers_that_return_their_questions_go_the_same_way() {
    let twice = async |cx: Context| {
        let schema = || ElicitSchema::new().required("word", StringSchema::new());
        let next = |state: &str| {
            let request = InputRequest::from(ElicitParams::form(format!("Say {state}"), schema()));
            let requests = InputRequests::from_iter([("word", request)]);
            Outcome::InputRequired(InputRequired::asking(requests).with_state(state))
        };
        match cx.request_state().as_deref() {
            None => next("one"),
            Some("one") => next("two"),
            Some(state) => Outcome::Complete(CallToolResult::text(state)),
        }
    };
    let agreed = BothEras::new(move |_| one_tool(Tool::new("twice").handler(twice)))
        .calling("twice", json!({}))
        .answering("Say", json!({ "word": "a" }))
        .run();
    assert_eq!((agreed.text(), agreed.asked().len()), ("two", 2));
    assert_eq!(agreed.revisions().len(), 3);
}

#[test]
fn a_test_that_cannot_be_played_reports_the_reason() {
    let play = |tool: Tool| {
        let tool = std::sync::Mutex::new(Some(tool));
        let eras = BothEras::new(move |_| {
            one_tool(
                tool.lock()
                    .expect("whole")
                    .take()
                    .expect("the first revision"),
            )
        });
        paused().block_on(eras.calling("t", json!({})).play())
    };
    let asking = Tool::new("t").handler(async |cx: Context| ask(&cx, "Who?").await);
    let error = play(asking).expect_err("nobody answers").to_string();
    assert!(
        error.starts_with("in 2026-07-28 no rule answers"),
        "{error}"
    );
    let hanging = Tool::new("t").handler(async || std::future::pending::<()>().await);
    let error = play(hanging).expect_err("nothing ends it");
    assert_eq!(error, DisagreementError::Unending(Revision::LATEST));
    let nameless = play(Tool::new("").handler(async || ())).expect_err("it has no name");
    assert!(
        matches!(nameless, DisagreementError::Start(_)),
        "{nameless}"
    );
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
}
