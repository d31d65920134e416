//! The entry of a check in the registry.

use std::fmt;

use pintle_model::{Feature, Revision};

use crate::finding::Judging;
use crate::level::{Carrier, Level};
use crate::peer::Peer;

/// The requirements that a check shows, in some revisions and on some transports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coverage {
    level: Level,
    features: &'static [Feature],
    carrier: Option<Carrier>,
    requirements: &'static [&'static str],
}

impl Coverage {
    const fn new(
        level: Level,
        features: &'static [Feature],
        requirements: &'static [&'static str],
    ) -> Self {
        Self {
            level,
            features,
            carrier: None,
            requirements,
        }
    }

    /// Restricts the coverage to HTTP.
    pub(crate) const fn http(mut self) -> Self {
        self.carrier = Some(Carrier::Http);
        self
    }

    /// Restricts the coverage to stdio.
    pub(crate) const fn stdio(mut self) -> Self {
        self.carrier = Some(Carrier::Stdio);
        self
    }

    pub(crate) const fn level(&self) -> Level {
        self.level
    }

    pub(crate) const fn requirements(&self) -> &'static [&'static str] {
        self.requirements
    }

    fn applies(&self, revision: Revision, carrier: Carrier) -> bool {
        let mut features = self.features.iter();
        features.all(|feature| revision.has(*feature))
            && self.carrier.is_none_or(|only| only == carrier)
    }
}

/// Returns the entries that apply in a revision and on a transport.
pub(crate) fn covering(
    all: &'static [Coverage],
    revision: Revision,
    carrier: Carrier,
) -> impl Iterator<Item = &'static Coverage> {
    all.iter()
        .filter(move |coverage| coverage.applies(revision, carrier))
}

/// Covers requirements of the level `must` in the revisions with all these features.
pub(crate) const fn must(
    features: &'static [Feature],
    requirements: &'static [&'static str],
) -> Coverage {
    Coverage::new(Level::Must, features, requirements)
}

/// Covers requirements of the level `should` in the revisions with all these features.
pub(crate) const fn should(
    features: &'static [Feature],
    requirements: &'static [&'static str],
) -> Coverage {
    Coverage::new(Level::Should, features, requirements)
}

/// Covers behaviors of the level `robust` in the revisions with all these features.
pub(crate) const fn robust(
    features: &'static [Feature],
    requirements: &'static [&'static str],
) -> Coverage {
    Coverage::new(Level::Robust, features, requirements)
}

/// Runs a check against a peer.
pub(crate) type Run = for<'p> fn(&'p mut Peer) -> Judging<'p>;

/// One check: an expectation, the requirements behind it, and the code that looks.
pub struct Check {
    /// The stable id, as in `--only`.
    pub id: &'static str,
    /// The expected behavior, in one sentence.
    pub expects: &'static str,
    /// The page and section of the specification, or of the documentation of Pintle.
    pub page: &'static str,
    coverage: &'static [Coverage],
    pub(crate) run: Run,
}

impl Check {
    pub(crate) const fn new(
        id: &'static str,
        expects: &'static str,
        page: &'static str,
        coverage: &'static [Coverage],
        run: Run,
    ) -> Self {
        Self {
            id,
            expects,
            page,
            coverage,
            run,
        }
    }

    /// Returns the requirements that the check shows in a revision and on a transport.
    pub fn requirements(&self, revision: Revision, carrier: Carrier) -> Vec<&'static str> {
        covering(self.coverage, revision, carrier)
            .flat_map(|coverage| coverage.requirements.iter().copied())
            .collect()
    }

    /// Returns the level in a revision and on a transport; `None` if the check does not apply.
    pub fn level(&self, revision: Revision, carrier: Carrier) -> Option<Level> {
        covering(self.coverage, revision, carrier)
            .map(Coverage::level)
            .min()
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
