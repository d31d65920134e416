//! The entry of a check of clients in its registry.

use std::fmt;

use pintle_model::Revision;

use super::scene::Scene;
use super::seen::Seen;
use crate::check::{Coverage, covering};
use crate::finding::Judgement;
use crate::level::{Carrier, Level};

/// One check of a client: an expectation, the requirements behind it, and the code that judges the record.
pub struct ClientCheck {
    /// The stable id, as in `--only`.
    pub id: &'static str,
    /// The expected behavior, in one sentence.
    pub expects: &'static str,
    /// The page and section of the specification, or of the documentation of Pintle.
    pub page: &'static str,
    /// The scene that the check needs; `None` if every scene shows the behavior.
    pub(crate) scene: Option<Scene>,
    coverage: &'static [Coverage],
    pub(crate) judge: fn(&Seen<'_>) -> Judgement,
}

impl ClientCheck {
    pub(crate) const fn new(
        id: &'static str,
        expects: &'static str,
        page: &'static str,
        coverage: &'static [Coverage],
        judge: fn(&Seen<'_>) -> Judgement,
    ) -> Self {
        Self {
            id,
            expects,
            page,
            scene: None,
            coverage,
            judge,
        }
    }

    /// Restricts the check to a scene.
    pub(crate) const fn of(mut self, scene: Scene) -> Self {
        self.scene = Some(scene);
        self
    }

    /// Returns the requirements that the check shows in a revision and on a transport.
    pub fn requirements(&self, revision: Revision, carrier: Carrier) -> Vec<&'static str> {
        covering(self.coverage, revision, carrier)
            .flat_map(|coverage| coverage.requirements().iter().copied())
            .collect()
    }

    /// Returns the level in a revision and on a transport; `None` if the check does not apply.
    pub fn level(&self, revision: Revision, carrier: Carrier) -> Option<Level> {
        let suits = self
            .scene
            .is_none_or(|scene| scene.suits(revision, carrier));
        covering(self.coverage, revision, carrier)
            .map(Coverage::level)
            .min()
            .filter(|_| suits)
    }
}

impl fmt::Debug for ClientCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCheck")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
