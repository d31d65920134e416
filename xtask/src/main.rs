//! The checks this repository makes on itself: `cargo xtask <task>`.
//!
//! A task ends with 0 when what it checks holds, 1 when it does not, and 2 when it could not be
//! checked at all. Nothing is skipped silently.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people and CI; the protocol is not spoken here"
)]

mod book;
mod chaos;
mod child;
mod circles;
mod conformance;
mod crates;
mod english;
mod failure;
mod floors;
mod limits;
mod packages;
mod pictures;
mod readme;
mod source;
mod spec_map;
mod style;
mod user_code;
mod workspace;

use std::process::ExitCode;

use crate::conformance::Proxy;
use crate::failure::{Failure, Result};

const USAGE: &str = "\
cargo xtask <task>

  floors               dependencies point down; floors 0 and 1 touch no clock, task, socket or
                       randomness; revisions are compared in one file; nothing is untagged;
                       rooms import each other only in the circles of xtask/circles.txt.
                       --circle ROOM prints the imports of a circle, such as http/server/batch;
                       --write removes circles that are gone from the list
  style                files and functions of a size that can be read; nothing left to do; plain
                       English: no rule has more hits than xtask/style/counts.txt records.
                       --write records the hits of today; --hits [PATH]... prints each hit.
                       The names in xtask/style/retired.txt are not used; errors end in Error
  texts [--write]      docs/texts/errors.txt has every error text; --write writes it, and the help
                       of every command to docs/texts/help.txt, which a test compares
  spec-map [--check]   write docs/SPEC-MAP.md from the `// spec:` comments above tests, or check
                       that the committed one is up to date, and that each MUST and SHOULD has a
                       test or a reason. PINTLE_REQUIREMENTS_DIR names the folder of requirements
                       documents; in CI it has to be set
  limits               SECURITY.md names every bound that can be set, and the name of each has
                       a form, such as max_calls or drain_timeout
  book                 every chapter of docs/book is in its table of contents and in its doc tests;
                       links between pages lead to files and headings; llms.txt and
                       docs/agents/AGENTS.md are current. --write writes both
  packages             the manifest of each published crate is complete, and the documentation of
                       pintle has a row for each feature. --list prints the names with versions
  pictures [--write]   docs/pictures is current: the recording runs its commands, and the floors are
                       those of the table; --write writes both
  crates               how many crates a minimal stdio and a minimal HTTP server build
  conformance          build the conformance server, run the official suite against it, and
                       compare with conformance/expected.txt. --replicas [nginx] runs it against
                       three servers with one Redis, behind HAProxy (or nginx), which sends each
                       request to the next one, as docs/book/src/replicas.md configures it.
                       --bridge runs it through `pintle serve`, in a choice of the eras and transports
                       of the server behind it, or in all with --bridge all, and compares with
                       conformance/bridge.txt as well
  chaos                build and run the program that kills, pauses and updates servers behind HAProxy while
                       clients use them: docs/CHAOS.md has its arguments
  readme               the commands the README promises stand in it, and `serve` serves
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["floors"] => floors::check(),
        ["floors", "--circle", room] => circles::print(room),
        ["floors", "--write"] => circles::write(),
        ["limits"] => limits::check(),
        ["style"] => style::check().and_then(|()| english::check()),
        ["style", "--write"] => english::write(),
        ["style", "--hits", paths @ ..] => english::hits(paths),
        ["texts"] => english::snapshot::check(),
        ["texts", "--write"] => english::snapshot::write(),
        ["spec-map"] => spec_map::write(),
        ["spec-map", "--check"] => spec_map::check(),
        ["book"] => book::check(),
        ["book", "--write"] => book::write(),
        ["packages"] => packages::check(),
        ["packages", "--list"] => packages::list(),
        ["pictures"] => pictures::check(),
        ["pictures", "--write"] => pictures::write(),
        ["crates"] => crates::check(),
        ["conformance"] => conformance::check(),
        ["conformance", "--bridge"] => conformance::check_bridge(false),
        ["conformance", "--bridge", "all"] => conformance::check_bridge(true),
        ["conformance", "--replicas"] => conformance::check_replicas(Proxy::Haproxy),
        ["conformance", "--replicas", "nginx"] => conformance::check_replicas(Proxy::Nginx),
        ["chaos", arguments @ ..] => chaos::run(arguments),
        ["readme"] => readme::check(),
        _ => Err(Failure::Usage(USAGE)),
    }
}
