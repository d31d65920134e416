//! Arbitrary bytes of a peer or of a user's file: promises that hold for all of them.
//!
//! Each target is a plain function that takes bytes and panics when a promise is broken. libFuzzer
//! runs them (`fuzz/` at the root of the repository), and so does a test that needs nothing but the
//! stable toolchain. [`Target::rehearse`] replays the stored inputs of earlier runs and changes
//! them at random, from a seed.

mod challenges;
mod conversation;
mod differential;
mod forms;
mod hosts;
mod http;
mod lines;
mod message;
mod mutate;
mod schemas;
mod sse;
mod state;
mod templates;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pintle_testkit::Rng;

pub use self::challenges::challenges;
pub use self::conversation::conversation;
pub use self::differential::differential;
pub use self::forms::forms;
pub use self::hosts::hosts;
pub use self::http::{classify, headers};
pub use self::lines::lines;
pub use self::message::message;
pub use self::schemas::schemas;
pub use self::sse::sse;
pub use self::state::state;
pub use self::templates::templates;

/// Something to throw bytes at.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the target, here and in libFuzzer.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 13] = [
    Target {
        name: "lines",
        run: lines,
    },
    Target {
        name: "sse",
        run: sse,
    },
    Target {
        name: "message",
        run: message,
    },
    Target {
        name: "differential",
        run: differential,
    },
    Target {
        name: "conversation",
        run: conversation,
    },
    Target {
        name: "headers",
        run: headers,
    },
    Target {
        name: "classify",
        run: classify,
    },
    Target {
        name: "state",
        run: state,
    },
    Target {
        name: "templates",
        run: templates,
    },
    Target {
        name: "challenges",
        run: challenges,
    },
    Target {
        name: "forms",
        run: forms,
    },
    Target {
        name: "schemas",
        run: schemas,
    },
    Target {
        name: "hosts",
        run: hosts,
    },
];

impl Target {
    /// Returns the stored inputs of this target: every file of its own, in the order of their
    /// names.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    pub fn corpus(&self) -> io::Result<Vec<Vec<u8>>> {
        let folder = corpora().join(self.name);
        let mut files: Vec<PathBuf> = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        files.sort();
        files.iter().map(fs::read).collect()
    }

    /// Replays the stored inputs, then changes them at random so many times. The same seed makes
    /// the same changes.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    ///
    /// # Panics
    ///
    /// If a promise is broken; `broken` has been given the bytes that did it.
    pub fn rehearse(&self, seed: u64, times: usize, broken: impl Fn(&[u8])) -> io::Result<()> {
        let corpus = self.corpus()?;
        for bytes in &corpus {
            self.show(bytes, &broken);
        }
        let mut rng = Rng::new(seed);
        for _ in 0..times {
            let bytes = mutate::from(&corpus, &mut rng);
            self.show(&bytes, &broken);
        }
        Ok(())
    }

    fn show(&self, bytes: &[u8], broken: &impl Fn(&[u8])) {
        let run = || (self.run)(bytes);
        if let Err(panic) = std::panic::catch_unwind(run) {
            broken(bytes);
            std::panic::resume_unwind(panic);
        }
    }
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus")
}

/// Bytes as text and the rest behind the first line break.
fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// Cuts bytes into pieces, the same way for the same bytes.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let seed = bytes.iter().fold(bytes.len() as u64, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    let (mut rng, mut rest, mut pieces) = (Rng::new(seed), bytes, Vec::new());
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(1 + rng.below(rest.len().min(9)));
        pieces.push(piece);
        rest = more;
    }
    pieces
}
