//! `pintle check`: a server or a client judged by the requirements of the protocol.

mod client;
mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pintle_check::{CheckError, CheckOptions, Finding, Level, Report, Side, check};

use super::Invocation;
use crate::args::Format;
use crate::conversation::judged_target;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::page::Page;
use crate::screen::{Look, Screen, Style};
use crate::text;

pub(crate) use client::ClientSource;

/// A server or a client to judge.
#[derive(Debug)]
pub(crate) struct Checking {
    pub(crate) options: CheckOptions,
    /// The client, if the client is judged.
    pub(crate) client: Option<ClientSource>,
    /// Whether the checks are listed, and none is made.
    pub(crate) lists: bool,
    pub(crate) junit: Option<PathBuf>,
    pub(crate) sarif: Option<PathBuf>,
}

impl Checking {
    /// Returns true if Ctrl-C ends the visits and not the command.
    pub(crate) fn waits_for_visits(&self) -> bool {
        matches!(self.client, Some(ClientSource::Any)) && !self.lists
    }
}

/// Judges a server or a client, and prints the failures.
///
/// # Errors
///
/// Exit code 8 if a check failed.
pub(super) async fn run(invocation: &Invocation, checking: Checking) -> Result<(), CliError> {
    if checking.lists {
        return list::run(checking.client.is_some(), invocation.format);
    }
    let settings = &invocation.settings;
    let report = match &checking.client {
        Some(ClientSource::Relay(address)) => return client::relay(address),
        Some(ClientSource::Program(words)) => {
            client::judge(Some(words), checking.options, settings).await?
        }
        Some(ClientSource::Any) => client::judge(None, checking.options, settings).await?,
        None => {
            let target = judged_target(invocation.required_server()?, settings)?;
            check(&target, checking.options).await?
        }
    };
    if let Some(file) = &checking.junit {
        write(file, report.to_junit().as_bytes())?;
    }
    if let Some(file) = &checking.sarif {
        write(file, format!("{:#}\n", report.to_sarif()).as_bytes())?;
    }
    let screen = Screen::look();
    match invocation.format {
        Format::Json => output::json(&screen, &report)?,
        Format::Text => output::result(page(&report, screen.output).as_bytes())?,
    }
    match report.failures().len() {
        0 => Ok(()),
        count => {
            let count = text::counted(count, "check");
            Err(CliError::new(Exit::Findings, format!("{count} failed")))
        }
    }
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    std::fs::write(file, bytes).map_err(|error| {
        let file = text::line(&file.display().to_string()).into_owned();
        CliError::new(Exit::Failed, format!("{file} cannot be written: {error}"))
    })
}

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        let exit = match error {
            CheckError::UnknownCheck { .. } | CheckError::Url(_) => Exit::Usage,
            _ => Exit::Unreachable,
        };
        Self::new(exit, error)
    }
}

fn page(report: &Report, look: Look) -> String {
    let mut page = Page::new(look);
    for findings in by_check(report) {
        add(&mut page, &findings);
    }
    page.gap();
    let server = text::line(&report.name).into_owned();
    let side = match report.side {
        Side::Client => "client ",
        _ => "",
    };
    page.line(&format!("{side}{server} over {}", report.carrier.as_str()));
    let unmade = match report.side {
        Side::Client => "not seen",
        _ => "skipped",
    };
    for revision in &report.revisions {
        let of_it: Vec<&Finding> = report
            .findings
            .iter()
            .filter(|finding| finding.revision == *revision)
            .collect();
        let failed = of_it.iter().filter(|finding| finding.is_failed()).count();
        let made = of_it.iter().filter(|finding| finding.was_made()).count();
        page.line(&format!(
            "{revision}: {} passed, {failed} failed, {} {unmade}",
            made - failed,
            of_it.len() - made
        ));
    }
    page.line(&summary(report));
    page.into_text()
}

fn summary(report: &Report) -> String {
    let counts = Level::ALL.map(|level| format!("{} {level}", report.failed(level)));
    let ids: BTreeSet<&str> = report
        .requirements()
        .into_iter()
        .map(|(_, id)| id)
        .collect();
    let requirements = text::counted(ids.len(), "requirement");
    format!("failed: {}; {requirements} checked", counts.join(", "))
}

/// Returns the failures of each check together, the strictest first.
fn by_check(report: &Report) -> Vec<Vec<&Finding>> {
    let mut by_check: BTreeMap<(Level, &str), Vec<&Finding>> = BTreeMap::new();
    for failure in report.failures() {
        let key = (failure.level, failure.check);
        by_check.entry(key).or_default().push(failure);
    }
    by_check.into_values().collect()
}

fn add(page: &mut Page, findings: &[&Finding]) {
    let Some(first) = findings.first() else {
        return;
    };
    let style = match first.level {
        Level::Must => Style::Bad,
        _ => Style::Marked,
    };
    let look = page.look();
    let level = look.paint(style, first.level.as_str());
    let id = look.paint(Style::Name, first.check);
    page.line(&format!("{level} {id}"));
    page.paragraphs(2, first.expected);
    for finding in findings {
        let requirements = finding.requirements.join(", ");
        page.paragraphs(2, &format!("{} {requirements}", finding.revision));
    }
    for (name, found) in [("sent", &first.sent), ("came", &first.came)] {
        if let Some(found) = found {
            page.paragraphs(2, &format!("{name}: {found}"));
        }
    }
    page.faint(2, &format!("page: {}", first.page));
}
