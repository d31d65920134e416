//! How long the calls of a killed server take to end.

use std::time::{Duration, Instant};

use pintle::client::EraMode;
use pintle::http::client::HttpConnect;
use pintle::model::Revision;
use pintle::prelude::*;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::percentiles::Percentiles;
use crate::processes::Processes;

/// The number of clients, whose calls reach all servers.
const CLIENTS: usize = 60;
/// The time of a call. It is longer than the measurement, so only a killed server ends one with an error.
const CALL: Duration = Duration::from_secs(40);
/// From the calls to the kill.
const PREPARATION: Duration = Duration::from_secs(3);
/// Longest wait for the errors.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Returns the times from `kill -9` of one of three servers until its calls have ended at their clients.
pub(super) async fn measure(mut processes: Processes, revision: Revision) -> Result<Percentiles> {
    let mut calls = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client::builder()
            .mode(EraMode::Pinned(revision))
            .connect_lazily(HttpConnect::to(&processes.url())?)?;
        let millis = u64::try_from(CALL.as_millis())?;
        calls.spawn(async move {
            let arguments =
                json!({ "key": format!("killed-{number}"), "value": 1, "millis": millis });
            let call = client.call_tool("slow", arguments);
            let ended = call.timeout(CALL * 2).on_progress(drop).await;
            (ended.is_err(), Instant::now())
        });
    }
    sleep(PREPARATION).await;
    let killed = Instant::now();
    processes
        .replicas
        .signal(0, "KILL")
        .map_err(|error| error.to_string())?;
    let mut times = Vec::new();
    let all = async {
        while let Some(ended) = calls.join_next().await {
            if let Ok((true, at)) = ended {
                times.push(at - killed);
            }
        }
    };
    let _ = tokio::time::timeout(MAX_WAIT, all).await;
    tokio::task::spawn_blocking(move || {
        let restarted = processes.replicas.restart(0, Duration::ZERO);
        drop(processes);
        restarted
    })
    .await?
    .map_err(|error| error.to_string())?;
    Ok(Percentiles::new(times))
}
