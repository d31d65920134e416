//! A client in the storm: its actions, and its checks of the results.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle::client::{CallError, Client, Task, TaskStart};
use pintle::model::{CallToolResult, SubscriptionFilter};
use pintle::proto::SendError;
use pintle_testkit::Rng;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::history::History;
use super::night::Sky;
use crate::town::NOTE;

/// Nothing takes longer, however bad the weather: time-outs, reconnects and all.
const LONGEST: Duration = Duration::from_secs(900);

/// One client and its calls.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) name: usize,
    pub(super) client: Client,
    pub(super) sky: Sky,
    pub(super) history: History,
    pub(super) unrun: Unrun,
}

/// Texts of calls that failed with the error that the server did not act.
#[derive(Debug, Clone, Default)]
pub(super) struct Unrun(Arc<Mutex<Vec<String>>>);

impl Unrun {
    fn note(&self, text: &str) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.push(text.to_owned());
    }

    pub(super) fn texts(&self) -> Vec<String> {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.clone()
    }
}

impl Caller {
    /// Does something, `nth` of all it does.
    pub(super) async fn deed(self, nth: usize, mut rng: Rng) {
        let text = self.text(nth, &mut rng);
        let began = Instant::now();
        let what = rng.below(10);
        let deed = async {
            match what {
                0..=2 => self.echo(&text).await,
                3 => self.slow(&text, rng.below(3_000)).await,
                4 => self.give_up(&text, &mut rng).await,
                5..=6 => self.errand(&text, &mut rng).await,
                7 => self.listen().await,
                8 => self.together(&text).await,
                _ => self.list().await,
            }
        };
        if timeout(LONGEST, deed).await.is_err() {
            let report = format!("deed {what} of client {} never ended", self.name);
            self.history.broken(report);
        }
        let (took, name) = (began.elapsed(), self.name);
        self.history
            .note(format!("client {name} did {what} in {took:?}"));
    }

    fn text(&self, nth: usize, rng: &mut Rng) -> String {
        let longest = if rng.once_in(6) { 20_000 } else { 100 };
        let filler = "x".repeat(rng.below(longest));
        format!("{}-{nth}-{filler}", self.name)
    }

    async fn echo(&self, text: &str) {
        let answer = self.client.call_tool("echo", json!({ "text": text })).await;
        self.check("echo", text, answer);
    }

    async fn together(&self, text: &str) {
        let mut all = JoinSet::new();
        for part in 0..6 {
            let (caller, text) = (self.clone(), format!("{part}-{text}"));
            all.spawn(async move { caller.echo(&text).await });
        }
        while all.join_next().await.is_some() {}
    }

    async fn slow(&self, text: &str, millis: usize) {
        let arguments = json!({ "text": text, "millis": millis });
        let (history, name) = (self.history.clone(), self.name);
        let mut last = -1.0;
        let call = self.client.call_tool("slow", arguments);
        let answer = call.on_progress(move |progress| {
            history.note(format!("client {name} hears of {}", progress.progress));
            if progress.progress <= last {
                let report = format!("client {name} got progress {progress:?} after {last}");
                history.broken(report);
            }
            last = progress.progress;
        });
        self.check("slow", text, answer.await);
    }

    async fn give_up(&self, text: &str, rng: &mut Rng) {
        let arguments = json!({ "text": text, "millis": 600_000 });
        let call = self.client.call_tool("slow", arguments);
        if let Ok(Ok(answer)) = timeout(rng.up_to(Duration::from_secs(2)), call).await {
            self.wrong("a call of ten minutes", &answer);
        }
    }

    async fn errand(&self, text: &str, rng: &mut Rng) {
        let arguments = json!({ "text": text, "millis": rng.below(3_000) });
        match self.client.call_tool("errand", arguments).as_task().await {
            Ok(TaskStart::Done(answer)) => self.check("an errand", text, Ok(*answer)),
            Ok(TaskStart::Task(task)) => self.follow(text, &task, rng).await,
            Err(error) => self.failed("an errand", text, &error),
        }
    }

    async fn follow(&self, text: &str, task: &Task, rng: &mut Rng) {
        match rng.below(4) {
            0 => {}
            // It may have ended by itself meanwhile, or the weather is against it.
            1 => drop(task.cancel().await),
            _ => match task.wait().await {
                Err(_) if self.sky.is_rough() => {}
                answer => self.check("a task", text, answer),
            },
        }
    }

    async fn listen(&self) {
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = Some(vec![NOTE.to_owned()]);
        let mut heard = match self.client.listen(filter).await {
            Ok(heard) => heard,
            Err(error) => return self.failed("listening", "", &error),
        };
        self.sky.change_note();
        let change = timeout(Duration::from_secs(120), heard.next()).await;
        if !matches!(change, Ok(Some(_))) && !self.sky.is_rough() {
            let why = heard.failure();
            self.history
                .broken(format!("a change was not heard: {change:?}, {why:?}"));
        }
    }

    async fn list(&self) {
        match self.client.list_tools().await {
            Ok(tools) if tools.items.len() == 4 => {}
            Ok(tools) => self.wrong("a list", &tools.items.len()),
            Err(error) => self.failed("a list", "", &error),
        }
    }

    fn check(&self, what: &str, text: &str, answer: Result<CallToolResult, CallError>) {
        match answer {
            Ok(answer) if answer.first_text() == Some(text) => {}
            Ok(answer) => self.wrong(what, &answer),
            Err(error) => self.failed(what, text, &error),
        }
    }

    fn wrong(&self, what: &str, answer: &dyn Debug) {
        let report = format!("client {}: {what} was answered with {answer:?}", self.name);
        self.history
            .broken(report.chars().take(1_000).collect::<String>());
    }

    fn failed(&self, what: &str, text: &str, error: &CallError) {
        let report = format!("client {}: {what} failed: {error:?}", self.name);
        let report: String = report.chars().take(1_000).collect();
        self.history.note(&report);
        if error.is_retryable() {
            self.unrun.note(text);
        }
        let is_explained = match error {
            CallError::Disconnected { .. }
            | CallError::NotConnected { .. }
            | CallError::TimedOut { .. } => true,
            CallError::NotSent { source, .. } => matches!(source, SendError::Closed),
            CallError::Answered { .. } => self.sky.has_restarted(),
            _ => false,
        };
        if !self.sky.is_rough() || !is_explained {
            self.history.broken(report);
        }
    }
}
