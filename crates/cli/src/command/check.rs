//! `pintle check`: a server judged by the requirements of the protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pintle_check::{CheckError, CheckOptions, Finding, Level, Report, check};

use super::Invocation;
use crate::args::Format;
use crate::conversation::judged_target;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::page::Page;
use crate::screen::{Look, Screen, Style};
use crate::text;

/// A server to judge.
#[derive(Debug)]
pub(crate) struct Checking {
    pub(crate) options: CheckOptions,
    pub(crate) junit: Option<PathBuf>,
    pub(crate) sarif: Option<PathBuf>,
}

/// Judges a server and prints the failures.
///
/// # Errors
///
/// Exit code 8 if a check failed.
pub(super) async fn run(invocation: &Invocation, checking: Checking) -> Result<(), CliError> {
    let server = invocation.required_server()?;
    let target = judged_target(server, &invocation.settings)?;
    let report = check(&target, checking.options).await?;
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
    let server = text::line(&report.server).into_owned();
    page.line(&format!("{server} over {}", report.carrier.as_str()));
    for revision in &report.revisions {
        let of_it: Vec<&Finding> = report
            .findings
            .iter()
            .filter(|finding| finding.revision == *revision)
            .collect();
        let failed = of_it.iter().filter(|finding| finding.is_failed()).count();
        let made = of_it.iter().filter(|finding| finding.was_made()).count();
        page.line(&format!(
            "{revision}: {} passed, {failed} failed, {} skipped",
            made - failed,
            of_it.len() - made
        ));
    }
    page.line(&summary(report));
    page.into_text()
}

fn summary(report: &Report) -> String {
    let counts = Level::ALL.map(|level| format!("{} {level}", report.failed(level)));
    let requirements = text::counted(report.requirements().len(), "requirement");
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
