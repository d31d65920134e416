//! One server of a file: how it is reached, before its variables are put in.

use std::collections::BTreeMap;

use pintle_model::JsonObject;
use serde_json::Value;

use super::raw_entry::RawEntry;

/// A server as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Its name in the file.
    pub name: String,
    /// The line on which it begins.
    pub(super) line: usize,
    /// The lines on which its members begin.
    pub(super) lines: BTreeMap<String, usize>,
    /// Whether its host uses it.
    pub is_enabled: bool,
    /// The program or the URL of the server, or the error in its definition.
    pub target: Result<UnexpandedTarget, EntryError>,
    /// All of its members, as they are written.
    pub(super) members: Option<JsonObject>,
}

/// The program or the URL of a server, before its variables are expanded. `Target` is the expanded form.
#[derive(Debug, Clone, PartialEq)]
pub enum UnexpandedTarget {
    /// The server is a program to start.
    Program {
        /// The program, without its arguments.
        command: String,
        /// Arguments of the program, in order.
        arguments: Vec<String>,
        /// Variables of the program's environment.
        environment: Vec<(String, Text)>,
        /// A file with more variables of the environment.
        env_file: Option<String>,
        /// The directory in which the program is started.
        directory: Option<String>,
    },
    /// The server is at a URL.
    Url {
        /// The URL of the server.
        url: String,
        /// Headers of the requests to the server.
        headers: Vec<(String, Text)>,
        /// Whether the file states that the server uses the transport of 2024.
        is_sse: bool,
    },
}

/// A value, or where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// The value, which may contain variables.
    Written(String),
    /// The environment variable that holds the value.
    Env(String),
    /// The environment variable that holds a bearer token.
    Bearer(String),
}

/// An error in the definition of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryError {
    /// A member does not have the expected form.
    Wrong {
        /// The name of the member.
        key: &'static str,
        /// The expected form of the member.
        expected: &'static str,
    },
    /// The definition does not state how to reach the server.
    NoTarget {
        /// A possible reason.
        hint: &'static str,
    },
}

impl From<RawEntry> for Server {
    fn from(raw: RawEntry) -> Self {
        let members = raw.members.as_ref();
        let flag = |key| members.and_then(|members| members.get(key)?.as_bool());
        Self {
            is_enabled: flag("disabled") != Some(true) && flag("enabled") != Some(false),
            target: match members {
                Some(members) => target(&Members(members)),
                None => Err(EntryError::NoTarget {
                    hint: ": it is not an object",
                }),
            },
            name: raw.name,
            line: raw.line,
            lines: raw.lines,
            members: raw.members,
        }
    }
}

fn target(members: &Members<'_>) -> Result<UnexpandedTarget, EntryError> {
    // A host that knows several spellings prefers the newer one; so do we.
    for key in ["httpUrl", "serverUrl", "url", "uri"] {
        if let Some(url) = members.text(key)? {
            return Ok(UnexpandedTarget::Url {
                is_sse: members.text("type")?.as_deref() == Some("sse"),
                headers: headers(members)?,
                url,
            });
        }
    }
    let Some((command, mut arguments)) = command(members)? else {
        let is_built_in = matches!(
            members.text("type")?.as_deref(),
            Some("builtin" | "platform" | "frontend" | "inline_python")
        );
        let hint = match members.0.contains_key("settings") || is_built_in {
            true => "; an extension of the host brings it",
            false => "",
        };
        return Err(EntryError::NoTarget { hint });
    };
    arguments.extend(members.texts("args")?.unwrap_or_default());
    Ok(UnexpandedTarget::Program {
        command,
        arguments,
        environment: environment(members)?,
        env_file: members.text("envFile")?,
        directory: members.text("cwd")?,
    })
}

/// The program, and the arguments that stand with it: text, a list (opencode), or an object (Zed,
/// until 2025).
fn command(members: &Members<'_>) -> Result<Option<(String, Vec<String>)>, EntryError> {
    let wrong = EntryError::Wrong {
        key: "command",
        expected: "text, or a list of texts",
    };
    match members.0.get("command") {
        None | Some(Value::Null) => Ok(members.text("cmd")?.map(|command| (command, Vec::new()))),
        Some(Value::String(command)) => Ok(Some((command.clone(), Vec::new()))),
        Some(Value::Array(words)) => {
            let mut words = texts(words).ok_or_else(|| wrong.clone())?.into_iter();
            let command = words.next().ok_or(wrong)?;
            Ok(Some((command, words.collect())))
        }
        Some(Value::Object(inner)) => {
            let inner = Members(inner);
            let path = inner.text("path")?.ok_or(wrong)?;
            Ok(Some((path, inner.texts("args")?.unwrap_or_default())))
        }
        Some(_) => Err(wrong),
    }
}

