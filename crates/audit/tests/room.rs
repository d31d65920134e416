//! Slow, failing and full writers.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pintle::model::Revision;
use pintle_audit::{Audit, AuditOptions};
use serde_json::json;

use crate::desk::{Memory, client, close};

/// A disk that writes when the test permits it.
struct Gate {
    open: Receiver<bool>,
    memory: Memory,
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.open.recv() {
            Ok(false) => Err(io::ErrorKind::StorageFull.into()),
            // After the sender has gone, the disk is fast.
            Ok(true) | Err(_) => self.memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn small(is_strict: bool) -> AuditOptions {
    let mut options = AuditOptions::default();
    options.max_queued_lines = 2;
    options.is_strict = is_strict;
    options.write_interval = Duration::ZERO;
    options
}

#[tokio::test]
async fn a_slow_disk_delays_no_call_and_lost_lines_are_counted() {
    let (gate, open) = channel();
    let memory = Memory::default();
    let disk = Gate {
        open,
        memory: memory.clone(),
    };
    let audit = Audit::to_writer(disk, small(false)).expect("randomness");
    let client = client(&audit, Revision::V2025_11_25).await;
    for _ in 0..10 {
        let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
        sum.expect("a sum");
    }
    assert_eq!(audit.counts().lost, 8, "two lines have room");
    drop(gate);
    assert_eq!(audit.close(Duration::from_secs(60)), 8);
    assert_eq!(memory.lines().len(), 2);
}

#[tokio::test]
async fn a_strict_log_refuses_calls_without_room() {
    let (gate, open) = channel();
    let memory = Memory::default();
    let disk = Gate {
        open,
        memory: memory.clone(),
    };
    let audit = Audit::to_writer(disk, small(true)).expect("randomness");
    let client = client(&audit, Revision::V2025_11_25).await;
    let mut refused = 0;
    for _ in 0..10 {
        let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
        refused += u64::from(sum.is_err_and(|error| error.to_string().contains("audit log")));
    }
    assert_eq!(refused, 8);
    assert_eq!(audit.counts().refused, 8);
    drop(gate);
    close(&audit);
    assert_eq!(memory.lines().len(), 2, "each call that ran has its line");
}

#[tokio::test]
async fn a_failed_write_is_repeated_and_tears_no_line() {
    let (gate, open) = channel();
    let memory = Memory::default();
    let disk = Gate {
        open,
        memory: memory.clone(),
    };
    let audit = Audit::to_writer(disk, AuditOptions::default()).expect("randomness");
    for is_open in [true, false, true] {
        gate.send(is_open).expect("the thread runs");
    }
    drop(gate);
    let client = client(&audit, Revision::V2025_11_25).await;
    client.list_tools().await.expect("a list");
    close(&audit);
    assert_eq!(memory.of("tools/list").len(), 1);
    assert_eq!(audit.counts().failures, 1);
}
