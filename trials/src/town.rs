//! The server under trial: its callers can check its answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pintle::model::TaskSupport;
use pintle::runtime::Context;
use pintle::server::{Resource, Server, State, TaskOptions, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

/// A resource that changes.
pub const NOTE: &str = "note:///board";

/// Arguments of the tools: a text to return, and the time until then.
#[derive(Debug, Deserialize, JsonSchema)]
struct CallArguments {
    text: String,
    #[serde(default)]
    millis: u64,
}

/// A server whose tools return their text: `echo` at once, `slow` with progress on the way,
/// `errand` as a task where the client allows that. The tool `panics` panics.
///
/// Tasks are kept for `kept`.
pub fn town(kept: Duration) -> Server {
    town_for(kept, &Seen::blind())
}

/// As [`town`], for a caller that inspects the actions of the handlers.
pub fn town_for(kept: Duration, seen: &Seen) -> Server {
    let mut tasks = TaskOptions::default();
    (tasks.ttl, tasks.max_ttl) = (kept, kept);
    tasks.poll_interval = Duration::from_millis(200);
    Server::new("town", "1.0.0")
        .logging()
        .resource_updates()
        .tasks(tasks)
        .state(seen.clone())
        .add_tool(Tool::new("echo").handler(echo))
        .add_tool(Tool::new("slow").handler(slow))
        .add_tool(
            Tool::new("errand")
                .task(TaskSupport::Optional)
                .handler(errand),
        )
        .add_tool(Tool::new("panics").handler(async || -> String { panic!("a handler panics") }))
        .add_resource(Resource::new(NOTE, "board").reader(async || "nothing new"))
}

async fn echo(arguments: CallArguments, seen: State<Seen>) -> String {
    let _here = seen.begin(&arguments.text, false);
    arguments.text
}

async fn slow(arguments: CallArguments, cx: Context, seen: State<Seen>) -> String {
    let _here = seen.begin(&arguments.text, false);
    let steps = 5_u32;
    for step in 0..steps {
        cx.progress(f64::from(step), Some(f64::from(steps)), "on the way")
            .await;
        sleep(Duration::from_millis(arguments.millis) / steps).await;
    }
    arguments.text
}

async fn errand(arguments: CallArguments, seen: State<Seen>) -> String {
    let _here = seen.begin(&arguments.text, true);
    sleep(Duration::from_millis(arguments.millis)).await;
    arguments.text
}

/// Record of the handlers: the texts that they got, how often, and the number of running ones.
/// Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    is_blind: bool,
    log: Arc<Mutex<CallLog>>,
}

#[derive(Debug, Default)]
struct CallLog {
    begun: BTreeMap<String, Begun>,
    running: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Begun {
    times: usize,
    is_errand: bool,
}

impl Seen {
    /// One that remembers no texts: they would pile up over hours.
    pub fn blind() -> Self {
        Self {
            is_blind: true,
            ..Self::default()
        }
    }

    /// The texts that handlers were given more than once, and how often.
    pub fn started_twice(&self) -> Vec<(String, usize)> {
        let log = self.log();
        let twice = log.begun.iter().filter(|(_, begun)| begun.times > 1);
        twice
            .map(|(text, begun)| (text.clone(), begun.times))
            .collect()
    }

    /// Whether a handler was given this text.
    pub fn has_started(&self, text: &str) -> bool {
        self.log().begun.contains_key(text)
    }

    /// Returns true if the text was given to the tool that runs as a task.
    pub fn is_errand(&self, text: &str) -> bool {
        let log = self.log();
        log.begun.get(text).is_some_and(|begun| begun.is_errand)
    }

    /// How many handlers run.
    pub fn running(&self) -> usize {
        self.log().running
    }

    fn begin(&self, text: &str, is_errand: bool) -> Here {
        let mut log = self.log();
        log.running += 1;
        if !self.is_blind {
            let begun = log.begun.entry(text.to_owned()).or_default();
            begun.times += 1;
            begun.is_errand = is_errand;
        }
        Here(Arc::clone(&self.log))
    }

    fn log(&self) -> MutexGuard<'_, CallLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handler that runs.
struct Here(Arc<Mutex<CallLog>>);

impl Drop for Here {
    fn drop(&mut self) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.running -= 1;
    }
}
