//! Random schedules from a seed, with invariants that are checked after every step.
//!
//! - [`server`]: a client that breaks every rule sends messages to a server.
//! - [`client`]: a server that breaks every rule sends messages to a client.
//! - [`pair`]: both sides follow the protocol; the network and its timing are random.
//!
//! `PINTLE_SEED=7` replays one seed, `PINTLE_SEEDS=100000` tries that many.

mod client;
mod oracle;
mod pair;
mod server;

use std::fmt;

pub use client::client;
pub use pair::pair;
pub use server::server;

// A report shows only the last steps, because the seed replays the rest.
const SHOWN_STEPS: usize = 40;

/// An invariant that was broken, with the seed that replays it.
#[derive(Debug)]
pub struct InvariantError {
    seed: u64,
    what: String,
    history: Vec<String>,
}

/// Plays `game` with many seeds, or with the one in `PINTLE_SEED`.
///
/// # Panics
///
/// With the first violation, and the line that replays it.
pub fn play(game: fn(u64) -> Result<(), InvariantError>) {
    if let Some(seed) = number("PINTLE_SEED") {
        return check(game, seed);
    }
    for seed in 0..number("PINTLE_SEEDS").unwrap_or(1_000) {
        check(game, seed);
    }
}

fn check(game: fn(u64) -> Result<(), InvariantError>, seed: u64) {
    if let Err(violation) = game(seed) {
        panic!("{violation}");
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

impl fmt::Display for InvariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.history.len().saturating_sub(SHOWN_STEPS);
        for (at, step) in self.history.iter().enumerate().skip(from) {
            writeln!(f, "{at:5}  {step}")?;
        }
        writeln!(f, "{}", self.what)?;
        write!(
            f,
            "replay with: PINTLE_SEED={} cargo test -p pintle-testkit --test integration chaos",
            self.seed
        )
    }
}

impl std::error::Error for InvariantError {}

/// The steps so far, for the reader of a violation.
struct History {
    seed: u64,
    steps: Vec<String>,
}

impl History {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            steps: Vec::new(),
        }
    }

    fn note(&mut self, step: impl Into<String>) {
        self.steps.push(step.into());
    }

    fn violated(&mut self, what: impl Into<String>) -> InvariantError {
        InvariantError {
            seed: self.seed,
            what: what.into(),
            history: std::mem::take(&mut self.steps),
        }
    }
}
