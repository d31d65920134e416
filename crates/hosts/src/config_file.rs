//! The files of hosts themselves: text that a host does not accept, and servers that it does not find.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::config_owner::ConfigOwner;
use super::config_path::{Environment, FILE_BYTES, YAML_BYTES};
use super::document::{self, Kind, PROJECT};
use super::host::{FILE, Host, YAML_FILE};
use super::host_rules::JsonForm;
use super::jsonc;
use super::raw_entry::{Lines, RawEntry};

/// A configuration file that exists.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// The host that reads the file.
    pub host: &'static Host,
    /// The owner of the file.
    pub origin: ConfigOwner,
    /// The path of the file.
    pub path: PathBuf,
}

/// A fault of a file that hides servers from its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    /// The line; from 1.
    pub line: usize,
    /// The kind of the fault.
    pub kind: FileFaultKind,
}

/// The kind of a fault of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFaultKind {
    /// A comment that the host does not accept.
    Comment,
    /// A comma before a closing bracket that the host does not accept.
    TrailingComma,
    /// Servers stand under a key of other hosts.
    OtherKey {
        /// The key in the file.
        found: String,
        /// The key that the host reads.
        expected: String,
    },
    /// A name occurs twice, and the first server is lost.
    DuplicateName {
        /// The name of both servers.
        name: String,
    },
}

/// The keys under which hosts store servers.
const KEYS: [&[&str]; 7] = [
    &["mcpServers"],
    &["servers"],
    &["context_servers"],
    &["mcp_servers"],
    &["mcpservers"],
    &["mcp-servers"],
    &["mcp", "servers"],
];

impl FileFault {
    /// Whether servers stand under a key of other hosts.
    pub(super) fn is_about_key(&self) -> bool {
        matches!(self.kind, FileFaultKind::OtherKey { .. })
    }
}

impl ConfigFile {
    /// Reads the file again and returns its faults. A file that cannot be read has none here.
    pub fn faults(&self, environment: &Environment<'_>) -> Vec<FileFault> {
        let kind = Kind::of(&self.path);
        let limit = match kind {
            Kind::Yaml => YAML_BYTES,
            Kind::Json | Kind::Toml => FILE_BYTES,
        };
        let text = environment.disk.read(&self.path, limit).ok().flatten();
        text.map_or_else(Vec::new, |text| faults(self.host, kind, &text))
    }
}

/// Returns the faults of a text that the host reads.
pub(super) fn faults(host: &Host, kind: Kind, text: &str) -> Vec<FileFault> {
    let mut faults = Vec::new();
    if kind == Kind::Json {
        faults.extend(extensions(host.rules().json, text));
        faults.extend(duplicates(host, text));
    }
    faults.extend(other_key(host, kind, text));
    faults
}

/// The first comment and the first trailing comma that the host does not accept.
fn extensions(form: JsonForm, text: &str) -> Vec<FileFault> {
    let without_comments = jsonc::without_comments(text);
    let plain = jsonc::plain(text);
    let mut faults = Vec::new();
    let mut add = |before: &str, after: &str, kind| {
        if let Some(at) = first_difference(before, after) {
            let line = Lines::new(text).at(at);
            faults.push(FileFault { line, kind });
        }
    };
    // A byte order mark becomes blanks, too, and hosts accept it.
    let text = text.replacen('\u{feff}', "   ", usize::from(text.starts_with('\u{feff}')));
    if form == JsonForm::Strict {
        add(&text, &without_comments, FileFaultKind::Comment);
    }
    if form != JsonForm::Lenient {
        add(&without_comments, &plain, FileFaultKind::TrailingComma);
    }
    faults
}

fn first_difference(before: &str, after: &str) -> Option<usize> {
    let pairs = before.bytes().zip(after.bytes());
    pairs
        .enumerate()
        .find(|(_, (a, b))| a != b)
        .map(|(at, _)| at)
}

/// The first key of other hosts under which the file has servers, if the host's own keys have none.
fn other_key(host: &Host, kind: Kind, text: &str) -> Option<FileFault> {
    let all = [FILE.id, YAML_FILE.id];
    if all.contains(&host.id) || !entries(kind, text, host.servers).is_empty() {
        return None;
    }
    let own = host.servers.iter().find(|path| !path.contains(&PROJECT))?;
    let mut others = KEYS.iter().filter(|path| !host.servers.contains(path));
    others.find_map(|path| {
        let first = entries(kind, text, &[path]).into_iter().find(is_server)?;
        let key = path.first()?;
        let kind = FileFaultKind::OtherKey {
            found: path.join("."),
            expected: own.join("."),
        };
        let line = line_of_key(text, key).unwrap_or(first.line);
        Some(FileFault { line, kind })
    })
}

fn is_server(entry: &RawEntry) -> bool {
    let members = entry.members.as_ref();
    ["command", "url", "httpUrl", "serverUrl"]
        .iter()
        .any(|key| members.is_some_and(|members| members.contains_key(*key)))
}

fn entries(kind: Kind, text: &str, paths: &[&[&str]]) -> Vec<RawEntry> {
    let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.to_vec()).collect();
    let read = match kind {
        Kind::Json => document::json(text, &paths),
        Kind::Toml => document::toml(text, &paths),
        Kind::Yaml => document::yaml(text, &paths),
    };
    read.map(|document| document.servers).unwrap_or_default()
}

fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let at = text.find(&format!("\"{key}\""))?;
    Some(Lines::new(text).at(at))
}

/// Names that occur twice under one key of a JSON file.
fn duplicates(host: &Host, text: &str) -> Vec<FileFault> {
    let plain = jsonc::plain(text);
    let lines = Lines::new(&plain);
    let paths = host.servers.iter().filter(|path| !path.contains(&PROJECT));
    let mut faults = Vec::new();
    for path in paths {
        let Some(servers) = below(plain.trim(), path) else {
            continue;
        };
        let mut seen = BTreeSet::new();
        for (name, server) in servers {
            if !seen.insert(name.clone()) {
                let begin = plain.as_ptr().addr();
                let at = server.get().as_ptr().addr().saturating_sub(begin);
                let kind = FileFaultKind::DuplicateName { name };
                let line = lines.at(at);
                faults.push(FileFault { line, kind });
            }
        }
    }
    faults
}

/// The members of the object under a path of keys, with all members of one name.
fn below<'t>(json: &'t str, path: &[&str]) -> Option<Vec<(String, &'t RawValue)>> {
    let mut members = serde_json::from_str::<Pairs<'t>>(json).ok()?.0;
    for key in path {
        let (_, value) = members.into_iter().rfind(|(name, _)| name == key)?;
        members = serde_json::from_str::<Pairs<'t>>(value.get()).ok()?.0;
    }
    Some(members)
}

/// An object with its members in order, including those whose name occurs twice.
struct Pairs<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Pairs<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<'t>(std::marker::PhantomData<&'t ()>);
        impl<'de: 't, 't> Visitor<'de> for Reader<'t> {
            type Value = Pairs<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'t>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry::<String, &'de RawValue>()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Reader(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(host: &str, kind: Kind, text: &str) -> Vec<(usize, FileFaultKind)> {
        let host = Host::by_id(host).expect("a known host");
        let faults = faults(host, kind, text).into_iter();
        faults.map(|fault| (fault.line, fault.kind)).collect()
    }

    #[test]
    fn extensions_of_json_are_faults_where_the_host_does_not_accept_them() {
        let text = "\u{feff}{\n\"mcpServers\": {\n  // mine\n  \"a\": {\"command\": \"x\"},\n}}";
        let comment = (3, FileFaultKind::Comment);
        let comma = (4, FileFaultKind::TrailingComma);
        assert_eq!(found("claude", Kind::Json, text), [comment, comma.clone()]);
        assert_eq!(found("gemini", Kind::Json, text), [comma]);
        assert_eq!(found("cursor", Kind::Json, text), []);
        assert_eq!(found("claude", Kind::Json, "{\"mcpServers\": {}}"), []);
    }

    #[test]
    fn servers_under_a_key_of_other_hosts_are_found() {
        let other = |found: &str, expected: &str| FileFaultKind::OtherKey {
            found: found.to_owned(),
            expected: expected.to_owned(),
        };
        let servers = "{\n\"servers\": {\"a\": {\"command\": \"x\"}}}";
        let fault = (2, other("servers", "mcpServers"));
        assert_eq!(found("cursor", Kind::Json, servers), [fault]);
        let common = "{\n\n\"mcpServers\": {\"a\": {\"url\": \"x\"}}}";
        assert_eq!(
            found("vscode", Kind::Json, common),
            [(3, other("mcpServers", "servers"))]
        );
        let toml = "[mcpServers.a]\ncommand = \"x\"\n";
        assert_eq!(
            found("codex", Kind::Toml, toml),
            [(1, other("mcpServers", "mcp_servers"))]
        );
        // Settings of an editor may have such a key for something else.
        assert_eq!(
            found("zed", Kind::Json, "{\"servers\": {\"a\": {\"port\": 1}}}"),
            []
        );
        let both = "{\"servers\": {\"a\": {\"command\": \"x\"}}, \"mcpServers\": {\"b\": {\"url\": \"u\"}}}";
        assert_eq!(found("cursor", Kind::Json, both), []);
    }

    #[test]
    fn a_name_that_occurs_twice_in_a_file_is_found() {
        let text = "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"b\": {\"command\": \"x\"},\n\"a\": {\"url\": \"u\"}}}";
        let name = "a".to_owned();
        let fault = (4, FileFaultKind::DuplicateName { name });
        assert_eq!(found("cursor", Kind::Json, text), [fault]);
    }

    proptest! {
        #[test]
        fn a_fault_of_any_text_has_a_line_of_the_text(
            text in "([{}\\[\\],:\"/*\\\\ \n]|mcpServers|servers|command|é|//|\"a\"){0,40}",
        ) {
            let lines = 1 + text.matches(['\n', '\r']).count();
            for (host, kind) in [("claude", Kind::Json), ("codex", Kind::Toml), ("continue", Kind::Yaml)] {
                for (line, _) in found(host, kind, &text) {
                    prop_assert!((1..=lines).contains(&line), "line {} of {}", line, lines);
                }
            }
        }
    }
}
