//! Requirements that no test here can show, and why.
//!
//! The files of `docs/untested/` have one reason a line, after the ids it is for:
//! `2025-11-25 TASK-87, TASK-88: what is logged for an audit is the operator's choice`. A reason may be
//! for one duty of a requirement: `2025-11-25 LIFE-23 (server): …`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::failure::{Attempt, Result};

use super::duty::Duty;

/// Where the reasons are, one file per group of requirements.
pub(crate) const FOLDER: &str = "docs/untested";

/// Why a requirement or a duty of it has no test, by document.
pub(crate) type Reasons = BTreeMap<String, BTreeMap<Duty, String>>;

/// Reads every reason; the second part lists lines that cannot be understood.
pub(crate) fn read(root: &Path) -> Result<(Reasons, Vec<String>)> {
    let (mut reasons, mut faults) = (Reasons::new(), Vec::new());
    let folder = root.join(FOLDER);
    if !folder.is_dir() {
        return Ok((reasons, faults));
    }
    let attempted = || format!("read {}", folder.display());
    for entry in fs::read_dir(&folder).attempting(attempted)? {
        let file = entry.attempting(attempted)?.path();
        let text = fs::read_to_string(&file).attempting(|| format!("read {}", file.display()))?;
        let place = file.file_name().unwrap_or_default().to_string_lossy();
        scan(&place, &text, &mut reasons, &mut faults);
    }
    Ok((reasons, faults))
}

fn scan(place: &str, text: &str, reasons: &mut Reasons, faults: &mut Vec<String>) {
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let Some((document, duties, reason)) = parse(line) else {
            faults.push(format!(
                "{FOLDER}/{place}:{}: not `document ids: reason`",
                at + 1
            ));
            continue;
        };
        let rows = reasons.entry(document.to_owned()).or_default();
        for duty in duties {
            if rows.keys().any(|other| other.overlaps(&duty)) {
                faults.push(format!(
                    "{FOLDER}/{place}:{}: {duty} has a reason already",
                    at + 1
                ));
            }
            rows.insert(duty, reason.to_owned());
        }
    }
}

fn parse(line: &str) -> Option<(&str, Vec<Duty>, &str)> {
    let (head, reason) = line.split_once(": ")?;
    let (document, duties) = head.trim().split_once(' ')?;
    let duties: Option<Vec<Duty>> = duties.split(',').map(Duty::parse).collect();
    let reason = reason.trim();
    (!reason.is_empty()).then_some((document, duties?, reason))
}

#[cfg(test)]
mod tests {
    use super::{Reasons, scan};

    fn read(text: &str) -> (Reasons, Vec<String>) {
        let (mut reasons, mut faults) = (Reasons::new(), Vec::new());
        scan("a.txt", text, &mut reasons, &mut faults);
        (reasons, faults)
    }

    #[test]
    fn a_line_gives_one_reason_for_many() {
        let (reasons, faults) = read("2025-11-25 TASK-87, TASK-88: the operator's choice\n\n");

        let reasons: Vec<&String> = reasons["2025-11-25"].values().collect();
        assert_eq!(reasons, ["the operator's choice"; 2]);
        assert!(faults.is_empty());
    }

    #[test]
    fn a_line_without_a_reason_is_a_fault() {
        for line in [
            "2025-11-25 TASK-87",
            "2025-11-25 TASK-87: ",
            "2025-11-25 tasks: no",
        ] {
            let (_, faults) = read(line);

            assert_eq!(
                faults,
                ["docs/untested/a.txt:1: not `document ids: reason`"]
            );
        }
    }

    #[test]
    fn a_reason_may_be_for_one_duty() {
        let (reasons, faults) =
            read("2025-11-25 LIFE-09 (client): one\n2025-11-25 LIFE-09 (server): two");

        let duties: Vec<String> = reasons["2025-11-25"]
            .keys()
            .map(ToString::to_string)
            .collect();
        assert_eq!(duties, ["LIFE-09 (client)", "LIFE-09 (server)"]);
        assert!(faults.is_empty());
    }

    #[test]
    fn a_second_reason_is_a_fault() {
        let (_, faults) = read("hardening H-1: one\nhardening H-1: two");

        assert_eq!(faults, ["docs/untested/a.txt:2: H-1 has a reason already"]);
    }
}
