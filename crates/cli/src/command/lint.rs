//! `pintle lint`: findings about the tools of a server.

use pintle_lint::{Finding, Host, Severity, Surface, lint};
use pintle_surface::EntryKind;
use serde_json::json;

use super::Invocation;
use super::diff::read;
use crate::args::{Format, SurfaceSource};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::page::Page;
use crate::screen::{Look, Screen, Style};
use crate::text;

/// Tools to check.
#[derive(Debug)]
pub(crate) struct Lint {
    pub(crate) source: SurfaceSource,
    /// The hosts whose rules apply.
    pub(crate) hosts: Vec<Host>,
}

/// Prints the findings about a server or a lock file.
///
/// # Errors
///
/// Exit code 8 if one is an error.
pub(super) async fn run(invocation: &Invocation, args: &Lint) -> Result<(), CliError> {
    let surface = read(invocation, &args.source).await?;
    let findings = lint(&surface, &args.hosts);
    let errors = findings.iter().filter(|finding| is_error(finding)).count();
    let screen = Screen::look();
    match invocation.format {
        Format::Json => output::json(&screen, &json!({ "findings": findings }))?,
        Format::Text => output::result(page(&findings, &surface, screen.output).as_bytes())?,
    }
    match errors {
        0 => Ok(()),
        _ => {
            let count = text::counted(errors, "error");
            Err(CliError::new(
                Exit::Findings,
                format!("the tools have {count}"),
            ))
        }
    }
}

fn is_error(finding: &Finding) -> bool {
    finding.rule.severity == Severity::Error
}

fn page(findings: &[Finding], surface: &Surface, look: Look) -> String {
    let mut page = Page::new(look);
    for finding in findings {
        add(&mut page, finding);
    }
    page.gap();
    let errors = findings.iter().filter(|finding| is_error(finding)).count();
    let tools = surface.definitions(EntryKind::Tool).len();
    page.line(&format!(
        "{}, {} in {}",
        text::counted(errors, "error"),
        text::counted(findings.len() - errors, "warning"),
        text::counted(tools, "tool")
    ));
    page.into_text()
}

fn add(page: &mut Page, finding: &Finding) {
    let rule = finding.rule;
    let style = match is_error(finding) {
        true => Style::Bad,
        false => Style::Marked,
    };
    let look = page.look();
    let severity = look.paint(style, &rule.severity.to_string());
    let tool = finding.tool.as_deref().unwrap_or("the server");
    let tool = look.paint(Style::Name, &text::line(tool));
    let pointer = text::line(&finding.pointer);
    let place = [tool.as_str(), pointer.as_ref()].join(" ");
    page.line(&format!("{severity} {}: {}", rule.id, place.trim_end()));
    let host = rule
        .host
        .map(|host| format!("{host}: "))
        .unwrap_or_default();
    page.paragraphs(2, &format!("{host}{}; found {}", rule.limit, finding.found));
    if let Some(words) = rule.host_error {
        page.paragraphs(2, &format!("error of the host: {words}"));
    }
    page.paragraphs(2, &format!("fix: {}", rule.fix));
    let source = look.paint(Style::Faint, &format!("source: {}", rule.source));
    // A URL in several lines cannot be opened.
    page.line(&format!("  {source}"));
}
