//! The comments that tie a test to requirements.
//!
//! `// spec: 2026-07-28 N-HDR-02, N-ELIC-05 (server)` and `// hardening: H-97` stand on lines of their
//! own above a test; the next function is the test they speak of, or the next macro that makes tests.

use std::fs;
use std::path::Path;

use crate::failure::{Attempt, Result};
use crate::workspace::rust_files;

use super::Coverage;
use super::duty::Duty;

/// Where tests live. This tool's own tests are not about the protocol.
const FOLDERS: [&str; 5] = ["crates", "conformance", "examples", "benches", "trials"];

/// How far below a comment its test may begin.
const REACH: usize = 12;

/// Reads every comment; the second part lists those that cannot be understood.
pub(crate) fn read(root: &Path) -> Result<(Coverage, Vec<String>)> {
    let mut coverage = Coverage::new();
    let mut faults = Vec::new();
    for folder in FOLDERS.map(|folder| root.join(folder)) {
        for file in rust_files(&folder)? {
            let text =
                fs::read_to_string(&file).attempting(|| format!("read {}", file.display()))?;
            let place = file
                .strip_prefix(root)
                .unwrap_or(&file)
                .display()
                .to_string();
            scan(&place, &text, &mut coverage, &mut faults);
        }
    }
    Ok((coverage, faults))
}

fn scan(place: &str, text: &str, coverage: &mut Coverage, faults: &mut Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let Some((document, duties)) = mark(line) else {
            continue;
        };
        let test = test(&lines[at + 1..]);
        let duties: Option<Vec<Duty>> = duties.map(Duty::parse).collect();
        match (test, duties) {
            (Some(test), Some(duties)) => {
                let shown = format!("`{place}`: {}", test.replace('_', " "));
                let rows = coverage.entry(document.to_owned()).or_default();
                for duty in duties {
                    rows.entry(duty).or_default().insert(shown.clone());
                }
            }
            (None, _) => faults.push(format!("{place}:{}: no test follows", at + 1)),
            (_, None) => faults.push(format!("{place}:{}: not a list of ids", at + 1)),
        }
    }
}

/// The document and the duties that a comment names.
fn mark(line: &str) -> Option<(&str, std::str::Split<'_, char>)> {
    let line = line.trim();
    if let Some(ids) = line.strip_prefix("// hardening:") {
        return Some(("hardening", ids.split(',')));
    }
    let (document, ids) = line
        .strip_prefix("// spec:")?
        .trim()
        .split_once(' ')
        .unwrap_or_default();
    Some((document, ids.split(',')))
}

/// The name of the test that begins within reach: a function under a `test` attribute, or a macro
/// that makes several.
fn test<'a>(below: &[&'a str]) -> Option<&'a str> {
    let below = &below[..below.len().min(REACH)];
    let at = below
        .iter()
        .position(|line| function(line).or(invocation(line)).is_some())?;
    let is_attribute = |line: &&str| line.trim_start().starts_with("#[") && line.contains("test");
    let is_test = below[..at].iter().any(is_attribute);
    invocation(below[at]).or_else(|| function(below[at]).filter(|_| is_test))
}

/// The name in `name! {`.
fn invocation(line: &str) -> Option<&str> {
    let name = line.trim().strip_suffix("! {")?;
    let is_name = name.chars().all(|c| c == '_' || c.is_alphanumeric());
    (is_name && name != "macro_rules").then_some(name)
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line
        .strip_prefix("async ")
        .unwrap_or(line)
        .strip_prefix("fn ")?;
    rest.split(|c: char| c != '_' && !c.is_alphanumeric())
        .next()
}

#[cfg(test)]
mod tests {
    use super::{Coverage, scan};

    fn read(text: &str) -> (Coverage, Vec<String>) {
        let (mut coverage, mut faults) = (Coverage::new(), Vec::new());
        scan("a.rs", text, &mut coverage, &mut faults);
        (coverage, faults)
    }

    #[test]
    fn a_comment_speaks_of_the_next_function() {
        let text =
            "// spec: 2026-07-28 N-HDR-02, N-HDR-06\n// hardening: H-97\n#[test]\nfn it_is() {}";
        let (coverage, faults) = read(text);

        let documents: Vec<&str> = coverage.keys().map(String::as_str).collect();
        assert_eq!(documents, ["2026-07-28", "hardening"]);
        let shown = coverage["2026-07-28"].values().flatten().next();
        assert_eq!(shown.map(String::as_str), Some("`a.rs`: it is"));
        assert!(faults.is_empty());
    }

    #[test]
    fn a_comment_may_name_a_duty() {
        let (coverage, faults) = read("// spec: 2025-11-25 LIFE-09 (client)\n#[test]\nfn a() {}");

        let duties: Vec<String> = coverage["2025-11-25"]
            .keys()
            .map(ToString::to_string)
            .collect();
        assert_eq!(duties, ["LIFE-09 (client)"]);
        assert!(faults.is_empty());
    }

    #[test]
    fn a_comment_without_a_test_is_a_fault() {
        for below in ["struct A;", "fn helps() {}"] {
            let (_, faults) = read(&format!("// spec: 2025-11-25 LIFE-09\n{below}"));

            assert_eq!(faults, ["a.rs:1: no test follows"]);
        }
    }

    #[test]
    fn a_comment_may_speak_of_a_macro_that_makes_tests() {
        let (coverage, _) = read("// hardening: H-97\ngenerated! {\n    one: two;\n}");

        let shown = coverage["hardening"].values().flatten().next();
        assert_eq!(shown.map(String::as_str), Some("`a.rs`: generated"));
    }

    #[test]
    fn words_that_are_no_ids_are_a_fault() {
        let (_, faults) = read("// spec: 2025-11-25 LIFE-09 to LIFE-11\n#[test]\nfn a() {}");

        assert_eq!(faults, ["a.rs:1: not a list of ids"]);
    }
}
