//! Rules for files.

use pintle_hosts::{ConfigError, ConfigFile, FileFault, FileFaultKind};

use crate::finding::Finding;
use crate::rule::{self, Rule};

/// Returns the findings about files: those that cannot be read, and those with faults.
pub fn diagnose_files(
    errors: &[ConfigError],
    faults: &[(ConfigFile, Vec<FileFault>)],
) -> Vec<Finding> {
    let unreadable = errors.iter().filter_map(unreadable);
    let faults = faults.iter();
    let faults =
        faults.flat_map(|(file, faults)| faults.iter().map(move |fault| of_fault(file, fault)));
    let mut findings: Vec<Finding> = Vec::new();
    for finding in unreadable.chain(faults) {
        // Several hosts may read one file.
        let is_same = |other: &Finding| {
            other.rule == finding.rule && other.file == finding.file && other.line == finding.line
        };
        if !findings.iter().any(is_same) {
            findings.push(finding);
        }
    }
    findings
}

fn unreadable(error: &ConfigError) -> Option<Finding> {
    let (file, line) = error.place()?;
    let (rule, message, remedy) = match error {
        ConfigError::Syntax { reason, .. } => (
            rule::SYNTAX,
            format!("the file cannot be parsed: {reason}"),
            "correct the syntax at this line or the line before; the host reads no server of this file until then",
        ),
        _ => (
            rule::UNREADABLE,
            error.to_string(),
            "check the permissions and the size of the file",
        ),
    };
    Some(Finding {
        rule,
        server: None,
        file: file.to_owned(),
        line,
        message,
        remedy: remedy.to_owned(),
    })
}

fn of_fault(file: &ConfigFile, fault: &FileFault) -> Finding {
    let host = file.host.name;
    let (rule, message, remedy): (&'static Rule, String, String) = match &fault.kind {
        FileFaultKind::Comment => (
            rule::COMMENT,
            format!("{host} accepts no comments in this file"),
            "delete the comment".to_owned(),
        ),
        FileFaultKind::TrailingComma => (
            rule::TRAILING_COMMA,
            format!("{host} accepts no comma before a closing bracket"),
            "delete the comma".to_owned(),
        ),
        FileFaultKind::OtherKey { found, expected } => (
            rule::WRONG_KEY,
            format!("the servers stand under `{found}`, which {host} does not read"),
            format!("rename `{found}` to `{expected}`"),
        ),
        FileFaultKind::DuplicateName { name } => (
            rule::DUPLICATE_NAME,
            format!("the file has two servers `{name}`, and only this one counts"),
            "rename one of the servers, or delete one".to_owned(),
        ),
        _ => (
            rule::SYNTAX,
            "the file has a fault".to_owned(),
            String::new(),
        ),
    };
    Finding {
        rule,
        server: None,
        file: file.path.clone(),
        line: fault.line,
        message,
        remedy,
    }
}
