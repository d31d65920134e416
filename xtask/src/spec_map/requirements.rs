//! The requirements documents, reduced to ids, levels and sides.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Attempt, Failure, Result};

/// Every requirement, by the document that has it.
pub(crate) type Known = BTreeMap<String, BTreeMap<Id, Requirement>>;

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

/// What a document states about one requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// How strict it is.
    pub(crate) level: Level,
    /// Whether it binds clients and servers alike.
    pub(crate) binds_both: bool,
}

/// How strict a requirement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// MUST or MUST NOT, and every line of our own list.
    Must,
    /// SHOULD or SHOULD NOT.
    Should,
    /// A permission, a note or a decision.
    Other,
}

impl Level {
    /// Reads `MUST NOT`, `MUST/schema`, `SHOULD°` and the like.
    fn parse(text: &str) -> Self {
        let text = text.split(['/', '°']).next().unwrap_or_default();
        match text {
            "MUST" | "MUST NOT" => Self::Must,
            "SHOULD" | "SHOULD NOT" => Self::Should,
            _ => Self::Other,
        }
    }

    /// Returns true if a requirement of this level needs a test or a reason.
    pub(crate) fn binds(self) -> bool {
        self != Self::Other
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Other => "no duty",
        })
    }
}

/// Reads every document, or nothing when `PINTLE_REQUIREMENTS_DIR` is not set. In CI it has to be.
pub(crate) fn read() -> Result<Option<Known>> {
    let Some(folder) = std::env::var_os("PINTLE_REQUIREMENTS_DIR").map(PathBuf::from) else {
        let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        let missing =
            || Failure::unable("look up requirements", "PINTLE_REQUIREMENTS_DIR is not set");
        return if is_ci { Err(missing()) } else { Ok(None) };
    };
    let documents = [
        ("2025-11-25", folder.join("requirements-2025-11-25.md")),
        ("2026-07-28", folder.join("requirements-2026-07-28.md")),
        ("hardening", folder.join("../hardening.md")),
    ];
    let mut known = Known::new();
    for (name, file) in documents {
        known.insert(name.to_owned(), requirements(&file)?);
    }
    Ok(Some(known))
}

fn requirements(file: &Path) -> Result<BTreeMap<Id, Requirement>> {
    let attempted = || format!("read the requirements in {}", file.display());
    let text = fs::read_to_string(file).attempting(attempted)?;
    let found: BTreeMap<Id, Requirement> = text.lines().filter_map(definition).collect();
    if found.is_empty() {
        return Err(Failure::unable(attempted(), "there are none"));
    }
    Ok(found)
}

/// The requirement that a line defines: its first word is the id of a list item or of a table row.
///
/// `ID · level · role · …` states a level. A row of a table does not: all of those bind us.
fn definition(line: &str) -> Option<(Id, Requirement)> {
    let row = line.strip_prefix("| ");
    let rest = line.strip_prefix("- ").or(row)?;
    let word = rest.split_whitespace().next()?;
    let is_gone = line.contains("(withdrawn)");
    let id = (!is_gone).then(|| Id::parse(word.trim_matches('*')))??;
    let mut fields = rest.split(" · ").skip(1);
    let level = match row {
        Some(_) => Level::Must,
        None => Level::parse(fields.next().unwrap_or_default()),
    };
    let binds_both = fields.next() == Some("both");
    Some((id, Requirement { level, binds_both }))
}

#[cfg(test)]
mod tests {
    use super::{Id, Level, definition};

    fn found(line: &str) -> Option<String> {
        definition(line).map(|(id, _)| id.to_string())
    }

    fn level(line: &str) -> Level {
        definition(line).expect("a requirement").1.level
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
    fn the_second_field_is_the_level() {
        for text in ["MUST", "MUST NOT", "MUST°", "MUST NOT°", "MUST/schema"] {
            assert_eq!(level(&format!("- N-A-1 · {text} · both")), Level::Must);
        }
        for text in ["SHOULD", "SHOULD NOT", "SHOULD°", "SHOULD/sep"] {
            assert_eq!(level(&format!("- N-A-1 · {text} · both")), Level::Should);
        }
        for text in ["MAY", "INFO", "which failures move on", "SHOULD inputs be"] {
            assert_eq!(level(&format!("- N-A-1 · {text} · both")), Level::Other);
        }
        assert_eq!(level("- A-02 Codes. → MUST be read."), Level::Other);
        assert_eq!(level("| H-97 | id null | 400 |"), Level::Must);
    }

    #[test]
    fn the_third_field_is_the_side() {
        let binds_both = |line| definition(line).expect("a requirement").1.binds_both;

        assert!(binds_both("- N-A-1 · MUST · both · words"));
        assert!(!binds_both("- N-A-1 · MUST · server · both of them"));
    }

    #[test]
    fn ids_are_ordered_by_number() {
        assert!(Id::parse("H-9") < Id::parse("H-10"));
    }
}
