//! Dependencies point down, and what each floor keeps out of its source.
//!
//! The table here is the one in `docs/ARCHITECTURE.md`. A package that is not in it fails the
//! check: where it stands is decided when it is made.

mod sources;

use crate::circles;
use crate::failure::{Failure, Result};
use crate::workspace::{Package, Workspace};

/// Which floor a package stands on.
pub(crate) const FLOORS: [(&str, u8); 41] = [
    ("pintle-model", 0),
    ("pintle-store", 0),
    ("pintle-proto", 1),
    ("pintle-schema", 1),
    ("pintle-keys", 2),
    ("pintle-runtime", 2),
    ("pintle-server", 3),
    ("pintle-client", 3),
    ("pintle-process", 3),
    ("pintle-http", 3),
    ("pintle-hosts", 3),
    ("pintle-audit", 3),
    ("pintle-auth", 3),
    ("pintle-macros", 3),
    ("pintle-openapi", 3),
    ("pintle-otel", 3),
    ("pintle-postgres", 3),
    ("pintle-redis", 3),
    ("pintle-sqlite", 3),
    ("pintle", 4),
    ("pintle-proxy", 4),
    ("pintle-serving", 4),
    ("pintle-showcase", 4),
    ("pintle-skills", 4),
    ("pintle-check", 4),
    ("pintle-doctor", 4),
    ("pintle-lint", 4),
    ("pintle-surface", 4),
    ("pintle-tap", 4),
    ("pintle-web", 4),
    ("pintle-test-servers", 4),
    ("pintle-testkit", 4),
    ("pintle-cli", 5),
    ("pintle-browsers", 5),
    ("pintle-chaos", 5),
    ("pintle-conformance", 5),
    ("pintle-examples", 5),
    ("pintle-bench", 5),
    ("pintle-book", 5),
    ("pintle-small", 5),
    ("pintle-trials", 5),
];

/// The edges between neighbours: the test kit depends on every crate. Skills and the showcase use the
/// public API, as a user's crate does.
pub(crate) const SIDEWAYS: [(&str, &str); 14] = [
    ("pintle", "pintle-web"),
    ("pintle-testkit", "pintle"),
    ("pintle-testkit", "pintle-check"),
    ("pintle-doctor", "pintle"),
    ("pintle-doctor", "pintle-lint"),
    ("pintle-doctor", "pintle-surface"),
    ("pintle-doctor", "pintle-tap"),
    ("pintle-lint", "pintle-surface"),
    ("pintle-testkit", "pintle-surface"),
    ("pintle-testkit", "pintle-tap"),
    ("pintle-skills", "pintle"),
    ("pintle-serving", "pintle"),
    ("pintle-showcase", "pintle"),
    ("pintle-proxy", "pintle"),
];

/// The floor where tokio enters. Below it nothing waits, reads a clock or draws a number.
const ASYNC_FLOOR: u8 = 2;

/// Names, and beginnings of names, of crates that bring I/O, clocks, tasks or randomness.
const IMPURE: [&str; 26] = [
    "ahash",
    "async-io",
    "async-std",
    "chrono",
    "coarsetime",
    "fastrand",
    "futures-timer",
    "getrandom",
    "hyper",
    "hyper-",
    "instant",
    "jiff",
    "mio",
    "quanta",
    "rand",
    "rand_",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "time",
    "tokio",
    "tokio-",
    "ureq",
    "uuid",
    "web-time",
];

/// Reads the dependency graph and the sources, and reports every departure from the plan.
pub(crate) fn check() -> Result<()> {
    let workspace = Workspace::read()?;
    let members = workspace.members();
    let mut faults = Vec::new();
    for package in &members {
        if package.name == "xtask" {
            continue;
        }
        let Some(floor) = floor_of(&package.name) else {
            faults.push(format!(
                "{} has no floor: add it to the table in xtask",
                package.name
            ));
            continue;
        };
        faults.extend(edges(&workspace, package, floor));
        if floor < ASYNC_FLOOR {
            faults.extend(impurities(&workspace, package));
        }
        faults.extend(sources::faults(package, floor < ASYNC_FLOOR)?);
    }
    println!("floors: {} packages looked at", members.len());
    Failure::unless_empty("the floors do not hold", faults)?;
    circles::check(&workspace)
}

fn floor_of(name: &str) -> Option<u8> {
    let row = FLOORS.iter().find(|(package, _)| *package == name);
    row.map(|(_, floor)| *floor)
}

/// Edges from `package` that go up or sideways.
fn edges(workspace: &Workspace, package: &Package, floor: u8) -> Vec<String> {
    let needs = workspace.needs(package).into_iter();
    needs
        .filter_map(|need| Some((need, floor_of(&need.name)?)))
        .filter(|(_, below)| *below >= floor)
        .filter(|(need, _)| !SIDEWAYS.contains(&(package.name.as_str(), need.name.as_str())))
        .map(|(need, below)| {
            let (from, to) = (&package.name, &need.name);
            format!("{from} (floor {floor}) depends on {to} (floor {below})")
        })
        .collect()
}

/// Crates below `package` that bring what its floor keeps out.
fn impurities(workspace: &Workspace, package: &Package) -> Vec<String> {
    let closure = workspace.closure(package);
    closure
        .iter()
        .filter(|(name, _)| is_impure(name))
        .map(|(name, chain)| format!("{} brings in {name}: {chain}", package.name))
        .collect()
}

fn is_impure(name: &str) -> bool {
    IMPURE
        .iter()
        .any(|impure| name == *impure || (impure.ends_with(['-', '_']) && name.starts_with(impure)))
}

#[cfg(test)]
mod tests {
    use super::{FLOORS, floor_of, is_impure};

    #[test]
    fn a_family_of_crates_is_impure_as_a_whole() {
        assert!(is_impure("tokio-util") && is_impure("rand_core") && is_impure("hyper"));
        assert!(!is_impure("timer-free") && !is_impure("serde"));
    }

    #[test]
    fn a_package_stands_on_one_floor() {
        for (name, floor) in FLOORS {
            assert_eq!(floor_of(name), Some(floor));
        }
    }
}
