//! Turns facts into findings. It performs no I/O.

mod definition;
mod endpoint;
mod file;
mod program;
mod talk;
#[cfg(test)]
mod tests;

use crate::facts::{Facts, State};
use crate::finding::Finding;
use crate::rule::{self, Rule};

pub use file::diagnose_files;

/// Returns the findings about a server, in the order of its use: definition, start, conversation, end.
pub fn diagnose(facts: &Facts) -> Vec<Finding> {
    let mut findings = Findings {
        facts,
        all: Vec::new(),
    };
    findings.check_definition();
    match &facts.state {
        State::Disabled | State::Invalid => {}
        State::NoConsent => findings.add(
            rule::NOT_EXAMINED,
            None,
            format!(
                "{} was not used: its file may come from another person",
                facts.place.address
            ),
            format!(
                "agree with `pintle doctor {}` at a terminal, or use --trust",
                facts.place.address
            ),
        ),
        State::Unexpanded(missing) => findings.add_at(
            rule::MISSING_VALUE,
            missing.line,
            missing.reason.clone(),
            format!(
                "set it where {} starts, or change the line",
                facts.place.host
            ),
        ),
        State::Program(program) => findings.check_program(program),
        State::Endpoint(endpoint) => findings.check_endpoint(endpoint),
    }
    findings.all
}

/// The findings about one server.
struct Findings<'f> {
    facts: &'f Facts,
    all: Vec<Finding>,
}

impl<'f> Findings<'f> {
    /// Adds a finding at the line of a member, or of the server.
    fn add(&mut self, rule: &'static Rule, key: Option<&str>, message: String, remedy: String) {
        let line = key.map_or(self.facts.place.line, |key| self.line_of(key));
        self.add_at(rule, line, message, remedy);
    }

    fn add_at(&mut self, rule: &'static Rule, line: usize, message: String, remedy: String) {
        let place = &self.facts.place;
        self.all.push(Finding {
            rule,
            server: Some(place.address.clone()),
            file: place.file.clone(),
            line,
            message,
            remedy,
        });
    }

    fn line_of(&self, key: &str) -> usize {
        let place = &self.facts.place;
        place.lines.get(key).copied().unwrap_or(place.line)
    }

    /// The member that starts the program.
    fn command_key(&self) -> Option<&'f str> {
        self.facts.definition.command_key.as_deref()
    }

    /// The member with the URL.
    fn url_key(&self) -> Option<&'f str> {
        self.facts.definition.url_key.as_deref()
    }

    /// The member with the headers, otherwise the one with the URL.
    fn header_key(&self) -> Option<&'f str> {
        let keys = [
            "headers",
            "http_headers",
            "requestOptions",
            "bearer_token_env_var",
        ];
        let lines = &self.facts.place.lines;
        let key = keys.into_iter().find(|key| lines.contains_key(*key));
        key.or(self.url_key())
    }
}
