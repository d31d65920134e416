//! A task of a server that ends in the middle.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::prelude::*;
use pintle_examples::TemporaryFolder;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

/// A timeout after which a test fails instead of waiting without end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The standard error of all servers.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    changed: Notify,
}

impl Log {
    fn add(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.text.lock().expect("no holder panics").push_str(&text);
        self.changed.notify_one();
    }

    fn count(&self, line: &str) -> usize {
        let text = self.text.lock().expect("no holder panics");
        text.lines().filter(|one| *one == line).count()
    }

    async fn wait_for(&self, line: &str) {
        while self.count(line) == 0 {
            let changed = timeout(PATIENCE, self.changed.notified()).await;
            changed.expect("the server continues");
        }
    }
}

async fn connect(folder: &TemporaryFolder, log: &Arc<Log>) -> Client {
    let log = Arc::clone(log);
    let server = Command::new(env!("CARGO_BIN_EXE_durable_task"))
        .arg("--state")
        .arg(format!("file:{}", folder.path().display()))
        .on_stderr(move |bytes| log.add(bytes));
    Client::connect(server).await.expect("a conversation")
}

#[tokio::test]
async fn a_task_continues_after_a_restart_without_repeating_steps() {
    let folder = TemporaryFolder::new().expect("a folder");
    let log = Arc::new(Log::default());

    let client = connect(&folder, &log).await;
    let call = client.call_tool("survey", json!({ "lines": 20 }));
    let started = call.as_task().await.expect("accepted");
    let id = started.task().expect("a task").id().to_owned();
    log.wait_for("line 3").await;
    client.close().await;
    assert_eq!(log.count("line 20"), 0, "the server ends in the middle");

    let client = connect(&folder, &log).await;
    let task = client.task(id);
    let result = timeout(PATIENCE, task.wait())
        .await
        .expect("in time")
        .expect("a result");
    let text = "20 lines sounded; the least depth is 5.5 m";
    assert_eq!(result.content, [ContentBlock::text(text)]);
    for line in [1, 2, 20] {
        assert_eq!(log.count(&format!("line {line}")), 1, "line {line}");
    }
    client.close().await;
}
