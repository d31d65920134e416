//! The part of a requirement that a mark or a reason is about.
//!
//! A requirement may have several duties: one for clients and one for servers, or two rules in one
//! sentence. `N-ELIC-05` is the whole requirement, `N-ELIC-05 (server)` one duty of it.

use std::fmt;

use super::requirements::Id;

/// A requirement, or one duty of it.
///
/// Ordered by requirement; the whole comes before its duties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Duty {
    /// The requirement.
    pub(crate) id: Id,
    name: Option<String>,
}

impl Duty {
    /// Reads `ID` or `ID (name)`, and nothing around it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some((id, rest)) = text.split_once(' ') else {
            let id = Id::parse(text)?;
            return Some(Self { id, name: None });
        };
        let name = rest.strip_prefix('(')?.strip_suffix(')')?;
        let is_name = !name.trim().is_empty() && !name.contains(['(', ')']);
        is_name.then_some(())?;
        Some(Self {
            id: Id::parse(id)?,
            name: Some(name.to_owned()),
        })
    }

    /// Returns true if both are about the same duty of the same requirement, or one is about all.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let is_whole = self.name.is_none() || other.name.is_none();
        self.id == other.id && (is_whole || self.name == other.name)
    }

    /// The first word of the duty's name; the whole requirement has none.
    pub(crate) fn side(&self) -> Option<&str> {
        self.name.as_deref()?.split(' ').next()
    }
}

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({name})", self.id),
            None => self.id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Duty;

    fn duty(text: &str) -> Duty {
        Duty::parse(text).expect("a duty")
    }

    #[test]
    fn a_duty_is_named_in_parentheses() {
        let text = "N-ELIC-05 (server forms)";

        assert_eq!(duty(text).to_string(), text);
        assert_eq!(duty("N-ELIC-05").to_string(), "N-ELIC-05");
        assert_eq!(duty("N-ELIC-05 (server forms)").side(), Some("server"));
    }

    #[test]
    fn other_words_after_an_id_are_refused() {
        for text in ["N-ELIC-05 server", "N-ELIC-05 ()", "N-ELIC-05 (a) (b)", ""] {
            assert_eq!(Duty::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_whole_requirement_overlaps_each_of_its_duties() {
        let server = duty("N-ELIC-05 (server)");

        assert!(duty("N-ELIC-05").overlaps(&server));
        assert!(server.overlaps(&server));
        assert!(!server.overlaps(&duty("N-ELIC-05 (client)")));
        assert!(!server.overlaps(&duty("N-ELIC-06")));
    }
}
