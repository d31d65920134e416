//! What a floor's source may not say, whatever its dependencies are.

use std::path::Path;

use crate::failure::Result;
use crate::user_code::{self, SourceFile};
use crate::workspace::Package;

/// What only the world outside can answer. Floors 0 and 1 get it as an argument.
const WORLD: [&str; 14] = [
    "Instant::now",
    "SystemTime::now",
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "io::stderr",
    "io::stdin",
    "io::stdout",
    "thread_local!",
    "RandomState",
    "thread::spawn",
];

/// The store in a directory, the one part below that opens files, on a thread of its own: a feature,
/// and off by default.
const FILE_STORE: &str = "crates/store/src/file";

/// The one file that may compare revisions.
const REVISION_FILE: &str = "crates/model/src/revision.rs";

/// Every forbidden word in the source that users of `package` compile.
pub(crate) fn faults(package: &Package, is_pure: bool) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for SourceFile { path, code, .. } in user_code::read(package)? {
        for (number, line) in code.lines() {
            let found = rules(&path, line, is_pure);
            faults.extend(found.map(|what| format!("{}:{number}: {what}", path.display())));
        }
    }
    Ok(faults)
}

/// What is wrong with one line.
fn rules(file: &Path, line: &str, is_pure: bool) -> impl Iterator<Item = String> {
    let opens_files = file.to_string_lossy().contains(FILE_STORE);
    let is_allowed = |word: &str| {
        !is_pure || (opens_files && matches!(word, "std::fs" | "std::os" | "std::thread"))
    };
    let world = WORLD
        .iter()
        .find(|word| line.contains(**word) && !is_allowed(word));
    let untagged = line.contains("untagged") && line.contains("serde");
    let compares = !file.ends_with(REVISION_FILE) && compares_revisions(line);
    [
        world.map(|word| format!("{word} below the floor where the world begins")),
        untagged.then(|| "serde(untagged): classify by what is present instead".to_owned()),
        compares.then(|| "revisions are compared in revision.rs; ask `has(Feature::…)`".to_owned()),
    ]
    .into_iter()
    .flatten()
}

/// Whether a line orders revisions, or asks for a particular one.
fn compares_revisions(line: &str) -> bool {
    names_revision(line) || orders_revisions(line)
}

/// `… == Revision::X`, `Revision::X <= …`, and `Revision::X =>`.
fn names_revision(line: &str) -> bool {
    line.match_indices("Revision::V").any(|(at, _)| {
        let before = line[..at].trim_end_matches(|c: char| c == ':' || is_word(c));
        let after = line[at..].trim_start_matches(|c: char| c == ':' || is_word(c));
        let left = before.trim_end().rsplit(|c| !is_operator(c)).next();
        let right = after.trim_start().split(|c| !is_operator(c)).next();
        left.is_some_and(is_comparison) || right.is_some_and(|it| it == "=>" || is_comparison(it))
    })
}

/// `revision < x`: the operator stands alone, so that `Vec<…>` is not meant.
fn orders_revisions(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let name = pair[0].rsplit(['.', '(', '!', '*', '&']).next();
        let is_revision = name.is_some_and(|it| it == "revision" || it.ends_with("_revision"));
        is_revision && matches!(pair[1], "<" | ">" | "<=" | ">=")
    })
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=")
}

fn is_operator(c: char) -> bool {
    matches!(c, '=' | '!' | '<' | '>' | '-')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{REVISION_FILE, compares_revisions, rules};

    #[test]
    fn asking_for_a_particular_revision_is_found() {
        for line in [
            "if revision == Revision::V2026_07_28 {",
            "if terms.revision >= pintle_model::Revision::V2025_06_18 {",
            "if Revision::V2025_06_18 <= it {",
            "Revision::V2024_11_05 => true,",
            "if terms.revision < other {",
        ] {
            assert!(compares_revisions(line), "{line}");
        }
    }

    #[test]
    fn naming_a_revision_is_not_comparing_it() {
        for line in [
            "let first = Revision::V2024_11_05;",
            "_ => Revision::V2025_03_26,",
            "fn only() -> Revision { Revision::V2025_11_25 }",
            "pub revision: Option<Revision>,",
            "if terms.revision.has(Feature::InputRequired) {",
        ] {
            assert!(!compares_revisions(line), "{line}");
        }
    }

    #[test]
    fn revision_rs_may_compare() {
        let line = "self >= Revision::V2025_06_18";

        assert_eq!(rules(Path::new(REVISION_FILE), line, true).count(), 0);
        assert_eq!(
            rules(Path::new("crates/proto/src/terms.rs"), line, true).count(),
            1
        );
    }

    #[test]
    fn the_file_store_opens_files_and_reads_no_clock() {
        let found = |file: &str, line: &str| rules(Path::new(file), line, true).count();

        assert_eq!(
            found("crates/store/src/file/index.rs", "use std::fs::File;"),
            0
        );
        assert_eq!(
            found("crates/store/src/file.rs", "let now = SystemTime::now();"),
            1
        );
        assert_eq!(found("crates/store/src/memory.rs", "use std::fs::File;"), 1);
    }

    #[test]
    fn a_clock_is_found_on_pure_floors_only() {
        let (file, line) = (
            Path::new("crates/x/src/lib.rs"),
            "let now = Instant::now();",
        );

        assert_eq!(rules(file, line, true).count(), 1);
        assert_eq!(rules(file, line, false).count(), 0);
    }
}
