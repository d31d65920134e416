//! The findings of a run.

mod junit;
mod sarif;

use std::collections::BTreeSet;

use pintle_model::Revision;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::finding::Finding;
use crate::level::{Carrier, Level};

/// The judged side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Side {
    /// The server was judged.
    Server,
    /// The client was judged.
    Client,
}

/// The findings of a run.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The judged side.
    pub side: Side,
    /// The name and version that the judged side states.
    pub name: String,
    /// The transport of the conversations.
    pub carrier: Carrier,
    /// The judged revisions, oldest first.
    #[serde(serialize_with = "dates")]
    pub revisions: Vec<Revision>,
    /// The revisions that the judged side does not speak, with the reason.
    #[serde(serialize_with = "reasons")]
    pub not_served: Vec<(Revision, String)>,
    /// The findings in the order of the checks, revision by revision.
    pub findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn new(side: Side, carrier: Carrier) -> Self {
        Self {
            side,
            name: String::new(),
            carrier,
            revisions: Vec::new(),
            not_served: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Returns the findings about behavior that is not the expected one, the strictest first.
    pub fn failures(&self) -> Vec<&Finding> {
        let failed = self.findings.iter().filter(|finding| finding.is_failed());
        let mut failed: Vec<&Finding> = failed.collect();
        failed.sort_by_key(|finding| finding.level);
        failed
    }

    /// Returns the number of failed checks of a level, over all revisions.
    pub fn failed(&self, level: Level) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.is_failed() && finding.level == level)
            .count()
    }

    /// Returns the requirements that checks have shown, each with its revision.
    pub fn requirements(&self) -> BTreeSet<(Revision, &'static str)> {
        let made = self.findings.iter().filter(|finding| finding.was_made());
        made.flat_map(|finding| {
            let ids = finding.requirements.iter();
            ids.map(|id| (finding.revision, *id))
        })
        .collect()
    }

    /// Returns the report in the XML of JUnit: a suite for each revision, a case for each check.
    pub fn to_junit(&self) -> String {
        junit::render(self)
    }

    /// Returns the failures as SARIF 2.1.0.
    pub fn to_sarif(&self) -> Value {
        sarif::render(self)
    }
}

fn dates<S: Serializer>(revisions: &[Revision], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(revisions.iter().map(|revision| revision.as_str()))
}

fn reasons<S: Serializer>(
    reasons: &[(Revision, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let pairs = reasons.iter();
    serializer.collect_map(pairs.map(|(revision, reason)| (revision.as_str(), reason)))
}
