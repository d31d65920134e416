//! The subjects of the commits since this check exists.

use std::path::Path;

use regex_lite::Regex;

use super::Found;
use super::place::Place;
use super::prose::Prose;
use super::rules::{self, Hit};
use crate::child;
use crate::failure::Result;
use crate::workspace::Workspace;

/// The commit that added this file added the check.
const FIRST: &str = "xtask/style/counts.txt";
/// Characters of a subject. Never more.
const MOST: usize = 72;
/// Areas that are not crates with the prefix `pintle-`.
const AREAS: [&str; 11] = [
    "pintle",
    // The crate is outside of the workspace.
    "rmcp",
    "xtask",
    "conformance",
    "trials",
    "benches",
    "examples",
    "fuzz",
    "docs",
    "ci",
    "deps",
];

/// The hits in the subjects after the first commit; none where there is no repository.
pub(super) fn read(root: &Path) -> Result<Vec<Found>> {
    if !root.join(".git").exists() {
        println!("style: no .git here, so subjects of commits are not checked");
        return Ok(Vec::new());
    }
    let first = git(
        root,
        &["log", "--diff-filter=A", "--format=%H", "--", FIRST],
    )?;
    let Some(first) = first.lines().last() else {
        return Ok(Vec::new());
    };
    let range = format!("{first}..HEAD");
    let log = git(root, &["log", "--no-merges", "--format=%h %s", &range])?;
    let crates = crates()?;
    let commits = log.lines().filter_map(|line| line.split_once(' '));
    Ok(commits
        .flat_map(|(id, subject)| hits(id, subject, &crates))
        .collect())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let root = root.display().to_string();
    child::output("git", &[&["-C", &root], arguments].concat())
}

/// The names of the crates, without the prefix.
fn crates() -> Result<Vec<String>> {
    let workspace = Workspace::read()?;
    let names = workspace.members().into_iter().map(|package| &package.name);
    Ok(names
        .filter_map(|name| Some(name.strip_prefix("pintle-")?.to_owned()))
        .collect())
}

fn hits(id: &str, subject: &str, crates: &[String]) -> Vec<Found> {
    let mut hits = rules::phrases(&Prose::of(&[(0, subject)]));
    if !has_form(subject, crates) {
        hits.push(Hit {
            rule: "subject",
            line: 0,
            words: String::new(),
        });
    }
    let found = hits.into_iter().map(|hit| Found {
        path: "commits".to_owned(),
        place: Place::Subject,
        hit: Hit {
            words: format!("{} ({id} {subject})", hit.words),
            ..hit
        },
    });
    found.collect()
}

/// `area: verb object`, in one part and without a full stop.
fn has_form(subject: &str, crates: &[String]) -> bool {
    let Some((areas, text)) = subject.split_once(": ") else {
        return false;
    };
    let is_area = |area: &str| AREAS.contains(&area) || crates.iter().any(|name| name == area);
    let form = Regex::new("^[a-z`][^;]*[^.;]$").expect("the pattern is valid");
    subject.chars().count() <= MOST && areas.split(", ").all(is_area) && form.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::{has_form, hits};

    fn crates() -> Vec<String> {
        ["http", "server"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_subject_has_areas_a_verb_and_an_object() {
        for subject in [
            "http: fire session timers on time",
            "http, server: check the token once",
            "deps: update hyper",
            "docs: `pintle call` prints errors as data",
        ] {
            assert!(has_form(subject, &crates()), "{subject}");
        }
    }

    #[test]
    fn a_subject_of_another_form_is_found() {
        let long = format!("http: {}", "x".repeat(67));
        for subject in [
            "Fire session timers",
            "nowhere: fire session timers",
            "http: Fire session timers",
            "http: fire session timers.",
            "http: fire timers; close sessions",
            "http: ",
            &long,
        ] {
            assert!(!has_form(subject, &crates()), "{subject}");
        }
    }

    #[test]
    fn phrases_are_found_in_subjects() {
        let found = hits("abc", "http: hear of time", &crates());

        assert_eq!(found.len(), 1);
        assert_eq!(found[0].hit.rule, "hear");
    }
}
