//! The steps of a game, to explain a broken promise.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// Number of last steps to show; the seed replays the others.
const SHOWN: usize = 60;

/// A promise that was broken, and how to break it again.
#[derive(Debug)]
pub struct Violation {
    seed: u64,
    game: &'static str,
    what: String,
    steps: Vec<String>,
}

/// Plays `game` with the seed in `PINTLE_SEED`, or with the number of seeds in `PINTLE_SEEDS`, or
/// `usual`.
///
/// # Panics
///
/// With the first violation, and the line that replays it.
pub fn play(game: fn(u64) -> Result<(), Violation>, usual: u64) {
    let seeds = match number("PINTLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PINTLE_SEEDS").unwrap_or(usual),
    };
    for seed in seeds {
        if let Err(violation) = game(seed) {
            panic!("{violation}");
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.steps.len().saturating_sub(SHOWN);
        for step in &self.steps[from..] {
            writeln!(f, "{step}")?;
        }
        writeln!(f, "{}", self.what)?;
        let Self { seed, game, .. } = self;
        write!(
            f,
            "replay with: PINTLE_SEED={seed} cargo test -p pintle-trials --test integration {game}"
        )
    }
}

impl std::error::Error for Violation {}

/// The steps of one game, and the promises that were broken in it. Clones are the same history.
#[derive(Debug, Clone)]
pub(super) struct History {
    seed: u64,
    game: &'static str,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    began: Option<Instant>,
    steps: Vec<String>,
    broken: Option<String>,
}

impl History {
    pub(super) fn new(seed: u64, game: &'static str) -> Self {
        Self {
            seed,
            game,
            log: Arc::default(),
        }
    }

    /// Notes a step, with the time since the first one.
    pub(super) fn note(&self, step: impl fmt::Display) {
        let mut log = self.log();
        let now = Instant::now();
        let began = *log.began.get_or_insert(now);
        let line = format!("{:>12.3?}  {step}", now.saturating_duration_since(began));
        log.steps.push(line);
    }

    /// Notes a broken promise; the first one counts.
    pub(super) fn broken(&self, what: impl Into<String>) {
        self.log().broken.get_or_insert(what.into());
    }

    /// How the game ended.
    pub(super) fn end(&self) -> Result<(), Violation> {
        let mut log = self.log();
        let steps = std::mem::take(&mut log.steps);
        match log.broken.take() {
            None => Ok(()),
            Some(what) => Err(Violation {
                seed: self.seed,
                game: self.game,
                what,
                steps,
            }),
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
