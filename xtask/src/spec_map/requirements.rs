//! The requirements documents, as far as we read them: their ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Attempt, Failure, Result};

/// Every id, by the document that has it.
pub(crate) type Known = BTreeMap<String, BTreeSet<Id>>;

/// The name of a requirement: a group and a number, `N-HDR-02`.
///
/// Ordered by group, then by number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    group: String,
    number: u32,
    text: String,
}

impl Id {
    /// Reads an id, and nothing around it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (group, digits) = text.rsplit_once('-')?;
        let shape = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
        let is_group =
            group.starts_with(|c: char| c.is_ascii_uppercase()) && group.chars().all(shape);
        let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
        (is_group && is_number).then_some(())?;
        Some(Self {
            group: group.to_owned(),
            number: digits.parse().ok()?,
            text: text.to_owned(),
        })
    }

    /// The part before the number.
    pub(crate) fn group(&self) -> &str {
        &self.group
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads the ids of every document, or nothing when `PINTLE_REQUIREMENTS_DIR` is not set.
pub(crate) fn read() -> Result<Option<Known>> {
    let Some(folder) = std::env::var_os("PINTLE_REQUIREMENTS_DIR").map(PathBuf::from) else {
        return Ok(None);
    };
    let documents = [
        ("2025-11-25", folder.join("requirements-2025-11-25.md")),
        ("2026-07-28", folder.join("requirements-2026-07-28.md")),
        ("hardening", folder.join("../hardening.md")),
    ];
    let mut known = Known::new();
    for (name, file) in documents {
        known.insert(name.to_owned(), ids(&file)?);
    }
    Ok(Some(known))
}

fn ids(file: &Path) -> Result<BTreeSet<Id>> {
    let attempted = || format!("read the requirements in {}", file.display());
    let text = fs::read_to_string(file).attempting(attempted)?;
    let ids: BTreeSet<Id> = text.lines().filter_map(definition).collect();
    if ids.is_empty() {
        return Err(Failure::unable(attempted(), "there are none"));
    }
    Ok(ids)
}

/// The id that a line defines: the first word of a list item or of a table row.
fn definition(line: &str) -> Option<Id> {
    let rest = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("| "))?;
    let word = rest.split_whitespace().next()?;
    let is_gone = line.contains("(withdrawn)");
    (!is_gone).then(|| Id::parse(word.trim_matches('*')))?
}

#[cfg(test)]
mod tests {
    use super::{Id, definition};

    fn found(line: &str) -> Option<String> {
        definition(line).map(|id| id.to_string())
    }

    #[test]
    fn a_requirement_is_the_first_word_of_a_line() {
        assert_eq!(
            found("- **LIFE-09** · MUST · both · words").as_deref(),
            Some("LIFE-09")
        );
        assert_eq!(
            found("- N-HDR-02 · MUST · server · words").as_deref(),
            Some("N-HDR-02")
        );
        assert_eq!(found("| H-97 | id null | 400 |").as_deref(), Some("H-97"));
    }

    #[test]
    fn prose_and_withdrawn_lines_define_nothing() {
        assert_eq!(found("see LIFE-09 for more"), None);
        assert_eq!(found("- a list item about LIFE-09"), None);
        assert_eq!(found("- LIFE-09 · (withdrawn)"), None);
    }

    #[test]
    fn ids_are_ordered_by_number() {
        assert!(Id::parse("H-9") < Id::parse("H-10"));
    }
}
