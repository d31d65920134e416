//! The texts of a file: comments, error texts, help, names of tests, and paragraphs of Markdown.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::place::{Place, is_help};
use crate::source::{Code, Kind, Piece, closing, closing_brace, pieces};

/// A text that people read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) place: Place,
    /// The slashes in front of a comment; empty for other texts.
    pub(crate) marker: &'static str,
    /// Its lines, each with its number in the file.
    pub(crate) lines: Vec<(usize, String)>,
}

/// The beginnings of calls and attributes that hold error texts, up to the parenthesis.
static ERROR_CALLS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"#\[error\(|\b(Misunderstood|UsageError)\(|Error::[a-z_]+\("));
/// The beginning of an `impl Display`, up to its brace.
static DISPLAYS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bDisplay for (\w+)[^{;]*\{"));
/// The types that implement `Error` by hand.
static ERRORS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bError for (\w+)"));
/// The uses of the macro that declares errors, up to the brace.
static ERROR_MACROS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\berrors! ?\{"));
/// The attributes that hold help.
static HELP_CALLS: LazyLock<Regex> = LazyLock::new(|| pattern(r"#\[(command|arg)\("));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

/// The texts of a Rust file. Test code has comments, but no error texts.
pub(crate) fn of_rust(path: &str, source: &str) -> Vec<Text> {
    let lines = Lines::of(source);
    let pieces = pieces(source);
    let mut texts = comments(path, source, &pieces, &lines);
    let code = Code::of(source);
    if !is_test(path) {
        let regions = error_regions(code.text());
        texts.extend(literals(Place::Error, source, &pieces, &regions, &lines));
    }
    if is_help(path) {
        let regions = calls(&HELP_CALLS, code.text());
        texts.extend(literals(Place::Help, source, &pieces, &regions, &lines));
    }
    texts
}

/// Returns true if only tests compile the file.
pub(crate) fn is_test(path: &str) -> bool {
    path.split('/')
        .any(|part| part == "tests" || part == "tests.rs")
}

/// The numbers of lines, by byte.
struct Lines(Vec<usize>);

impl Lines {
    fn of(source: &str) -> Self {
        Self(source.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn number(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

/// Comments; those that follow each other line by line are one text.
fn comments(path: &str, source: &str, pieces: &[Piece], lines: &Lines) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let mut end = 0;
    for piece in pieces.iter().filter(|piece| piece.kind == Kind::Comment) {
        let (marker, body) = split_marker(&source[piece.from..piece.to]);
        let between = &source[end..piece.from];
        let is_next = between.trim().is_empty() && between.matches('\n').count() == 1;
        end = piece.to;
        let first = lines.number(piece.from);
        let body = body.lines().enumerate();
        let body = body.map(|(at, line)| (first + at, line.trim().to_owned()));
        match texts
            .last_mut()
            .filter(|last| is_next && last.marker == marker)
        {
            Some(last) => last.lines.extend(body),
            None => texts.push(Text {
                place: Place::of_comments(path, marker != "//"),
                marker,
                lines: body.collect(),
            }),
        }
    }
    for text in &mut texts {
        remove_code(&mut text.lines);
    }
    texts.retain(|text| !text.lines.is_empty());
    texts
}

fn split_marker(comment: &str) -> (&'static str, &str) {
    let markers = ["///", "//!", "//"];
    let found = markers
        .iter()
        .find_map(|marker| Some((*marker, comment.strip_prefix(marker)?)));
    found.unwrap_or(("//", comment.trim_matches(['/', '*', '!'])))
}

/// Removes fenced code, and the marks that tie tests to requirements.
fn remove_code(lines: &mut Vec<(usize, String)>) {
    let mut is_fenced = false;
    lines.retain(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let is_mark = line.starts_with("spec:") || line.starts_with("hardening:");
        !is_fence && !is_fenced && !is_mark
    });
}

/// String literals inside of `regions`.
fn literals(
    place: Place,
    source: &str,
    pieces: &[Piece],
    regions: &[Range<usize>],
    lines: &Lines,
) -> Vec<Text> {
    let is_inside = |piece: &&Piece| {
        piece.kind == Kind::Text && regions.iter().any(|region| region.contains(&piece.from))
    };
    let inside = pieces.iter().filter(is_inside);
    let texts = inside.map(|piece| Text {
        place,
        marker: "",
        lines: literal(&source[piece.from..piece.to], lines.number(piece.from)),
    });
    texts.collect()
}

/// The lines of a string literal, without its quotes and escapes.
fn literal(quoted: &str, first: usize) -> Vec<(usize, String)> {
    let text = quoted.trim_end_matches('#');
    let text = text
        .trim_matches('"')
        .replace("\\n", " ")
        .replace("\\\"", "\"");
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| (first + at, line.trim_end_matches('\\').to_owned()));
    lines.collect()
}

/// Where error texts stand in the code that users compile.
pub(crate) fn error_regions(code: &str) -> Vec<Range<usize>> {
    let errors: Vec<&str> = ERRORS
        .captures_iter(code)
        .filter_map(|it| Some(it.get(1)?.as_str()))
        .collect();
    let displays = DISPLAYS.captures_iter(code).filter_map(|found| {
        let is_error = errors.contains(&found.get(1)?.as_str());
        is_error
            .then(|| braces(code, found.get(0)?.range()))
            .flatten()
    });
    let mut regions = calls(&ERROR_CALLS, code);
    regions.extend(displays.chain(error_macros(code)));
    regions
}

/// The uses of the macro that declares errors.
pub(crate) fn error_macros(code: &str) -> Vec<Range<usize>> {
    let found = ERROR_MACROS.find_iter(code);
    found
        .filter_map(|found| braces(code, found.range()))
        .collect()
}

/// From the brace that ends `head` to the one that closes it.
fn braces(code: &str, head: Range<usize>) -> Option<Range<usize>> {
    let open = head.end.checked_sub(1)?;
    Some(open..closing_brace(code.as_bytes(), open))
}

/// The arguments of every call that `start` finds.
fn calls(start: &Regex, code: &str) -> Vec<Range<usize>> {
    let found = start.find_iter(code).map(|found| found.end() - 1);
    found
        .map(|open| open..closing(code.as_bytes(), open, b'(', b')'))
        .collect()
}

/// The tests of a file: the line and the name of each.
pub(crate) fn test_names(source: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = source.lines().collect();
    let is_attribute = |line: &&str| {
        let line = line.trim_start();
        let names_test = line.contains("test]") || line.contains("test(");
        line.starts_with("#[") && names_test && !line.starts_with("#[cfg")
    };
    let starts = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_attribute(line));
    let tests = starts.filter_map(|(at, _)| {
        let below = lines[at..].iter().enumerate();
        let mut functions = below.filter_map(|(more, line)| Some((at + more + 1, name(line)?)));
        functions.next()
    });
    tests.filter(|(_, name)| !name.is_empty()).collect()
}

/// The name of the function that a line declares.
fn name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_code = !before.contains("//") && !before.contains('"');
    let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric());
    is_code.then(|| &rest[..end.unwrap_or(rest.len())])
}

/// The paragraphs of a Markdown file. Released sections of the changelog are history.
pub(crate) fn of_markdown(path: &str, text: &str) -> Vec<Text> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_released = false;
    for (at, line) in text.lines().enumerate() {
        if path == "CHANGELOG.md" && line.starts_with("## ") {
            is_released = !line.contains("Unreleased");
        }
        if !is_released {
            lines.push((at + 1, line.to_owned()));
        }
    }
    remove_code(&mut lines);
    let paragraphs = lines.split(|(_, line)| line.trim().is_empty());
    let texts = paragraphs
        .filter(|lines| !lines.is_empty())
        .map(|lines| Text {
            place: Place::of_page(path),
            marker: "",
            lines: lines.to_vec(),
        });
    texts.collect()
}

#[cfg(test)]
mod tests;
