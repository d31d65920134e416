//! Names: retired ones are not used, and errors are called so.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::{sources, texts};
use crate::failure::{Attempt, Result};
use crate::source::Code;

const RETIRED: &str = "xtask/style/retired.txt";
/// The one file that may name them, because it names their replacements.
const CHANGELOG: &str = "CHANGELOG.md";

/// Types that implement `Error` and are not called so.
const EXCEPTIONS: [&str; 7] = [
    "Error",
    "Rejection",
    "NotFound",
    "OAuthErrorResponse",
    "Violation",
    "Misbehavior",
    "ChildExit",
];

static IMPLEMENTS: LazyLock<Regex> = LazyLock::new(|| {
    let by_hand = r"\bError for (\w+)";
    let derived = r"\bthiserror::Error\b[^;{}]*?\b(?:struct|enum) (\w+)";
    Regex::new(&format!("{by_hand}|{derived}")).expect("the pattern is valid")
});

/// A type that the macro of errors declares.
static DECLARED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:struct|enum) (\w+)").expect("the pattern is valid"));

/// Retired names that are used, and errors with another ending.
pub(super) fn faults(root: &Path) -> Result<Vec<String>> {
    let list = fs::read_to_string(root.join(RETIRED)).attempting(|| format!("read {RETIRED}"))?;
    let retired: BTreeSet<&str> = names(&list).collect();
    let mut faults = Vec::new();
    for (path, text) in sources(root)? {
        if path == CHANGELOG {
            continue;
        }
        faults.extend(uses(&path, &text, &retired));
        if path.ends_with(".rs") && !texts::is_test(&path) {
            let misnamed = misnamed_errors(Code::of(&text).text());
            faults.extend(misnamed.into_iter().map(|name| {
                format!("{path}: {name} implements Error and does not end in Error or ErrorKind")
            }));
        }
    }
    Ok(faults)
}

/// The names in the list; a `#` begins a comment.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let lines = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    lines.flat_map(str::split_whitespace)
}

fn uses(path: &str, text: &str, retired: &BTreeSet<&str>) -> Vec<String> {
    let lines = text.lines().enumerate();
    let uses = lines.flat_map(|(at, line)| {
        let words = line.split(|c: char| c != '_' && !c.is_alphanumeric());
        let found = words.filter(|word| retired.contains(word));
        found.map(move |name| format!("{path}:{}: {name} is retired", at + 1))
    });
    uses.collect()
}

fn misnamed_errors(code: &str) -> Vec<String> {
    let types = IMPLEMENTS.captures_iter(code);
    let types = types.filter_map(|found| found.get(1).or(found.get(2)));
    let declared = texts::error_macros(code).into_iter().flat_map(|region| {
        let found = DECLARED.captures_iter(&code[region]);
        found.filter_map(|found| found.get(1))
    });
    let names = types.chain(declared).map(|name| name.as_str());
    let is_misnamed = |name: &&str| {
        !name.ends_with("Error") && !name.ends_with("ErrorKind") && !EXCEPTIONS.contains(name)
    };
    names.filter(is_misnamed).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{misnamed_errors, names, uses};

    #[test]
    fn a_retired_name_is_found_as_a_whole_word() {
        let retired = names("# old names\nGizmo Widget\n").collect();
        let found = uses("a.rs", "fn a(it: Gizmo)\n// Gizmos, gizmo", &retired);

        assert_eq!(found, ["a.rs:1: Gizmo is retired"]);
    }

    #[test]
    fn an_error_ends_in_error() {
        let code = "impl Error for Fault {}\nimpl error::Error for ReadError {}\n\
                    #[derive(Debug, thiserror::Error)]\n#[non_exhaustive]\npub enum Trouble {}\n\
                    impl std::error::Error for Violation {}\n\
                    errors! { pub struct Unfit => \"\"; }";

        assert_eq!(misnamed_errors(code), ["Fault", "Trouble", "Unfit"]);
    }
}