fn environment(members: &Members<'_>) -> Result<Vec<(String, Text)>, EntryError> {
    let mut environment = Vec::new();
    // Codex passes on what it is started with, by name. What Goose keeps in a keyring is taken from
    // the environment, where Goose looks first.
    for key in ["env_vars", "env_keys"] {
        for passed in members.list(key)?.unwrap_or_default() {
            let name = passed.as_str().or_else(|| passed.get("name")?.as_str());
            let expected = "a list of names";
            let name = name.ok_or(EntryError::Wrong { key, expected })?;
            environment.push((name.to_owned(), Text::Env(name.to_owned())));
        }
    }
    if let Some(Value::Object(command)) = members.0.get("command") {
        environment.extend(Members(command).pairs("env", Text::Written)?);
    }
    for key in ["env", "environment", "envs"] {
        environment.extend(members.pairs(key, Text::Written)?);
    }
    Ok(environment)
}

fn headers(members: &Members<'_>) -> Result<Vec<(String, Text)>, EntryError> {
    let mut headers = Vec::new();
    if let Some(name) = members.text("bearer_token_env_var")? {
        headers.push(("Authorization".to_owned(), Text::Bearer(name)));
    }
    for key in ["headers", "http_headers"] {
        headers.extend(members.pairs(key, Text::Written)?);
    }
    headers.extend(members.pairs("env_http_headers", Text::Env)?);
    if let Some(Value::Object(options)) = members.0.get("requestOptions") {
        headers.extend(Members(options).pairs("headers", Text::Written)?);
    }
    Ok(headers)
}

/// The members of a server, read as what they have to be.
struct Members<'a>(&'a JsonObject);

impl Members<'_> {
    fn text(&self, key: &'static str) -> Result<Option<String>, EntryError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(EntryError::Wrong {
                key,
                expected: "text",
            }),
        }
    }

    fn list(&self, key: &'static str) -> Result<Option<&[Value]>, EntryError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(EntryError::Wrong {
                key,
                expected: "a list",
            }),
        }
    }

    fn texts(&self, key: &'static str) -> Result<Option<Vec<String>>, EntryError> {
        let Some(items) = self.list(key)? else {
            return Ok(None);
        };
        let expected = "a list of texts";
        texts(items)
            .map(Some)
            .ok_or(EntryError::Wrong { key, expected })
    }

    /// Names and values. A value that is null is not there.
    fn pairs(
        &self,
        key: &'static str,
        of: impl Fn(String) -> Text,
    ) -> Result<Vec<(String, Text)>, EntryError> {
        let pairs = match self.0.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(pairs)) => pairs.iter(),
            Some(_) => {
                return Err(EntryError::Wrong {
                    key,
                    expected: "an object of texts",
                });
            }
        };
        pairs
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| {
                let text = plain(value).ok_or(EntryError::Wrong {
                    key,
                    expected: "an object of texts",
                })?;
                Ok((name.clone(), of(text)))
            })
            .collect()
    }
}

fn texts(items: &[Value]) -> Option<Vec<String>> {
    items.iter().map(plain).collect()
}

