//! Requirements that no test here can show, and why.
//!
//! The files of `docs/untested/` have one reason a line, after the ids it is for:
//! `2025-11-25 TASK-87, TASK-88: what is logged for an audit is the operator's choice`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::failure::{Attempt, Result};

use super::requirements::Id;

/// Where the reasons are, one file per group of requirements.
pub(crate) const FOLDER: &str = "docs/untested";

/// Why a requirement has no test, by document and id.
pub(crate) type Reasons = BTreeMap<String, BTreeMap<Id, String>>;

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
        let Some((document, ids, reason)) = parse(line) else {
            faults.push(format!(
                "{FOLDER}/{place}:{}: not `document ids: reason`",
                at + 1
            ));
            continue;
        };
        let rows = reasons.entry(document.to_owned()).or_default();
        for id in ids {
            if rows.insert(id.clone(), reason.to_owned()).is_some() {
                faults.push(format!(
                    "{FOLDER}/{place}:{}: {id} has a reason already",
                    at + 1
                ));
            }
        }
    }
}

fn parse(line: &str) -> Option<(&str, Vec<Id>, &str)> {
    let (head, reason) = line.split_once(": ")?;
    let (document, ids) = head.trim().split_once(' ')?;
    let ids: Option<Vec<Id>> = ids.split(',').map(|word| Id::parse(word.trim())).collect();
    let reason = reason.trim();
    (!reason.is_empty()).then_some((document, ids?, reason))
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
    fn a_second_reason_is_a_fault() {
        let (_, faults) = read("hardening H-1: one\nhardening H-1: two");

        assert_eq!(faults, ["docs/untested/a.txt:2: H-1 has a reason already"]);
    }
}
