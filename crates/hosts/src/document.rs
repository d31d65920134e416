//! A configuration file as servers with the lines they stand on.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::raw_entry::{Lines, RawEntry, SyntaxError};
use super::{jsonc, toml, yaml};

/// Stands in a path of keys for the root of the project.
pub(super) const PROJECT: &str = "<project>";

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// JSON, with comments or without.
    Json,
    Toml,
    Yaml,
}

impl Kind {
    pub(super) fn of(file: &Path) -> Self {
        match file.extension().and_then(std::ffi::OsStr::to_str) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }
}

/// The servers that a file defines, and its questions to the user.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The servers, by name.
    pub(super) servers: Vec<RawEntry>,
    /// Questions that variables refer to (`inputs` of VS Code).
    pub(super) inputs: Vec<Value>,
}

/// Reads JSON with comments. `paths` are the paths of keys under which servers stand.
pub(super) fn json(text: &str, paths: &[Vec<&str>]) -> Result<Document, SyntaxError> {
    let text = jsonc::plain(text);
    if text.trim().is_empty() {
        return Ok(Document::default());
    }
    let lines = Lines::new(&text);
    let file = View {
        lines: &lines,
        json: text.trim(),
    };
    let mut document = Document::default();
    for path in paths {
        if let Some(servers) = file.at(path)? {
            for (name, server) in servers.members()?.unwrap_or_default() {
                document.servers.push(server.raw_entry(name)?);
            }
        }
    }
    if let Some(inputs) = file.at(&["inputs"])? {
        document.inputs = inputs.values()?;
    }
    Ok(document)
}

/// Reads the servers under the given paths of a TOML text.
pub(super) fn toml(text: &str, paths: &[Vec<&str>]) -> Result<Document, SyntaxError> {
    let mut document = Document::default();
    for path in paths {
        document.servers.extend(toml::servers(text, path)?);
    }
    Ok(document)
}

/// Reads the servers under the given paths of a YAML text.
pub(super) fn yaml(text: &str, paths: &[Vec<&str>]) -> Result<Document, SyntaxError> {
    let mut document = Document::default();
    for path in paths {
        document.servers.extend(yaml::servers(text, path)?);
    }
    Ok(document)
}

/// A part of a JSON text that knows where it stands.
#[derive(Clone, Copy)]
struct View<'a> {
    lines: &'a Lines<'a>,
    json: &'a str,
}

impl<'a> View<'a> {
    /// Returns the part under a path of keys.
    fn at(self, path: &[&str]) -> Result<Option<Self>, SyntaxError> {
        let mut view = self;
        for key in path {
            let members = view.members()?.unwrap_or_default();
            match members.get(*key) {
                Some(member) => view = *member,
                None => return Ok(None),
            }
        }
        Ok(Some(view))
    }

    /// The members of an object, of which the last of a name counts; none of anything else.
    fn members(self) -> Result<Option<BTreeMap<String, Self>>, SyntaxError> {
        if !self.json.starts_with('{') {
            return Ok(None);
        }
        let members: BTreeMap<String, &'a RawValue> = self.parsed()?;
        let members = members.into_iter().map(|(name, member)| {
            let json = member.get();
            (name, Self { json, ..self })
        });
        Ok(Some(members.collect()))
    }

    fn values(self) -> Result<Vec<Value>, SyntaxError> {
        match self.parsed()? {
            Value::Array(values) => Ok(values),
            _ => Ok(Vec::new()),
        }
    }

    fn raw_entry(self, name: String) -> Result<RawEntry, SyntaxError> {
        let members = self.members()?;
        let lines = members.iter().flatten();
        Ok(RawEntry {
            name,
            line: self.line(),
            lines: lines
                .map(|(key, member)| (key.clone(), member.line()))
                .collect(),
            members: match &members {
                Some(_) => Some(self.parsed()?),
                None => None,
            },
        })
    }

    fn parsed<T: serde::Deserialize<'a>>(self) -> Result<T, SyntaxError> {
        serde_json::from_str(self.json).map_err(|error| SyntaxError {
            line: self.line() + error.line().saturating_sub(1),
            reason: without_place(&error.to_string()),
        })
    }

    fn line(self) -> usize {
        // Both are parts of one text, so the difference of their addresses is an offset.
        let begin = self.lines.text().as_ptr().addr();
        self.lines
            .at(self.json.as_ptr().addr().saturating_sub(begin))
    }
}

/// Returns the message of a parser error without its place, which is relative to a part of the text.
fn without_place(message: &str) -> String {
    let reason = message.rsplit_once(" at line ").map(|(reason, _)| reason);
    reason.unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> Vec<RawEntry> {
        let paths = [vec!["mcpServers"], vec!["mcp", "servers"]];
        json(text, &paths).expect("read").servers
    }

    #[test]
    fn servers_know_their_lines() {
        let text = "// mine\n{\n  \"other\": [1],\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"args\": []\n    },\n    \"b\": 5,\n  },\n}";
        let servers = servers(text);
        let names: Vec<_> = servers.iter().map(|s| (s.name.as_str(), s.line)).collect();
        assert_eq!(names, [("a", 5), ("b", 9)]);
        assert_eq!(servers[0].lines["args"], 7);
        assert_eq!(servers[1].members, None);
    }

    #[test]
    fn servers_are_found_under_every_path() {
        let text =
            r#"{"mcpServers": {"a": {}}, "mcp": {"servers": {"b": {}}}, "inputs": [{"id": 1}]}"#;
        let names: Vec<_> = servers(text).into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(json(text, &[]).expect("read").inputs.len(), 1);
    }

    #[test]
    fn a_file_without_servers_has_none() {
        for text in [
            "",
            "  \n",
            "{}",
            "[]",
            "5",
            "{\"mcpServers\": []}",
            "{\"mcpServers\": null}",
        ] {
            assert_eq!(servers(text), [], "{text}");
        }
    }

    #[test]
    fn a_fault_names_its_line() {
        for (text, line) in [
            (
                "{\n \"mcpServers\": {\n  \"a\": {\n   \"command\": \"x\"\n   \"args\": []\n",
                5,
            ),
            ("{\n\n nonsense }", 3),
            ("\n\n{\n\"a\": }", 4),
        ] {
            let fault = json(text, &[vec!["mcpServers"]]).expect_err(text);
            assert_eq!(fault.line, line, "{fault:?}");
            assert!(!fault.reason.contains("line"), "{fault:?}");
        }
    }
}
