//! Random schedules from a seed, and promises that are checked after every step.
//!
//! - [`server`]: a client that does everything wrong talks to a server.
//! - [`client`]: a server that does everything wrong talks to a client.
//! - [`pair`]: both sides behave, the network and their timing do not.
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

// What happened last is what matters; the seed replays the rest.
const SHOWN_STEPS: usize = 40;

/// A promise that was broken, and how to break it again.
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