/// A value as text: hosts are lenient with numbers and booleans, and so are people.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(members: Value) -> Server {
        Server::from(RawEntry {
            name: "a".to_owned(),
            line: 1,
            members: members.as_object().cloned(),
            lines: BTreeMap::new(),
        })
    }

    fn program(
        command: &str,
        arguments: &[&str],
        environment: &[(&str, Text)],
    ) -> UnexpandedTarget {
        UnexpandedTarget::Program {
            command: command.to_owned(),
            arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
            environment: owned(environment),
            env_file: None,
            directory: None,
        }
    }

    fn owned(pairs: &[(&str, Text)]) -> Vec<(String, Text)> {
        pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.clone()))
            .collect()
    }

    fn written(text: &str) -> Text {
        Text::Written(text.to_owned())
    }

    #[test]
    fn a_program_is_described_in_several_ways() {
        for members in [
            json!({ "command": "x", "args": ["-y", 1], "env": { "A": "1", "B": true, "C": null } }),
            json!({ "type": "local", "command": ["x", "-y", "1"], "environment": { "A": 1, "B": "true" } }),
            json!({ "type": "stdio", "cmd": "x", "args": ["-y", "1"], "envs": { "A": "1", "B": "true" }, "timeout": 300 }),
            json!({ "source": "custom", "command": { "path": "x", "args": ["-y", "1"], "env": { "A": "1", "B": "true" } } }),
        ] {
            let environment = [("A", written("1")), ("B", written("true"))];
            let expected = program("x", &["-y", "1"], &environment);
            assert_eq!(server(members.clone()).target, Ok(expected), "{members}");
        }
        let passed =
            json!({ "command": "x", "env_vars": ["A", { "name": "B", "source": "local" }] });
        let environment = [
            ("A", Text::Env("A".to_owned())),
            ("B", Text::Env("B".to_owned())),
        ];
        assert_eq!(server(passed).target, Ok(program("x", &[], &environment)));
    }

    #[test]
    fn an_address_is_described_in_several_ways() {
        let key = [("X-Key", written("k"))];
        for (members, headers, is_sse) in [
            (
                json!({ "url": "u", "headers": { "X-Key": "k" } }),
                owned(&key),
                false,
            ),
            (json!({ "type": "sse", "url": "u" }), Vec::new(), true),
            (json!({ "httpUrl": "u", "url": "old" }), Vec::new(), false),
            (json!({ "serverUrl": "u" }), Vec::new(), false),
            (
                json!({ "type": "streamable_http", "uri": "u", "headers": { "X-Key": "k" } }),
                owned(&key),
                false,
            ),
            (
                json!({ "type": "streamable-http", "url": "u", "requestOptions": { "headers": { "X-Key": "k" } } }),
                owned(&key),
                false,
            ),
            (json!({ "type": "remote", "url": "u" }), Vec::new(), false),
            (
                json!({ "url": "u", "bearer_token_env_var": "T", "http_headers": { "X-Key": "k" },
                    "env_http_headers": { "X-Who": "WHO" } }),
                owned(&[
                    ("Authorization", Text::Bearer("T".to_owned())),
                    ("X-Key", written("k")),
                    ("X-Who", Text::Env("WHO".to_owned())),
                ]),
                false,
            ),
        ] {
            let url = "u".to_owned();
            let expected = UnexpandedTarget::Url {
                url,
                headers,
                is_sse,
            };
            assert_eq!(server(members.clone()).target, Ok(expected), "{members}");
        }
    }

    #[test]
    fn a_fault_names_its_key() {
        for (members, key) in [
            (json!({ "command": 5 }), "command"),
            (json!({ "command": [] }), "command"),
            (json!({ "command": {} }), "command"),
            (json!({ "command": "x", "args": "y" }), "args"),
            (json!({ "command": "x", "args": [{}] }), "args"),
            (json!({ "command": "x", "env": ["A=1"] }), "env"),
            (json!({ "command": "x", "env": { "A": {} } }), "env"),
            (json!({ "command": "x", "env_vars": [1] }), "env_vars"),
            (json!({ "url": {} }), "url"),
            (json!({ "url": "u", "headers": "x" }), "headers"),
        ] {
            match server(members.clone()).target {
                Err(EntryError::Wrong { key: found, .. }) => assert_eq!(found, key, "{members}"),
                other => panic!("{members}: {other:?}"),
            }
        }
        let hint = "; an extension of the host brings it";
        let target = server(json!({ "settings": {} })).target;
        assert_eq!(target, Err(EntryError::NoTarget { hint }));
        let built_in = server(json!({ "type": "builtin", "name": "developer" })).target;
        assert_eq!(built_in, Err(EntryError::NoTarget { hint }));
        assert!(server(json!(5)).target.is_err() && server(json!({})).target.is_err());
    }

    #[test]
    fn a_server_may_be_switched_off() {
        assert!(server(json!({ "command": "x" })).is_enabled);
        assert!(!server(json!({ "command": "x", "disabled": true })).is_enabled);
        assert!(!server(json!({ "command": "x", "enabled": false })).is_enabled);
    }
}
