//! Documents of others that tests read, and that are not part of the repository.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Returns the folder that the environment variable `name` names.
///
/// Without the variable the test has nothing to read: it is skipped with a line on standard error,
/// and fails where `CI` is set.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    match find(name, std::env::var_os(name), is_ci) {
        Ok(folder) => Some(folder),
        Err(Missing::Skipped(line)) => {
            report(&line);
            None
        }
        Err(Missing::Failed(line)) => panic!("{line}"),
    }
}

/// Prints a line that the test harness does not capture.
pub(crate) fn report(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[derive(Debug, PartialEq, Eq)]
enum Missing {
    Skipped(String),
    Failed(String),
}

fn find(name: &str, value: Option<OsString>, is_ci: bool) -> Result<PathBuf, Missing> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) => Ok(value.into()),
        None if is_ci => Err(Missing::Failed(format!(
            "{name} is not set; in CI this test needs it"
        ))),
        None => Err(Missing::Skipped(format!(
            "SKIPPED: {name} is not set; nothing is compared with the documents"
        ))),
    }
}

#[test]
fn a_test_without_its_documents_fails_in_ci_and_is_skipped_elsewhere() {
    let found = |value: Option<&str>, is_ci| find("DOCUMENTS", value.map(OsString::from), is_ci);

    assert_eq!(found(Some("folder"), true), Ok(PathBuf::from("folder")));
    for value in [None, Some("")] {
        assert!(matches!(found(value, true), Err(Missing::Failed(_))));
        assert!(matches!(found(value, false), Err(Missing::Skipped(_))));
    }
}
