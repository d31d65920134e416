//! The system calls of a bridge from standard streams to a program. They do not depend on the load of the machine.

use std::fs;

use serde_json::{Value, json};

use crate::serve::child::{Program, envelope};

const CALLS: usize = 64;

/// Returns the numbers of reads and of writes of a process so far.
fn reads_and_writes(id: u32) -> [usize; 2] {
    let counts = fs::read_to_string(format!("/proc/{id}/io")).expect("the counts");
    ["syscr: ", "syscw: "].map(|name| {
        let count = counts.lines().find_map(|line| line.strip_prefix(name));
        count.and_then(|count| count.parse().ok()).expect("a count")
    })
}

fn call(id: usize) -> Value {
    let params =
        json!({ "name": "height_of_tide", "arguments": { "hours": 3 }, "_meta": envelope() });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Sends calls, so many with one write. Returns the reads and writes of the bridge.
async fn count(bridge: &mut Program, at_once: usize) -> [usize; 2] {
    let before = reads_and_writes(bridge.id());
    for first in (0..CALLS).step_by(at_once) {
        let calls: Vec<_> = (first..first + at_once).map(call).collect();
        bridge.send_all(&calls).await;
        for _ in 0..at_once {
            let answer = bridge.receive().await;
            assert!(answer["result"]["content"].is_array(), "{answer}");
        }
    }
    let [reads, writes] = reads_and_writes(bridge.id());
    [reads - before[0], writes - before[1]]
}

#[tokio::test]
async fn a_bridged_call_takes_two_reads_and_two_writes() {
    let pintle = env!("CARGO_BIN_EXE_pintle");
    let mut bridge = Program::start(&format!("serve --stdio -- {pintle} serve --stdio"));
    count(&mut bridge, 1).await;
    let [reads, writes] = count(&mut bridge, 1).await;
    assert!(
        reads <= 2 * CALLS + 2 && writes <= 2 * CALLS,
        "{reads} {writes}"
    );
    // Calls that arrive together leave together. The server may return its answers in parts.
    let [reads, writes] = count(&mut bridge, 16).await;
    assert!(reads <= CALLS && writes <= CALLS, "{reads} {writes}");
}
