//! A handler that runs random steps, and its expected result.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pintle_model::{CreateMessageParams, SamplingMessage};
use pintle_runtime::{Answer, AskError, Context};
use pintle_testkit::SideEffects;

use super::plan::{Step, word};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Word {
    word: String,
}

/// Runs the steps, and returns the answers it received.
pub(crate) async fn run(
    steps: Arc<Vec<Step>>,
    cx: Context,
    effects: SideEffects,
) -> Result<String, AskError> {
    do_all(&steps, &cx, &effects).await
}

type Told<'a> = Pin<Box<dyn Future<Output = Result<String, AskError>> + Send + 'a>>;

fn do_all<'a>(steps: &'a [Step], cx: &'a Context, effects: &'a SideEffects) -> Told<'a> {
    Box::pin(async move {
        let mut text = String::new();
        for step in steps {
            text += &do_one(step, cx, effects).await?;
        }
        Ok(text)
    })
}

async fn do_one(step: &Step, cx: &Context, effects: &SideEffects) -> Result<String, AskError> {
    Ok(match step {
        Step::Form(at) => tell_form(*at, &cx.elicit::<Word>(at.to_string()).await?),
        Step::Url(at) => {
            let answer = cx
                .elicit_url(at.to_string(), "https://example.com/")
                .await?;
            format!("url {answer:?};")
        }
        Step::Sample(at) => {
            let messages = vec![SamplingMessage::user(at.to_string())];
            let message = cx.sample(CreateMessageParams::new(messages, 10)).await?;
            format!("{};", message.content.blocks()[0].as_text().unwrap_or("?"))
        }
        Step::Roots => format!("{};", cx.list_roots().await?[0].uri),
        Step::Once(number) => {
            let deed = format!("deed {number}");
            let count = cx.once(&deed, async { effects.note(&deed) }).await;
            format!("{deed} × {count};")
        }
        Step::If(at, yes, no) => match cx.elicit::<Word>(at.to_string()).await? {
            Answer::Accepted(_) => do_all(yes, cx, effects).await?,
            _ => do_all(no, cx, effects).await?,
        },
        Step::Both(one, other) => {
            let (one, other) = tokio::join!(do_all(one, cx, effects), do_all(other, cx, effects));
            one? + &other?
        }
    })
}

fn tell_form(at: u8, answer: &Answer<Word>) -> String {
    match answer {
        Answer::Accepted(word) => format!("{};", word.word),
        Answer::Declined => format!("no to {at};"),
        _ => format!("away from {at};"),
    }
}

/// The expected outcome of steps.
#[derive(Default)]
pub(crate) struct Expected {
    pub(crate) text: String,
    pub(crate) asked: usize,
}

/// Computes the same steps without a server.
pub(crate) fn expected(steps: &[Step]) -> Expected {
    let mut expected = Expected::default();
    expect(steps, &mut expected);
    expected
}

fn expect(steps: &[Step], so_far: &mut Expected) {
    for step in steps {
        so_far.asked += usize::from(!matches!(step, Step::Once(_) | Step::Both(..)));
        let text = &mut so_far.text;
        let written = match step {
            Step::Form(at) => match (word(*at), at % 2) {
                (Some(word), _) => write!(text, "{word};"),
                (None, 0) => write!(text, "no to {at};"),
                (None, _) => write!(text, "away from {at};"),
            },
            Step::Url(at) => match (word(*at), at % 2) {
                (Some(_), _) => write!(text, "url Accepted(());"),
                (None, 0) => write!(text, "url Declined;"),
                (None, _) => write!(text, "url Cancelled;"),
            },
            Step::Sample(at) => write!(text, "said {at};"),
            Step::Roots => write!(text, "file:///any;"),
            Step::Once(number) => write!(text, "deed {number} × 1;"),
            Step::If(at, yes, no) => {
                expect(if word(*at).is_some() { yes } else { no }, so_far);
                Ok(())
            }
            Step::Both(one, other) => {
                expect(one, so_far);
                expect(other, so_far);
                Ok(())
            }
        };
        written.expect("text has room");
    }
}
