//! Applies rules to a surface.

use pintle_surface::{EntryKind, Surface, show_hidden};
use serde::Serialize;
use serde_json::Value;

use crate::hit::{Check, Hit};
use crate::host::Host;
use crate::rule::{Rule, rules};

/// Maximum number of findings of one rule for one tool, and of one rule for a server.
pub const MAX_HITS: usize = 20;

/// Maximum length of a value in a finding, in characters.
const FOUND_CHARS: usize = 120;

/// A place that breaks a rule.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The broken rule.
    #[serde(flatten)]
    pub rule: &'static Rule,
    /// The name of the tool, or of another entry; `None` for the server.
    pub tool: Option<String>,
    /// JSON pointer (RFC 6901) into the definition; empty for the whole definition.
    pub pointer: String,
    /// The value or the count at this place, in one line without hidden characters. It is cut off after 120
    /// characters.
    pub found: String,
}

/// Applies the rules of these hosts, and the rules of every host. Errors stand first.
///
/// It returns at most [`MAX_HITS`] findings of a rule for a tool. With an empty list of hosts, only the rules of every
/// host apply.
pub fn lint(surface: &Surface, hosts: &[Host]) -> Vec<Finding> {
    let applies = |rule: &&Rule| rule.host.is_none_or(|host| hosts.contains(&host));
    let mut findings: Vec<Finding> = rules()
        .iter()
        .filter(applies)
        .flat_map(|rule| {
            hits(rule, surface)
                .into_iter()
                .map(|hit| finding(rule, hit))
        })
        .collect();
    findings.sort_by(|a, b| (a.rule.severity, &a.tool).cmp(&(b.rule.severity, &b.tool)));
    findings
}

fn hits(rule: &Rule, surface: &Surface) -> Vec<Hit> {
    match rule.check {
        Check::Server(check) => check(surface).into_iter().take(MAX_HITS).collect(),
        Check::Tool(check) => {
            let tools = surface.definitions(EntryKind::Tool).iter();
            tools
                .flat_map(|tool| {
                    let name = tool.get("name").and_then(Value::as_str);
                    let hits = check(tool).into_iter().take(MAX_HITS);
                    hits.map(move |hit| Hit {
                        tool: name.unwrap_or_default().to_owned(),
                        ..hit
                    })
                })
                .collect()
        }
    }
}

fn finding(rule: &'static Rule, hit: Hit) -> Finding {
    let mut found: String = hit.found.chars().take(FOUND_CHARS).collect();
    if found.len() < hit.found.len() {
        found.push('…');
    }
    Finding {
        rule,
        tool: (!hit.tool.is_empty()).then_some(hit.tool),
        pointer: hit.pointer,
        found: show_hidden(&found).into_owned(),
    }
}
