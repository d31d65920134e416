//! The server under test, and a writer that stores the lines.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::client::{Client, EraMode};
use pintle::model::Revision;
use pintle::prelude::{Result, Server, prompt, tool};
use pintle_audit::{Audit, AuditOptions};
use serde_json::Value;

/// The revisions of the tests: one of each era.
pub(crate) const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Adds two numbers.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Fails with an error.
#[tool]
async fn fail() -> Result<String> {
    Err("the desk is on fire".into())
}

/// Waits without end.
#[tool]
async fn hang() -> String {
    std::future::pending().await
}

/// Writes to a person.
#[prompt]
async fn greeting(person: String) -> String {
    format!("Greet {person}.")
}

/// A writer in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("text")
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().map(serde_json::from_str);
        lines.map(|line| line.expect("JSON")).collect()
    }

    /// Returns the lines of a method.
    pub(crate) fn of(&self, method: &str) -> Vec<Value> {
        let mut lines = self.lines();
        lines.retain(|line| line["method"] == method);
        lines
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Writers may accept a part.
        let count = bytes.len().min(7);
        self.0.lock().expect("no panic").extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn audited(options: AuditOptions) -> (Audit, Memory) {
    let memory = Memory::default();
    let audit = Audit::to_writer(memory.clone(), options).expect("randomness");
    (audit, memory)
}

/// Writes all lines.
pub(crate) fn close(audit: &Audit) {
    assert_eq!(audit.close(Duration::from_secs(60)), 0);
}

pub(crate) async fn client(audit: &Audit, revision: Revision) -> Client {
    let server = Server::new("desk", "1.0.0").tools::<(add, fail, hang)>();
    let server = server.prompt::<greeting>().layer(audit.layer());
    let builder = Client::builder().mode(EraMode::Pinned(revision));
    builder.connect(server).await.expect("a server")
}
