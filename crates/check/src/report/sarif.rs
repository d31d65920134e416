//! The failures as SARIF, for viewers of code scanning.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Report;
use crate::finding::Finding;
use crate::level::Level;

/// Renders the failures of a report. A check is a rule.
pub(super) fn render(report: &Report) -> Value {
    let failures = report.failures();
    let rules: BTreeMap<&str, Value> = failures
        .iter()
        .map(|finding| (finding.check, rule(finding)))
        .collect();
    let results: Vec<Value> = failures
        .iter()
        .map(|finding| result(report, finding))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pintle check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_values().collect::<Vec<_>>(),
            } },
            "results": results,
        }],
    })
}

fn rule(finding: &Finding) -> Value {
    json!({
        "id": finding.check,
        "shortDescription": { "text": finding.expected },
        "help": { "text": finding.page },
    })
}

fn result(report: &Report, finding: &Finding) -> Value {
    let came = finding.came.as_deref().unwrap_or("nothing");
    let sent = finding.sent.as_deref().unwrap_or("nothing");
    let text = format!("{} Sent: {sent}. Came: {came}.", finding.expected);
    json!({
        "ruleId": finding.check,
        "level": match finding.level {
            Level::Must => "error",
            Level::Should => "warning",
            Level::Robust => "note",
        },
        "message": { "text": text },
        "locations": [{ "logicalLocations": [{
            "fullyQualifiedName":
                format!("{} {} {}", report.name, finding.revision, report.carrier.as_str()),
        }] }],
        "properties": {
            "revision": finding.revision.as_str(),
            "requirements": finding.requirements,
        },
    })
}
