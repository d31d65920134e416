//! `pintle check --list`: the checks, and the requirements that they show.

use std::collections::BTreeSet;

use pintle::model::Revision;
use pintle_check::{Carrier, Level, checks, client_checks};
use serde_json::{Value, json};

use crate::args::Format;
use crate::exit::CliError;
use crate::output;
use crate::page::Page;
use crate::screen::{Screen, Style};

const CARRIERS: [Carrier; 2] = [Carrier::Http, Carrier::Stdio];

/// One check, with its requirements on each transport.
struct Row {
    id: &'static str,
    expects: &'static str,
    level: Option<Level>,
    requirements: [BTreeSet<&'static str>; 2],
}

/// Prints the checks of servers or of clients.
///
/// # Errors
///
/// [`CliError`] if the output cannot be written.
pub(super) fn run(is_client: bool, format: Format) -> Result<(), CliError> {
    let rows = match is_client {
        true => of_clients(),
        false => of_servers(),
    };
    let screen = Screen::look();
    match format {
        Format::Json => output::json(&screen, &value(&rows)),
        Format::Text => {
            let mut page = Page::new(screen.output);
            for row in &rows {
                let look = page.look();
                let level = row.level.map_or("", Level::as_str);
                page.line(&format!("{level} {}", look.paint(Style::Name, row.id)));
                page.paragraphs(2, row.expects);
            }
            page.gap();
            page.line(&format!("{} checks", rows.len()));
            for (carrier, name) in CARRIERS.iter().zip(["HTTP", "stdio"]) {
                page.line(&format!(
                    "{name}: {} requirements",
                    covered(&rows, *carrier).len()
                ));
            }
            output::result(page.into_text().as_bytes())
        }
    }
}

fn of_servers() -> Vec<Row> {
    let row = |check: &pintle_check::Check| {
        let ids = |carrier| requirements(|revision| check.requirements(revision, carrier));
        Row {
            id: check.id,
            expects: check.expects,
            level: strictest(|revision, carrier| check.level(revision, carrier)),
            requirements: CARRIERS.map(ids),
        }
    };
    checks().map(row).collect()
}

fn of_clients() -> Vec<Row> {
    let row = |check: &pintle_check::ClientCheck| {
        let ids = |carrier| {
            requirements(|revision| match check.level(revision, carrier) {
                Some(_) => check.requirements(revision, carrier),
                None => Vec::new(),
            })
        };
        Row {
            id: check.id,
            expects: check.expects,
            level: strictest(|revision, carrier| check.level(revision, carrier)),
            requirements: CARRIERS.map(ids),
        }
    };
    client_checks().map(row).collect()
}

fn requirements(of_revision: impl Fn(Revision) -> Vec<&'static str>) -> BTreeSet<&'static str> {
    Revision::ALL.into_iter().flat_map(of_revision).collect()
}

fn strictest(level: impl Fn(Revision, Carrier) -> Option<Level>) -> Option<Level> {
    let all = Revision::ALL.into_iter();
    all.flat_map(|revision| CARRIERS.map(|carrier| level(revision, carrier)))
        .flatten()
        .min()
}

/// Returns the different requirements that checks show on a transport.
fn covered(rows: &[Row], carrier: Carrier) -> BTreeSet<&'static str> {
    let position = CARRIERS.iter().position(|own| *own == carrier);
    let of_row = |row: &Row| position.and_then(|position| row.requirements.get(position).cloned());
    rows.iter().filter_map(of_row).flatten().collect()
}

fn value(rows: &[Row]) -> Value {
    let checks: Vec<Value> = rows
        .iter()
        .map(|row| {
            let [http, stdio] = &row.requirements;
            json!({ "id": row.id, "expects": row.expects, "level": row.level, "http": http, "stdio": stdio })
        })
        .collect();
    let count = |carrier| covered(rows, carrier).len();
    json!({ "checks": checks,
        "requirements": { "http": count(Carrier::Http), "stdio": count(Carrier::Stdio) } })
}
