use std::time::{Duration, Instant};

use pintle_model::{CompletionContext, CompletionReference, ErrorCode};
use pintle_runtime::Extensions;
use serde_json::{Value, json};

use super::*;
use crate::ability::State;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::testing::context;
use crate::tool::ProtocolError;

fn params(argument: &str, typed: &str) -> CompleteParams {
    CompleteParams::new(CompletionReference::prompt("any"), argument, typed)
}

async fn ask<M>(completer: impl Completer<M>, typed: &str) -> Result<Value, Error> {
    ask_with(completer, &params("x", typed), &Extensions::new()).await
}

async fn ask_with<M>(
    completer: impl Completer<M>,
    params: &CompleteParams,
    state: &Extensions,
) -> Result<Value, Error> {
    let mut completers = Completers::default();
    completers.add("x", completer);
    let result = completers
        .complete(params, ExtractContext::new(&context(), state))
        .await?;
    Ok(serde_json::to_value(result.completion).unwrap())
}

fn all(values: &[&str]) -> Value {
    json!({"values": values, "total": values.len(), "hasMore": false})
}

// spec: 2025-11-25 COMP-06 (order and match)
// spec: 2026-07-28 N-COMP-05 (order)
#[tokio::test]
async fn a_list_offers_values_that_begin_with_the_text_first() {
    let languages = ["rust", "python", "typescript", "Ruby"];

    assert_eq!(ask(languages, "ru").await.unwrap(), all(&["rust", "Ruby"]));
    assert_eq!(
        ask(languages, "P").await.unwrap(),
        all(&["python", "typescript"])
    );
    assert_eq!(ask(languages, "").await.unwrap(), all(&languages));
    assert_eq!(ask(languages, "cobol").await.unwrap(), all(&[]));
    assert_eq!(
        ask(vec!["one".to_owned()], "o").await.unwrap(),
        all(&["one"])
    );
    assert_eq!(
        ask(&["one"] as &'static [&'static str], "o").await.unwrap(),
        all(&["one"])
    );
}

#[tokio::test]
async fn a_function_offers_the_values_that_it_returns() {
    async fn later(typed: String) -> Vec<String> {
        vec![format!("{typed}!"), format!("{typed}?")]
    }
    fn now(typed: String) -> [String; 1] {
        [format!("{typed}.")]
    }
    assert_eq!(ask(later, "a").await.unwrap(), all(&["a!", "a?"]));
    assert_eq!(ask(now, "a").await.unwrap(), all(&["a."]));
}

#[tokio::test]
async fn values_of_a_function_without_the_text_are_searched() {
    let now = || vec!["begin", "end", "appendix"];
    let later = async |_: OtherArguments| ["begin", "end", "appendix"];
    assert_eq!(
        ask(now, "E").await.unwrap(),
        all(&["end", "begin", "appendix"])
    );
    assert_eq!(ask(later, "en").await.unwrap(), all(&["end", "appendix"]));
    assert_eq!(
        ask(later, "").await.unwrap(),
        all(&["begin", "end", "appendix"])
    );
    let chosen = || {
        let mut completion = Completion::new(["begin"]);
        completion.has_more = Some(true);
        completion
    };
    let answer = ask(chosen, "x").await.unwrap();
    assert_eq!(answer["values"], json!(["begin"]));
}

// spec: 2025-11-25 COMP-02
// spec: 2026-07-28 N-COMP-02
#[tokio::test]
async fn a_function_sees_the_arguments_that_are_filled_in_already() {
    async fn pages(typed: String, given: OtherArguments) -> Vec<String> {
        vec![format!(
            "{}/{typed}",
            given.get("book").unwrap_or("no book")
        )]
    }
    let mut params = params("x", "p");
    let state = Extensions::new();
    assert_eq!(
        ask_with(pages, &params, &state).await.unwrap(),
        all(&["no book/p"])
    );

    let book = BTreeMap::from([("book".to_owned(), "emma".to_owned())]);
    params.context = Some(CompletionContext::from(book));
    assert_eq!(
        ask_with(pages, &params, &state).await.unwrap(),
        all(&["emma/p"])
    );
}

