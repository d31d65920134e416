//! Plain English: which phrases comments, pages, errors, help, tests and commits avoid.
//!
//! `xtask/style/counts.txt` records how often each file breaks each rule. The total of a rule may
//! only fall, so that texts can move between files. `CONTRIBUTING.md` explains the rules.

mod counts;
mod names;
mod place;
mod prose;
mod rules;
pub(crate) mod snapshot;
mod subjects;
mod texts;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use self::counts::Counts;
use self::place::Place;
use self::prose::Prose;
use self::rules::Hit;
use self::texts::Text;
use crate::failure::{Attempt, Failure, Result};
use crate::workspace::{Workspace, files};

/// The file is made of the names of tests, which have a rule of their own.
const GENERATED: &str = "docs/SPEC-MAP.md";
/// Docs there name members of messages, and one word may be enough.
const WIRE_TYPES: &str = "crates/model/";

/// A hit and its place.
#[derive(Debug)]
struct Found {
    /// The file, from the root of the repository.
    path: String,
    place: Place,
    hit: Hit,
}

/// Compares the hits of all files with the recorded counts.
pub(crate) fn check() -> Result<()> {
    let root = Workspace::read()?.root;
    let found = read(&root)?;
    let counts = Counts::of(&found);
    let recorded = Counts::read(&root)?;
    counts.report();
    let mut faults = counts.risen(&recorded);
    let strict = found.iter().filter(|found| found.place.is_strict());
    faults.extend(strict.map(|found| found.show(&root)));
    faults.extend(names::faults(&root)?);
    if faults.is_empty() && counts != recorded {
        println!("style: record the new counts with `cargo xtask style --write`");
    }
    let rule = "plain English (`cargo xtask style --hits PATH` prints each place)";
    Failure::unless_empty(rule, faults)
}

/// Records the counts of today, unless the total of a rule has risen.
pub(crate) fn write() -> Result<()> {
    let root = Workspace::read()?.root;
    let counts = Counts::of(&read(&root)?);
    let recorded = Counts::read(&root)?;
    if !recorded.is_empty() {
        Failure::unless_empty("a count may only fall", counts.risen(&recorded))?;
    }
    counts.write(&root)
}

/// Prints every hit below `paths`; all hits without a path.
pub(crate) fn hits(paths: &[&str]) -> Result<()> {
    let root = Workspace::read()?.root;
    let is_meant = |found: &&Found| {
        let below = |path: &&str| Path::new(&found.path).starts_with(path.trim_start_matches("./"));
        paths.is_empty() || paths.iter().any(below)
    };
    let found = read(&root)?;
    let lines = found.iter().filter(is_meant).map(|found| found.show(&root));
    // A reader such as `head` may close the pipe early, which is not a fault.
    let mut out = std::io::stdout().lock();
    for line in lines {
        if writeln!(out, "{line}").is_err() {
            break;
        }
    }
    Ok(())
}

/// All hits, file by file.
fn read(root: &Path) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    for (path, text) in sources(root)? {
        all.extend(in_file(&path, &text));
    }
    all.extend(subjects::read(root)?);
    Ok(all)
}

/// All Rust and Markdown files: the path from the root, and the text.
fn sources(root: &Path) -> Result<Vec<(String, String)>> {
    let mut sources = Vec::new();
    for path in files(root, &["rs", "md"])? {
        let text = fs::read_to_string(&path).attempting(|| format!("read {}", path.display()))?;
        sources.push((from_root(root, path), text));
    }
    Ok(sources)
}

fn from_root(root: &Path, path: PathBuf) -> String {
    let path = path
        .strip_prefix(root)
        .map(Path::to_path_buf)
        .unwrap_or(path);
    path.display().to_string()
}

fn in_file(path: &str, text: &str) -> Vec<Found> {
    if path == GENERATED {
        return Vec::new();
    }
    let is_rust = path.ends_with(".rs");
    let texts = match is_rust {
        true => texts::of_rust(path, text),
        false => texts::of_markdown(path, text),
    };
    let found = |place, hit| Found {
        path: path.to_owned(),
        place,
        hit,
    };
    let in_texts = texts.iter().flat_map(|text| {
        let hits = in_text(path, text).into_iter();
        hits.map(|hit| found(place_of(text, &hit), hit))
    });
    let mut all: Vec<Found> = in_texts.collect();
    if is_rust {
        let names = texts::test_names(text).into_iter();
        let hits = names.flat_map(|(line, name)| rules::test_name(line, name));
        all.extend(hits.map(|hit| found(Place::Test, hit)));
    }
    all
}

/// Only phrases are forbidden in help and in rustdoc; the form of a doc is rationed there, too.
fn place_of(text: &Text, hit: &Hit) -> Place {
    if rules::is_phrase(hit.rule) {
        text.place
    } else {
        Place::Comment
    }
}

fn in_text(path: &str, text: &Text) -> Vec<Hit> {
    let lines: Vec<(usize, &str)> = text
        .lines
        .iter()
        .map(|(at, line)| (*at, line.as_str()))
        .collect();
    let prose = Prose::of(&lines);
    let mut hits = rules::phrases(&prose);
    if !text.marker.is_empty() {
        let paragraphs = paragraphs(&lines).into_iter();
        hits.extend(paragraphs.flat_map(|lines| rules::long_sentences(&Prose::of(lines))));
    }
    if text.marker == "///" {
        hits.extend(rules::doc_start(&prose));
        if let [(line, doc)] = lines[..] {
            let is_exempt = path.starts_with(WIRE_TYPES);
            hits.extend(rules::doc_empty(line, doc).filter(|_| !is_exempt));
        }
    }
    hits
}

/// The paragraphs, headings and list items of a comment: a sentence does not cross their ends.
fn paragraphs<'a>(lines: &'a [(usize, &'a str)]) -> Vec<&'a [(usize, &'a str)]> {
    let is_start = |line: &str| {
        let is_number = line
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with(". ");
        line.is_empty() || line.starts_with(['#', '-', '*', '|']) || is_number
    };
    let is_same = |(_, line): &(usize, &str), (_, next): &(usize, &str)| {
        !is_start(next) && !line.starts_with('#')
    };
    lines.chunk_by(is_same).collect()
}

impl Found {
    /// `path:line: rule: words: the line`.
    fn show(&self, root: &Path) -> String {
        let Self { path, place, hit } = self;
        let file = fs::read_to_string(root.join(path)).unwrap_or_default();
        let text = file
            .lines()
            .nth(hit.line.saturating_sub(1))
            .unwrap_or_default();
        let place = match place.is_strict() {
            true => format!(" in {place}"),
            false => String::new(),
        };
        format!(
            "{path}:{}: {}{place}: {}: {}",
            hit.line,
            hit.rule,
            hit.words,
            text.trim()
        )
    }
}

#[cfg(test)]
mod tests;
