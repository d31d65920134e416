//! Judges clients: the one of this workspace, and clients that break a rule.

mod broken;
mod own;
mod permitted;

use std::fmt::Write as _;

use pintle_check::{Finding, Report, Verdict};

/// Returns the findings of one check.
fn findings<'r>(report: &'r Report, id: &str) -> Vec<&'r Finding> {
    let all = report.findings.iter();
    all.filter(|finding| finding.check == id).collect()
}

/// Returns the ids of the checks that no revision has shown.
fn never_made(report: &Report) -> Vec<&'static str> {
    let mut ids: Vec<&str> = report
        .findings
        .iter()
        .map(|finding| finding.check)
        .collect();
    ids.dedup();
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| {
        findings(report, id)
            .iter()
            .all(|finding| !finding.was_made())
    });
    ids
}

/// Panics with the failures of a report.
fn assert_clean(report: &Report) {
    let mut text = String::new();
    for finding in report.failures() {
        writeln!(text, "{finding:#?}").expect("a text");
    }
    assert!(text.is_empty(), "{text}");
}

fn has_failed(report: &Report, id: &str) -> bool {
    findings(report, id)
        .iter()
        .any(|finding| finding.verdict == Verdict::Failed)
}
