//! The loop of an agent: the model selects a tool, the client calls it, and the model reads the result. The model is a
//! script here. The loop has a limit, and asks the user before a call that changes something.

#![expect(
    clippy::print_stdout,
    reason = "a program for people; it speaks no protocol here"
)]

use pintle::model::Tool as Definition;
use pintle::prelude::*;
use serde_json::{Value, json};

/// Maximum number of requests to the model.
const MAX_STEPS: usize = 10;

/// An answer of the model.
enum Step {
    /// A call of a tool, with its arguments.
    Call(&'static str, Value),
    /// The end: a text for the user.
    Answer(String),
}

/// The conversation with the model: each call with the text of its result.
type Transcript = Vec<(&'static str, String)>;

/// A model, with the tools in the form that APIs of models expect.
trait Model {
    fn next(&mut self, tools: &[Value], transcript: &Transcript) -> Step;
}

impl<F: FnMut(&[Value], &Transcript) -> Step> Model for F {
    fn next(&mut self, tools: &[Value], transcript: &Transcript) -> Step {
        self(tools, transcript)
    }
}

/// Runs the loop to the answer.
///
/// # Errors
///
/// The model used all steps, or the server is away. The failure of a tool is a result that the model reads.
async fn run(
    client: &Client,
    mut model: impl Model,
    approve: impl Fn(&Definition, &Value) -> bool,
) -> Result<String> {
    let definitions = client.list_tools().await?.items;
    let tools: Vec<Value> = definitions.iter().map(described).collect();
    let mut transcript = Transcript::new();
    for _ in 0..MAX_STEPS {
        let (name, arguments) = match model.next(&tools, &transcript) {
            Step::Answer(text) => return Ok(text),
            Step::Call(name, arguments) => (name, arguments),
        };
        let definition = definitions.iter().find(|tool| tool.name == name);
        let text = match definition {
            None => "unknown tool".to_owned(),
            Some(tool) if !is_read_only(tool) && !approve(tool, &arguments) => {
                "the user declined the call".to_owned()
            }
            Some(_) => {
                let result = client.call_tool(name, arguments).await?;
                result.first_text().unwrap_or_default().to_owned()
            }
        };
        transcript.push((name, text));
    }
    Err(format!("the model gave no answer in {MAX_STEPS} steps").into())
}

fn described(tool: &Definition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
}

/// Returns true if the server declares that the tool changes nothing. Trust this of servers that you know.
fn is_read_only(tool: &Definition) -> bool {
    let annotations = tool.annotations.as_ref();
    annotations.and_then(|annotations| annotations.read_only_hint) == Some(true)
}

/// Returns the free berths.
#[tool(read_only)]
async fn free_berths() -> &'static str {
    "4, 7"
}

/// Reserves a berth for a ship.
#[tool]
async fn reserve(ship: String, #[arg(min = 1, max = 9)] berth: u32) -> String {
    format!("berth {berth} is reserved for {ship}")
}

/// Stands for a request to a model.
fn script(_tools: &[Value], transcript: &Transcript) -> Step {
    let reserve = |berth| Step::Call("reserve", json!({ "ship": "Rudder", "berth": berth }));
    match transcript.as_slice() {
        [] => Step::Call("free_berths", json!({})),
        [_] => reserve(40),
        // The second call failed: the schema permits berths up to 9.
        [_, _] => reserve(4),
        [.., (_, last)] => Step::Answer(format!("Done: {last}.")),
    }
}

fn harbour() -> Server {
    Server::new("harbour", env!("CARGO_PKG_VERSION")).tools::<(free_berths, reserve)>()
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let client = Client::connect(harbour()).await?;
    // A program with a user interface asks the user here.
    let answer = run(&client, script, |_, _| true).await?;
    println!("{answer}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test]
    async fn the_model_repairs_a_failed_call() -> pintle::Result<()> {
        let client = Client::connect(harbour()).await?;
        let approved = RefCell::new(Vec::new());
        let approve = |tool: &Definition, arguments: &Value| {
            approved
                .borrow_mut()
                .push((tool.name.clone(), arguments["berth"].clone()));
            true
        };
        let answer = run(&client, script, approve).await?;
        assert_eq!(answer, "Done: berth 4 is reserved for Rudder.");
        let asked = [
            ("reserve".to_owned(), json!(40)),
            ("reserve".to_owned(), json!(4)),
        ];
        assert_eq!(
            approved.into_inner(),
            asked,
            "a read-only call is not asked about"
        );
        Ok(())
    }

    #[tokio::test]
    async fn the_model_reads_that_the_user_declined() -> pintle::Result<()> {
        let client = Client::connect(harbour()).await?;
        let answer = run(&client, script, |_, _| false).await?;
        assert_eq!(answer, "Done: the user declined the call.");
        Ok(())
    }

    #[tokio::test]
    async fn a_model_that_never_answers_reaches_the_limit() -> pintle::Result<()> {
        let client = Client::connect(harbour()).await?;
        let mut steps = 0;
        let endless = |_: &[Value], _: &Transcript| {
            steps += 1;
            Step::Call("free_berths", json!({}))
        };
        let failed = run(&client, endless, |_, _| true).await;
        assert!(failed.is_err_and(|error| error.to_string().contains("10 steps")));
        assert_eq!(steps, MAX_STEPS);
        Ok(())
    }
}
