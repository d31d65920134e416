//! The choice of operations.

use std::fmt;
use std::sync::Arc;

/// An operation of a document, for filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationFacts<'a> {
    /// The `operationId`, if the operation has one.
    pub id: Option<&'a str>,
    /// The HTTP method, in upper case.
    pub method: &'static str,
    /// The path, with its variables in braces.
    pub path: &'a str,
    /// The tags, in the order of the document.
    pub tags: &'a [Box<str>],
    /// Whether the document states that the operation is deprecated.
    pub is_deprecated: bool,
}

impl OperationFacts<'_> {
    /// Returns true if the operation has this tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| **own == *tag)
    }

    /// Returns the id, or the method and the path.
    pub(crate) fn label(&self) -> Box<str> {
        let without_id = || format!("{} {}", self.method, self.path);
        let label = self.id.map_or_else(without_id, str::to_owned);
        label.chars().take(200).collect()
    }
}

type Rule = Arc<dyn Fn(&OperationFacts<'_>) -> bool + Send + Sync>;

/// Rules that an operation must meet, all of them.
#[derive(Clone, Default)]
pub(crate) struct Filter(Vec<Rule>);

impl Filter {
    pub(crate) fn add(
        &mut self,
        rule: impl Fn(&OperationFacts<'_>) -> bool + Send + Sync + 'static,
    ) {
        self.0.push(Arc::new(rule));
    }

    pub(crate) fn accepts(&self, facts: &OperationFacts<'_>) -> bool {
        self.0.iter().all(|rule| rule(facts))
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules", self.0.len())
    }
}
