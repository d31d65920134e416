//! Judges the record of all visits.

use std::collections::BTreeSet;

use pintle_model::{Feature, Revision};
use serde_json::Value;

use super::checks::client_checks;
use super::record::{Kind, Record, Talk};
use super::seen::Seen;
use crate::finding::{Finding, Stop, Verdict};
use crate::level::Carrier;
use crate::options::CheckOptions;
use crate::report::Report;
use crate::run::CheckError;
use crate::text::clip;

/// Judges each revision that the client speaks.
pub(super) fn judge(
    record: &Record,
    options: &CheckOptions,
    carrier: Carrier,
) -> Result<Report, CheckError> {
    let talks = record.talks();
    let visits = record.visits();
    let spoken = spoken(&talks);
    let mut report = Report::new(crate::report::Side::Client, carrier);
    report.name = talks.iter().find_map(client_name).unwrap_or_default();
    report.revisions = spoken.iter().copied().collect();
    let is_wanted =
        |revision: &Revision| options.revisions.is_empty() || options.revisions.contains(revision);
    let others = Revision::ALL
        .into_iter()
        .filter(|revision| !spoken.contains(revision));
    let reason = "the client has not spoken it".to_owned();
    report.not_served = others
        .filter(is_wanted)
        .map(|revision| (revision, reason.clone()))
        .collect();
    for revision in spoken {
        let seen = Seen::new(&talks, &visits, revision);
        for check in client_checks() {
            let is_named = options.only.is_empty() || options.only.iter().any(|id| id == check.id);
            let level = check.level(revision, carrier);
            if let Some(level) = level.filter(|level| is_named && *level <= options.level) {
                let (verdict, sent, came) = verdict((check.judge)(&seen));
                report.findings.push(Finding {
                    check: check.id,
                    revision,
                    carrier,
                    level,
                    requirements: check.requirements(revision, carrier),
                    verdict,
                    sent,
                    came,
                    expected: check.expects,
                    page: check.page,
                });
            }
        }
    }
    match report.revisions.is_empty() {
        true => Err(CheckError::NoVisit),
        false => Ok(report),
    }
}

fn verdict(judgement: Result<(), Stop>) -> (Verdict, Option<String>, Option<String>) {
    match judgement {
        Ok(()) => (Verdict::Passed, None, None),
        Err(Stop::Skipped(reason)) => {
            let reason = clip(&reason);
            (Verdict::Skipped { reason }, None, None)
        }
        Err(Stop::Failed { came, sent }) => {
            let clipped = |text: Option<String>| text.map(|text| clip(&text));
            (Verdict::Failed, clipped(sent), clipped(came))
        }
    }
}

/// Returns the revisions in which the client went on after the opening.
pub(super) fn spoken(talks: &[Talk]) -> BTreeSet<Revision> {
    let spoken = talks.iter().filter(|talk| goes_on(talk));
    spoken.filter_map(|talk| talk.revision).collect()
}

fn goes_on(talk: &Talk) -> bool {
    let is_modern = talk
        .revision
        .is_some_and(|revision| revision.has(Feature::Envelope));
    let mut messages = talk.entries.iter().filter_map(|entry| entry.came());
    messages.any(|message| {
        let method = message.get("method").and_then(Value::as_str);
        is_modern || !matches!(method, Some("initialize" | "server/discover"))
    })
}

fn client_name(talk: &Talk) -> Option<String> {
    talk.entries.iter().find_map(|entry| {
        let Kind::Came(message, _) = &entry.kind else {
            return None;
        };
        let params = message.get("params")?;
        let info = params.get("clientInfo").or_else(|| {
            let meta = params.get("_meta")?;
            meta.get("io.modelcontextprotocol/clientInfo")
        })?;
        let text = |name: &str| info.get(name).and_then(Value::as_str);
        Some(clip(&format!("{} {}", text("name")?, text("version")?)))
    })
}
