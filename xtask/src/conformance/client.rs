//! The suite's scenarios for clients: every one, on every wire it is made for.
//!
//! Which there are is the suite's to say. Each is run by itself, because only then does the suite
//! look at how the client ended.

use std::collections::BTreeMap;
use std::path::Path;

use crate::child;
use crate::failure::{Failure, Result};

use super::expected::Expected;
use super::judge::{self, Verdict};
use super::suite::Suite;
use super::{OLDER, REVISIONS};

/// What the suite writes instead of revisions behind a scenario of an extension.
const EXTENSION: &str = "extension";

/// Runs every scenario and returns how what was found differs from the list.
pub(crate) fn check(
    suite: &Suite,
    client: &Path,
    expected: &Expected,
    home: &Path,
) -> Result<Vec<String>> {
    let scenarios = scenarios(&suite.list()?)?;
    let mut faults = Vec::new();
    for revision in OLDER.into_iter().chain(REVISIONS) {
        let of = format!("{revision}/client");
        let names = scenarios.iter().filter(|it| it.is_for(revision));
        let names: Vec<String> = names.map(|it| it.name.clone()).collect();
        let results = home.join("results").join(&of);
        let found = found(suite, child::text(client)?, revision, &names, &results)?;
        faults.extend(expected.compare(&of, &found));
    }
    Ok(faults)
}

/// Runs scenarios with a client, and returns their verdicts by name.
pub(crate) fn found(
    suite: &Suite,
    client: &str,
    revision: &str,
    scenarios: &[String],
    results: &Path,
) -> Result<BTreeMap<String, Verdict>> {
    let mut found = BTreeMap::new();
    for scenario in scenarios {
        let results = results.join(scenario);
        let ended = suite.run_client(client, revision, scenario, &results)?;
        if let Some(verdict) = judge::verdict_of_client(&results, ended)? {
            found.insert(scenario.clone(), verdict);
        }
    }
    Ok(found)
}

/// A scenario for clients.
#[derive(Debug, PartialEq, Eq)]
struct Scenario {
    name: String,
    /// The revisions on whose wire it can be run, or [`EXTENSION`].
    wires: Vec<String>,
}

impl Scenario {
    /// Whether it is made for the wire of `revision`; those of extensions are for both of ours.
    fn is_for(&self, revision: &str) -> bool {
        let has = |word: &str| self.wires.iter().any(|wire| wire == word);
        has(revision) || (has(EXTENSION) && REVISIONS.contains(&revision))
    }
}

/// Reads the scenarios for clients in what the suite lists.
fn scenarios(list: &str) -> Result<Vec<Scenario>> {
    let rows = list
        .lines()
        .skip_while(|line| !line.starts_with("Client scenarios"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty());
    let fault = |row: &str| Failure::unable("read the suite's list", format!("{row} is no row"));
    let read = rows.map(|row| scenario(row).ok_or_else(|| fault(row)));
    let read: Vec<_> = read.collect::<Result<_>>()?;
    if read.is_empty() {
        let cause = "it has no scenarios for clients";
        return Err(Failure::unable("read the suite's list", cause));
    }
    Ok(read)
}

/// The scenario in `  - <name> [<wire>,<wire>]`.
fn scenario(row: &str) -> Option<Scenario> {
    let (name, wires) = row.trim().strip_prefix("- ")?.split_once(" [")?;
    let wires = wires.strip_suffix(']')?.split(',');
    Some(Scenario {
        name: name.to_owned(),
        wires: wires.map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::scenarios;

    const LIST: &str = "Server scenarios (…):\n  - ping [2025-11-25]\n\nClient scenarios (…):\n  \
        - initialize [2025-06-18,2025-11-25]\n  - auth/dpop [extension]\n\nOthers:\n  - x [y]\n";

    #[test]
    fn the_suite_says_which_scenarios_there_are_and_for_which_wires() {
        let read = scenarios(LIST).expect("a list");

        let on = |revision: &str| {
            let fit = read.iter().filter(|it| it.is_for(revision));
            fit.map(|it| it.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(on("2025-06-18"), ["initialize"]);
        assert_eq!(on("2025-11-25"), ["initialize", "auth/dpop"]);
        assert_eq!(on("2026-07-28"), ["auth/dpop"]);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_no_empty_list() {
        assert!(scenarios("Client scenarios:\n  - initialize\n").is_err());
        assert!(scenarios("Server scenarios:\n  - ping [2025-11-25]\n").is_err());
    }
}
