//! Chaos with real processes: `cargo xtask chaos`. Clients of both eras use three servers behind HAProxy, while the
//! program kills, pauses and updates the servers, and restarts the store and the proxy. Every call leaves a line
//! in a file, so the program finds calls that were lost, doubled or wrong.
//!
//! `chaos replica …` is one of the servers.
#![cfg(unix)]
#![allow(
    clippy::print_stdout,
    reason = "a program for people; the protocol is not spoken here"
)]

mod capacity;
mod counted;
mod faults;
mod hasty;
mod logs;
mod measure;
mod plan;
mod processes;
mod replica;
mod replicas;
#[path = "../../xtask/src/conformance/replicas/block.rs"]
mod replicas_block;
mod tally;
mod visitor;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::plan::Plan;
use crate::processes::Processes;
use crate::tally::Tally;
use crate::visitor::Crowd;

/// Longest wait for the last calls, beyond the bound of one call.
const PATIENCE: Duration = Duration::from_secs(30);

/// Threads that start programs stay so long. A program may end with the thread that has started it, as Envoy does.
const THREADS: Duration = Duration::from_secs(24 * 60 * 60);

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(THREADS)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(act()),
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Acts on the arguments.
async fn act() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ended = match words.as_slice() {
        [first, rest @ ..] if first == "replica" => replica::serve(rest).await.map(|()| true),
        [only] if only == "measure" => measured().await,
        [first, rest @ ..] if first == "capacity" => planned(rest.to_vec()).await,
        _ => match Plan::read(&words) {
            Ok(plan) => run(plan).await,
            Err(error) => Err(format!("{error}\n{}", plan::USAGE).into()),
        },
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the costs of several servers.
async fn measured() -> pintle::Result<bool> {
    tokio::task::spawn_blocking(measure::run).await??;
    measure::run_killed().await?;
    Ok(true)
}

/// Prints the costs of a workload, or checks them.
async fn planned(words: Vec<String>) -> pintle::Result<bool> {
    let planned = tokio::task::spawn_blocking(move || capacity::run(&words)).await?;
    planned.map_err(|error| format!("{error}\n{}", plan::USAGE).into())
}

/// Runs the plan, prints the table, and returns true if no call was lost, doubled, wrong, hung or unexplained.
async fn run(plan: Plan) -> pintle::Result<bool> {
    let plan = Arc::new(plan);
    let starting = Arc::clone(&plan);
    let processes = tokio::task::spawn_blocking(move || Processes::start(&starting));
    let mut processes = processes.await??;
    let (proxy, lines) = (processes.address(), processes.replicas.lines());
    logs::begin_clients(&processes.replicas.folder)?;
    let tally = Arc::new(Tally::begin());
    let stop = Arc::new(AtomicBool::new(false));
    let began = Instant::now();

    let crowd = Crowd::enter(&plan, proxy, &tally)?;
    let hasty = hasty::start(proxy, &tally, &stop);
    let faults = {
        let (plan, tally, stop) = (Arc::clone(&plan), Arc::clone(&tally), Arc::clone(&stop));
        std::thread::spawn(move || {
            let ended = faults::run(&plan, &mut processes, &tally, &stop);
            (ended, processes)
        })
    };
    crowd.work(&plan, began).await;
    stop.store(true, Ordering::Relaxed);
    tokio::task::spawn_blocking(|| hasty.into_iter().for_each(|it| drop(it.join()))).await?;
    let (ended, mut processes) = tokio::task::spawn_blocking(|| faults.join())
        .await?
        .map_err(|_| "the thread of the faults panicked")?;
    ended?;
    crowd.finish(visitor::BOUND + PATIENCE).await;
    crowd.listen(&tally).await;
    let passed = tally.judge(&plan, &lines, began.elapsed())?;
    if !passed {
        println!(
            "logs of the clients and the servers: {}",
            processes.replicas.keep().display()
        );
    }
    Ok(passed)
}
