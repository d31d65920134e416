//! From the checks a scenario made to a verdict.
//!
//! Stricter than the suite: a scenario passes when nothing failed, nothing warned, and something
//! succeeded. One that skipped everything has shown nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde::Deserialize;

use crate::failure::{Attempt, Failure, Result};

/// What a scenario has shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It passes; so many checks succeeded.
    Passes(usize),
    /// It does not, and why.
    Fails(Vec<String>),
}

impl Verdict {
    /// What it is of a client that ended with an error, or not in time.
    fn spoiled(self) -> Self {
        match self {
            Self::Passes(_) => {
                let reason = "every check is well, but the client ended with an error or too late";
                Self::Fails(vec![reason.to_owned()])
            }
            fails @ Self::Fails(_) => fails,
        }
    }
}

/// One check, as the suite records it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

/// Reads what every scenario found in our server, by its name.
///
/// # Errors
///
/// When there is nothing to read: a run without results is not a run.
pub(crate) fn verdicts(results: &Path) -> Result<BTreeMap<String, Verdict>> {
    let attempted = || format!("read the results in {}", results.display());
    let mut verdict_by_scenario = BTreeMap::new();
    for entry in fs::read_dir(results).attempting(attempted)? {
        let folder = entry.attempting(attempted)?;
        let name = folder.file_name().to_string_lossy().into_owned();
        let file = folder.path().join("checks.json");
        if let (Some(scenario), true) = (scenario(&name), file.exists()) {
            verdict_by_scenario.insert(scenario.to_owned(), verdict(&checks(&file)?));
        }
    }
    if verdict_by_scenario.is_empty() {
        return Err(Failure::unable(
            attempted(),
            "the suite left none; see its log",
        ));
    }
    Ok(verdict_by_scenario)
}

/// Reads what one scenario found in our client; nothing if it left nothing.
///
/// The suite's own status counts as well: it fails when the client ended with an error or did not
/// end in time, which no check says.
pub(crate) fn verdict_of_client(results: &Path, ended: ExitStatus) -> Result<Option<Verdict>> {
    let Some(file) = find(results)? else {
        return Ok(None);
    };
    let verdict = verdict(&checks(&file)?);
    Ok(Some(if ended.success() {
        verdict
    } else {
        verdict.spoiled()
    }))
}

/// The file with the checks: the suite makes folders of the slashes in a name.
fn find(folder: &Path) -> Result<Option<PathBuf>> {
    let attempted = || format!("read the results in {}", folder.display());
    for entry in fs::read_dir(folder).attempting(attempted)? {
        let path = entry.attempting(attempted)?.path();
        if path.is_dir() {
            if let Some(found) = find(&path)? {
                return Ok(Some(found));
            }
        } else if path.file_name() == Some("checks.json".as_ref()) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn checks(file: &Path) -> Result<Vec<Check>> {
    let attempted = || format!("read {}", file.display());
    let text = fs::read(file).attempting(attempted)?;
    serde_json::from_slice(&text).attempting(attempted)
}

/// The scenario in `server-<scenario>-<date>T<time>Z`.
fn scenario(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix("server-")?;
    let (before, time) = name.rsplit_once('T')?;
    let is_time = time
        .strip_suffix('Z')?
        .chars()
        .all(|c| c.is_ascii_digit() || c == '-');
    let cut = before.len().checked_sub("-YYYY-MM-DD".len())?;
    is_time.then(|| before.get(..cut))?
}

fn verdict(checks: &[Check]) -> Verdict {
    let bad = |check: &&Check| matches!(check.status.as_str(), "FAILURE" | "WARNING");
    let mut reasons: Vec<String> = checks.iter().filter(bad).map(Check::complaint).collect();
    let succeeded = checks
        .iter()
        .filter(|check| check.status == "SUCCESS")
        .count();
    if succeeded == 0 && reasons.is_empty() {
        reasons.push("nothing succeeded: everything was skipped".to_owned());
    }
    if reasons.is_empty() {
        Verdict::Passes(succeeded)
    } else {
        Verdict::Fails(reasons)
    }
}

impl Check {
    fn complaint(&self) -> String {
        let text = self
            .error_message
            .as_deref()
            .or(self.description.as_deref());
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        let text: String = words.join(" ").chars().take(300).collect();
        format!("{} {}: {text}", self.status, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, Verdict, scenario, verdict};

    fn check(status: &str) -> Check {
        Check {
            id: "x".to_owned(),
            status: status.to_owned(),
            error_message: None,
            description: Some("why\n so".to_owned()),
        }
    }

    #[test]
    fn a_warning_is_not_a_pass() {
        let found = verdict(&[check("SUCCESS"), check("WARNING")]);

        assert_eq!(found, Verdict::Fails(vec!["WARNING x: why so".to_owned()]));
    }

    #[test]
    fn skipping_everything_is_not_a_pass() {
        assert!(matches!(
            verdict(&[check("SKIPPED"), check("INFO")]),
            Verdict::Fails(_)
        ));
    }

    #[test]
    fn a_success_without_complaints_is_a_pass() {
        assert_eq!(
            verdict(&[check("SUCCESS"), check("INFO")]),
            Verdict::Passes(1)
        );
    }

    #[test]
    fn a_client_that_ends_with_an_error_does_not_pass() {
        let passes = verdict(&[check("SUCCESS")]);
        let fails = || verdict(&[check("FAILURE")]);

        assert!(matches!(passes.spoiled(), Verdict::Fails(_)));
        assert_eq!(fails().spoiled(), fails());
    }

    #[test]
    fn the_scenario_is_the_folder_without_its_time() {
        let folder = "server-tools-call-Text-2026-11-20T12-36-02-123Z";

        assert_eq!(scenario(folder), Some("tools-call-Text"));
        assert_eq!(scenario("suite.log"), None);
    }
}
