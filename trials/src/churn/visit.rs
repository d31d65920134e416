//! One client, from its first word to its last.

use std::error::Error;
use std::time::Duration;

use pintle::client::{CallError, Client, Task, TaskStart};
use pintle::model::{CallToolResult, SubscriptionFilter};
use pintle_testkit::Rng;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Places, Tally};
use crate::town::NOTE;

/// Texts are mostly up to this long, in bytes.
const SHORT: usize = 2_000;
/// Some are up to this long: more than any buffer on the way.
const LONG: usize = 300_000;
/// How many things a client does, at most.
const DEEDS: usize = 12;
/// The longest time until a client receives a change.
const HEARING: Duration = Duration::from_secs(30);

/// Connects, does some things, and leaves. Whatever goes wrong is noted.
pub async fn visit(places: &Places, rng: &mut Rng, tally: &Tally) {
    let client = match places.client(rng).await {
        Ok(client) => client,
        Err(error) => return tally.fault(format!("a client did not connect: {}", chain(&error))),
    };
    for _ in 0..=rng.below(DEEDS) {
        let visitor = Visitor {
            places,
            tally,
            client: &client,
        };
        visitor.deed(rng).await;
    }
    // Some clients close, others vanish.
    if rng.once_in(2) {
        client.close().await;
    }
    tally.left();
}

struct Visitor<'a> {
    places: &'a Places,
    tally: &'a Tally,
    client: &'a Client,
}

impl Visitor<'_> {
    async fn deed(&self, rng: &mut Rng) {
        match rng.below(12) {
            0..=2 => self.echo(&text(rng)).await,
            3 => self.echo_many(rng).await,
            4 => self.slow(&text(rng), rng.below(60)).await,
            5..=6 => self.give_up(rng).await,
            7..=8 => self.errand(rng).await,
            9 => self.listen().await,
            10 => self.panic().await,
            _ => self.list().await,
        }
    }

    async fn echo(&self, text: &str) {
        let answer = self.client.call_tool("echo", json!({ "text": text })).await;
        self.check("echo", text, answer);
    }

    async fn echo_many(&self, rng: &mut Rng) {
        let mut calls = JoinSet::new();
        for _ in 0..8 {
            let text = text(rng);
            let call = self.client.call_tool("echo", json!({ "text": text }));
            calls.spawn(async move { (text, call.await) });
        }
        while let Some(Ok((text, answer))) = calls.join_next().await {
            self.check("one of eight", &text, answer);
        }
    }

    async fn slow(&self, text: &str, millis: usize) {
        let arguments = json!({ "text": text, "millis": millis });
        let call = self.client.call_tool("slow", arguments);
        let answer = call.on_progress(drop).await;
        self.check("slow", text, answer);
    }

    async fn give_up(&self, rng: &mut Rng) {
        let arguments = json!({ "text": "nobody waits", "millis": 5_000 });
        let tool = rng.pick(&["slow", "errand"]).copied().unwrap_or("slow");
        let call = self.client.call_tool(tool, arguments);
        match timeout(rng.up_to(Duration::from_millis(30)), call).await {
            Err(_) => self.tally.gave_up(),
            Ok(answer) => {
                let report = format!("{tool} ended before its time: {answer:?}");
                self.tally.fault(report);
            }
        }
    }

    async fn errand(&self, rng: &mut Rng) {
        let (text, millis) = (text(rng), rng.below(400));
        let arguments = json!({ "text": text, "millis": millis });
        match self.client.call_tool("errand", arguments).as_task().await {
            Ok(TaskStart::Done(answer)) => self.check("an errand", &text, Ok(*answer)),
            Ok(TaskStart::Task(task)) => self.follow(rng, &text, task).await,
            Err(error) => self.failed("an errand that is a task", &error),
        }
    }

    async fn follow(&self, rng: &mut Rng, text: &str, task: Task) {
        self.tally.began_task();
        match rng.below(4) {
            0 => drop(task),
            // It may have ended by itself meanwhile: then it cannot be cancelled.
            1 => drop(task.cancel().await),
            _ => {
                let answer = task.wait().await;
                self.check("a task", text, answer);
            }
        }
    }

    async fn listen(&self) {
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = Some(vec![NOTE.to_owned()]);
        let mut heard = match self.client.listen(filter).await {
            Ok(heard) => heard,
            Err(error) => return self.failed("listening", &error),
        };
        for handle in &self.places.handles {
            handle.changes().resource(NOTE);
        }
        match timeout(HEARING, heard.next()).await {
            Ok(Some(_)) => self.tally.heard_change(),
            Ok(None) => {
                let failure = heard.failure();
                self.tally
                    .fault(format!("a subscription ended: {failure:?}"));
            }
            Err(_) => {
                let server = self.client.server().map(|server| server.revision);
                let report = format!("a change did not reach a client of {server:?}");
                self.tally.fault(report);
            }
        }
    }

    async fn panic(&self) {
        match self.client.call_tool("panics", json!({})).await {
            Err(CallError::Answered { .. }) => self.tally.answered(),
            other => {
                let report = format!("the result of a panic is {other:?}");
                self.tally.fault(report);
            }
        }
    }

    async fn list(&self) {
        match self.client.list_tools().await {
            Ok(tools) if tools.items.len() == 4 => self.tally.answered(),
            Ok(tools) => {
                let count = tools.items.len();
                self.tally.fault(format!("{count} tools were listed"));
            }
            Err(error) => self.failed("a list", &error),
        }
    }

    fn check(&self, what: &str, text: &str, answer: Result<CallToolResult, CallError>) {
        match answer {
            Ok(answer) if answer.first_text() == Some(text) => self.tally.answered(),
            Ok(answer) => {
                let report = format!("{what} has a wrong answer: {answer:?}");
                self.tally.fault(report);
            }
            Err(error) => self.failed(what, &error),
        }
    }

    fn failed(&self, what: &str, error: &dyn Error) {
        self.tally.fault(format!("{what} failed: {}", chain(error)));
    }
}

/// Returns a text that no other call has.
fn text(rng: &mut Rng) -> String {
    let longest = if rng.once_in(20) { LONG } else { SHORT };
    let length = rng.below(longest);
    format!("{:016x}", rng.number()).repeat(1 + length / 16)
}

/// An error and what caused it.
fn chain(error: &dyn Error) -> String {
    let mut report = error.to_string();
    let mut cause = error.source();
    while let Some(reason) = cause {
        report.push_str(": ");
        report.push_str(&reason.to_string());
        cause = reason.source();
    }
    report
}
