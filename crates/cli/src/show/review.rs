//! The effects of a server definition, to which the user consents. No text is cut or wrapped.

use std::collections::BTreeSet;

use crate::page::Page;
use crate::screen::{Look, Style};
use crate::text;
use pintle_hosts::{Action, Review};

/// Lists everything that a definition starts, sends and reads.
pub(crate) fn review(review: &Review, look: Look) -> String {
    let mut page = Page::new(look);
    let (name, file) = (quoted(&review.name), review.file.display().to_string());
    page.line(&format!("The file {} describes {name}.", quoted(&file)));
    match &review.action {
        Action::Start {
            words,
            environment,
            directory,
        } => {
            let danger = "Danger: this server is a program. It runs with all of your permissions:";
            page.line(&look.paint(Style::Bad, danger));
            page.line(&format!("  {}", command(words)));
            page.line(&format!("  in the directory {}", quoted(directory)));
            let pairs = environment.iter();
            let pairs = pairs.map(|(name, value)| format!("{}={}", quoted(name), quoted(value)));
            listed(&mut page, "  with the environment:", pairs);
        }
        Action::Connect { url, headers } => {
            let danger = "Danger: this server is elsewhere. It receives what you send it:";
            page.line(&look.paint(Style::Bad, danger));
            page.line(&format!("  {}", quoted(url)));
            let pairs = headers.iter();
            let pairs = pairs.map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)));
            listed(&mut page, "  with the headers:", pairs);
        }
    }
    let variables = review.variables.iter();
    let variables = variables.map(|name| format!("the environment variable {}", quoted(name)));
    let files = review.files.iter();
    let files = files.map(|file| format!("the file {}", quoted(file)));
    listed(&mut page, "  It is given:", variables.chain(files));
    page.into_text()
}

/// Describes the same on one line, for a server that needs no question.
pub(crate) fn review_line(review: &Review) -> String {
    let what = match &review.action {
        Action::Start { words, .. } => command(words),
        Action::Connect { url, .. } => quoted(pintle_hosts::without_query(url)),
    };
    let (name, file) = (quoted(&review.name), review.file.display().to_string());
    let given = given(&review.variables, &review.files);
    format!("{name} of {} is {what}{given}", quoted(&file))
}

fn given(variables: &BTreeSet<String>, files: &BTreeSet<String>) -> String {
    let all = variables.iter().chain(files);
    let all: Vec<_> = all.map(|text| quoted(text)).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(", given {}", all.join(", ")),
    }
}

fn listed(page: &mut Page, heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        page.line(heading);
    }
    for line in lines {
        page.line(&format!("    {line}"));
    }
}

fn command(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Returns a text unchanged if all its characters are plain, otherwise as a JSON string. The quotes then
/// show its beginning, its end and its blanks.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,%?&#~$^".contains(c);
    match !text.is_empty() && text.chars().all(|c| is_plain(c) || "{}".contains(c)) {
        true => text.to_owned(),
        false => {
            let json = serde_json::Value::from(text).to_string();
            text::clean_json(&json).into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(words: &[&str]) -> Review {
        Review {
            name: "docs".to_owned(),
            file: "/p/.mcp.json".into(),
            action: Action::Start {
                words: words.iter().map(|word| (*word).to_owned()).collect(),
                environment: vec![("A".to_owned(), "${B} \u{1b}[2J".to_owned())],
                directory: "/p".to_owned(),
            },
            variables: ["B".to_owned()].into(),
            files: ["/h/.ssh/id".to_owned()].into(),
        }
    }

    // spec: 2025-11-25 SEC-21
    // spec: 2026-07-28 N-SEC-07
    #[test]
    fn a_command_is_shown_whole_and_marked_as_dangerous() {
        let long = "x".repeat(5_000);
        let page = review(
            &start(&["sh", "-c", "a  b\n\u{202e}", "", &long]),
            Look::PLAIN,
        );
        let expected = format!(
            "The file /p/.mcp.json describes docs.\n\
             Danger: this server is a program. It runs with all of your permissions:\n  \
               sh -c \"a  b\\n\\u202e\" \"\" {long}\n  \
               in the directory /p\n  \
               with the environment:\n    \
                 A=\"${{B}} \\u001b[2J\"\n  \
               It is given:\n    \
                 the environment variable B\n    \
                 the file /h/.ssh/id\n"
        );
        assert_eq!(page, expected);
    }

    #[test]
    fn a_url_is_shown_with_its_headers() {
        let connect = Review {
            action: Action::Connect {
                url: "https://a.example/?k={env:B}".to_owned(),
                headers: vec![("X-Key".to_owned(), "{file:~/key}".to_owned())],
            },
            ..start(&[])
        };
        let page = review(&connect, Look::PLAIN);
        assert!(
            page.contains("\n  https://a.example/?k={env:B}\n"),
            "{page}"
        );
        assert!(page.contains("\n    X-Key: {file:~/key}\n"), "{page}");
        let line = review_line(&connect);
        let expected = "docs of /p/.mcp.json is https://a.example/, given B, /h/.ssh/id";
        assert_eq!(line, expected);
    }
}
