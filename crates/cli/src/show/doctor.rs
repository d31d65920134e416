//! Prints a diagnosis: each server with its state, and its findings with the lines to change.

use pintle_doctor::{Conversation, Facts, Finding, ListFacts, Severity, State};
use serde_json::{Value, json};

use crate::page::Page;
use crate::screen::{Look, Style};
use crate::text;

/// A diagnosis that is printed.
pub(crate) struct DoctorReport<'r> {
    pub(crate) servers: &'r [Facts],
    /// The findings about files.
    pub(crate) files: &'r [Finding],
    /// The findings about servers.
    pub(crate) findings: &'r [Finding],
    /// The number of servers beyond the limit.
    pub(crate) left_out: usize,
}

impl DoctorReport<'_> {
    /// Returns the diagnosis as text.
    pub(crate) fn text(&self, look: Look) -> String {
        let mut page = Page::new(look);
        for finding in self.files {
            show(&mut page, finding);
        }
        for facts in self.servers {
            page.gap();
            let findings: Vec<_> = self.of(facts).collect();
            let status = status(facts, &findings);
            let style = match status {
                "ok" => Style::Good,
                "error" => Style::Bad,
                "warning" => Style::Marked,
                _ => Style::Faint,
            };
            let name = look.paint(Style::Name, &text::line(&facts.place.address));
            let summary = conversation(facts).map(summary).unwrap_or_default();
            let head = format!(
                "{name}  {}  {}",
                look.paint(style, status),
                text::line(&summary)
            );
            page.line(head.trim_end());
            for finding in findings {
                show(&mut page, finding);
            }
        }
        page.gap();
        page.line(&self.summary());
        page.into_text()
    }

    fn summary(&self) -> String {
        let count = |severity| {
            let all = self.files.iter().chain(self.findings);
            all.filter(|finding| finding.rule.severity == severity)
                .count()
        };
        let mut line = format!(
            "{}, {} in {}",
            text::counted(count(Severity::Error), "error"),
            text::counted(count(Severity::Warning), "warning"),
            text::counted(self.servers.len(), "server")
        );
        if self.left_out > 0 {
            line.push_str(&format!("; {} more were left out", self.left_out));
        }
        line
    }

    /// Returns the diagnosis as JSON.
    pub(crate) fn json(&self) -> Value {
        let servers = self.servers.iter().map(|facts| {
            let findings: Vec<_> = self.of(facts).collect();
            json!({
                "address": facts.place.address,
                "host": facts.place.host,
                "file": facts.place.file,
                "line": facts.place.line,
                "status": status(facts, &findings),
                "conversation": conversation(facts).map(described),
            })
        });
        let findings = self.files.iter().chain(self.findings);
        json!({
            "servers": servers.collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
            "leftOut": self.left_out,
        })
    }

    fn of(&self, facts: &Facts) -> impl Iterator<Item = &Finding> {
        let place = &facts.place;
        let (address, file) = (place.address.clone(), place.file.clone());
        self.findings.iter().filter(move |finding| {
            finding.server.as_ref() == Some(&address) && finding.file == file
        })
    }
}

fn status(facts: &Facts, findings: &[&Finding]) -> &'static str {
    let worst = findings.iter().map(|finding| finding.rule.severity).min();
    match (worst, &facts.state) {
        (Some(Severity::Error), _) => "error",
        (_, State::Disabled) => "switched off",
        (_, State::NoConsent) => "not examined",
        (Some(Severity::Warning), _) => "warning",
        _ => "ok",
    }
}

fn conversation(facts: &Facts) -> Option<&Conversation> {
    match &facts.state {
        State::Program(program) => program.run.as_ref()?.conversation.as_ref().ok(),
        State::Endpoint(endpoint) => endpoint.conversation.as_ref()?.as_ref().ok(),
        _ => None,
    }
}

fn summary(conversation: &Conversation) -> String {
    let mut parts = vec![conversation.revision.clone()];
    parts.extend(conversation.server.clone());
    let lists = conversation.lists.iter();
    parts.extend(
        lists.filter_map(|list| Some(format!("{} {}", list.result.as_ref().ok()?, name(list)))),
    );
    parts.push(format!("{:.2} s", conversation.opened_in.as_secs_f64()));
    parts.join(", ")
}

fn name(list: &ListFacts) -> &str {
    list.method.split('/').next().unwrap_or(list.method)
}

fn described(conversation: &Conversation) -> Value {
    let lists = conversation.lists.iter().map(|list| {
        let count = list.result.as_ref().ok();
        (name(list).to_owned(), json!(count))
    });
    json!({
        "revision": conversation.revision,
        "era": if conversation.is_legacy { "legacy" } else { "modern" },
        "server": conversation.server,
        "milliseconds": (conversation.opened_in.as_secs_f64() * 1000.0).round(),
        "lists": lists.collect::<serde_json::Map<_, _>>(),
    })
}

fn show(page: &mut Page, finding: &Finding) {
    let look = page.look();
    let style = match finding.rule.severity {
        Severity::Error => Style::Bad,
        Severity::Warning => Style::Marked,
        _ => Style::Faint,
    };
    let severity = look.paint(style, &finding.rule.severity.to_string());
    let place = format!("{}:{}", finding.file.display(), finding.line);
    let place = look.paint(Style::Name, &text::line(&place));
    page.line(&format!("  {severity} {}  {place}", finding.rule.id));
    page.paragraphs(4, &finding.message);
    page.paragraphs(4, &format!("-> {}", finding.remedy));
}