#[tokio::test]
async fn a_function_takes_abilities() {
    struct Shelf(Vec<&'static str>);
    async fn books(shelf: State<Shelf>, _context: Context, typed: String) -> Vec<&'static str> {
        shelf
            .0
            .0
            .iter()
            .copied()
            .filter(|title| title.starts_with(&typed))
            .collect()
    }
    let mut state = Extensions::new();
    let book = Resource::new("books://{title}", "book").complete("title", books);
    assert!(!book.required_state()[0].is_met_by(&state));
    state.insert(Shelf(vec!["emma", "persuasion"]));

    assert!(book.required_state()[0].is_met_by(&state));
    assert_eq!(
        ask_with(books, &params("x", "e"), &state).await.unwrap(),
        all(&["emma"])
    );
}

// spec: 2025-11-25 COMP-04, AMB-65 (a hundred values)
// spec: 2026-07-28 N-COMP-03
#[tokio::test]
async fn an_answer_holds_a_hundred_values_and_states_that_there_are_more() {
    async fn many() -> Vec<String> {
        (0..250).map(|number| number.to_string()).collect()
    }
    fn paged() -> Completion {
        let mut completion = Completion::default();
        completion.values = (0..101).map(|number| number.to_string()).collect();
        completion.total = Some(1000);
        completion
    }
    let hundred = ask((0..100).map(|n: u8| n.to_string()).collect::<Vec<_>>(), "")
        .await
        .unwrap();
    assert_eq!(
        (&hundred["total"], &hundred["hasMore"]),
        (&json!(100), &json!(false))
    );
    for (cut, total) in [(ask(many, "").await, 250), (ask(paged, "").await, 1000)] {
        let cut = cut.unwrap();
        assert_eq!(cut["values"].as_array().unwrap().len(), 100);
        assert_eq!(
            (&cut["total"], &cut["hasMore"]),
            (&json!(total), &json!(true))
        );
    }
}

// spec: 2025-11-25 AMB-65 (argument)
#[tokio::test]
async fn an_argument_that_nothing_completes_has_no_values() {
    let (context, state) = (context(), Extensions::new());
    let ask = Prompt::new("ask").complete("who", ["me"]);
    let answer = ask
        .completion(&params("what", ""), ExtractContext::new(&context, &state))
        .await
        .unwrap();

    assert_eq!(serde_json::to_value(answer.completion).unwrap(), all(&[]));
    assert!(ask.has_completers());
    assert!(!Prompt::new("ask").has_completers());
}

// spec: 2025-11-25 COMP-05, COMP-08 (disclosure)
// spec: 2026-07-28 N-COMP-04, N-COMP-06 (disclosure)
#[tokio::test]
async fn the_peer_learns_nothing_of_why_a_completer_failed() {
    let failing = async || Err::<Vec<String>, _>("the password is wrong");
    assert_eq!(ask(failing, "").await, Err(Error::internal()));

    let strange = || Err::<Vec<String>, _>(ProtocolError(Error::new(ErrorCode(7), "strange")));
    assert_eq!(
        ask(strange, "").await,
        Err(Error::new(ErrorCode(7), "strange"))
    );
}

// hardening: H-89
#[tokio::test]
async fn a_huge_text_is_completed_at_once() {
    let (huge, typed) = ("a".repeat(50_000), format!("{}b", "a".repeat(40_000)));
    let list: Vec<String> = (0..20).map(|number| format!("{huge}{number}")).collect();
    let start = Instant::now();

    assert_eq!(ask(list, &typed).await.unwrap(), all(&[]));
    assert!(start.elapsed() < Duration::from_secs(1));
}
