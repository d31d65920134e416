//! Reads and edits arbitrary files of hosts, and checks the results against the files. Fuzzing runs it.

use crate::config_file;
use crate::document::{self, Document, Kind};
use crate::entry::Server;
use crate::host::Host;
use crate::jsonc;
use crate::raw_entry::SyntaxError;
use crate::variable_syntax::{Piece, VariableSyntax, pieces};

/// Reads a file of one of the three kinds: JSON with comments, TOML, YAML.
///
/// # Panics
///
/// If a result contradicts the file.
pub fn read_all(kind: u8, text: &str) {
    let paths = [
        vec!["mcpServers"],
        vec!["servers"],
        vec!["mcp", "servers"],
        vec!["extensions"],
    ];
    // A carriage return alone ends a line of YAML.
    let lines = 1 + text.matches(['\n', '\r']).count();
    let read = match kind % 3 {
        0 => document::json(text, &paths),
        1 => document::toml(text, &paths),
        _ => document::yaml(text, &paths),
    };
    assert_eq!(jsonc::plain(text).len(), text.len(), "something moved");
    match read {
        Ok(document) => look(document, lines),
        Err(SyntaxError { line, .. }) => {
            assert!((1..=lines).contains(&line), "line {line} of {lines}")
        }
    }
    faults(kind, text, lines);
    taken_apart(text);
    crate::edit::trial(kind, text);
}

fn faults(kind: u8, text: &str, lines: usize) {
    let (host, kind) = match kind % 3 {
        0 => ("claude", Kind::Json),
        1 => ("codex", Kind::Toml),
        _ => ("continue", Kind::Yaml),
    };
    let host = Host::by_id(host).expect("a known host");
    for fault in config_file::faults(host, kind, text) {
        let line = fault.line;
        assert!((1..=lines).contains(&line), "line {line} of {lines}");
    }
}

fn look(document: Document, lines: usize) {
    for entry in document.servers {
        assert!(
            (1..=lines).contains(&entry.line),
            "line {} of {lines}",
            entry.line
        );
        let server = Server::from(entry);
        drop(server);
    }
}

fn taken_apart(text: &str) {
    let forms = [
        VariableSyntax::Braces,
        VariableSyntax::Dollar,
        VariableSyntax::Editor,
        VariableSyntax::Curly,
        VariableSyntax::Secrets,
    ];
    for variable_syntax in forms {
        let plain = pieces(text, &[variable_syntax]);
        let kept = plain.iter().map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Variable(_) => 0,
        });
        assert!(
            kept.sum::<usize>() <= text.len(),
            "there is more text than before"
        );
    }
    drop(pieces(text, &forms));
}
