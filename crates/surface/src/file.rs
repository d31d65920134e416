//! The lock file: a surface as JSON.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::hidden::escape_json;
use crate::surface::{Definition, EntryKind, Surface};

/// The version of the format of lock files.
pub const FORMAT: u64 = 1;

/// Maximum size of a lock file, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum number of entries of one kind in a lock file.
pub const MAX_ENTRIES: usize = 10_000;

/// The member with the version of the format.
const FORMAT_MEMBER: &str = "pintleLock";

/// A lock file that is not usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// The file cannot be read.
    #[error("the lock file cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error("the lock file has more than {MAX_FILE_BYTES} bytes")]
    TooLarge,
    /// The file is not JSON.
    #[error("the lock file is not JSON: {0}")]
    Syntax(#[source] serde_json::Error),
    /// The member `pintleLock` is missing, so the file is not a lock file.
    #[error("the file is not a lock file: it has no member `pintleLock`")]
    NoFormat,
    /// The file has a format that this version does not know.
    #[error("the lock file has the format {0}; this version reads format {FORMAT}")]
    UnknownFormat(String),
    /// A member has the wrong type.
    #[error("the member `{0}` of the lock file has the wrong type")]
    Type(&'static str),
    /// An entry of a list is not an object with a key.
    #[error("the entry {index} of `{list}` in the lock file has no `{member}`")]
    Entry {
        /// The name of the list.
        list: &'static str,
        /// The position of the entry, from 0.
        index: usize,
        /// The member that is missing or is not a text.
        member: &'static str,
    },
    /// A list has more than [`MAX_ENTRIES`] entries.
    #[error("`{0}` has more than {MAX_ENTRIES} entries in the lock file")]
    TooManyEntries(&'static str),
}

impl Surface {
    /// Returns the lock file: indented JSON in a stable order, with a line end at the end. Characters that a reader
    /// does not see are escapes.
    pub fn to_json(&self) -> String {
        let mut file = Map::new();
        file.insert(FORMAT_MEMBER.to_owned(), FORMAT.into());
        let server = json!({ "name": self.name, "version": self.version });
        file.insert("server".to_owned(), server);
        if let Some(instructions) = &self.instructions {
            file.insert("instructions".to_owned(), instructions.as_str().into());
        }
        for kind in EntryKind::ALL {
            let list = self.definitions(kind).iter().cloned();
            let list: Vec<Value> = list.map(Value::Object).collect();
            file.insert(kind.list().to_owned(), list.into());
        }
        // Maps of texts to values are always rendered.
        let json = serde_json::to_string_pretty(&file).unwrap_or_default();
        escape_json(&json) + "\n"
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// [`SurfaceError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SurfaceError> {
        let file = File::open(path).map_err(SurfaceError::Unreadable)?;
        let mut text = String::new();
        file.take(MAX_FILE_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(SurfaceError::Unreadable)?;
        Self::from_json(&text)
    }

    /// Reads the text of a lock file. Members that this version does not know are ignored.
    ///
    /// # Errors
    ///
    /// [`SurfaceError`], except [`SurfaceError::Unreadable`].
    pub fn from_json(text: &str) -> Result<Self, SurfaceError> {
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(SurfaceError::TooLarge);
        }
        let mut file = match serde_json::from_str(text).map_err(SurfaceError::Syntax)? {
            Value::Object(file) => file,
            _ => return Err(SurfaceError::NoFormat),
        };
        check_format(file.get(FORMAT_MEMBER))?;
        let server = match file.remove("server") {
            Some(Value::Object(server)) => server,
            _ => return Err(SurfaceError::Type("server")),
        };
        let instructions = file.remove("instructions").unwrap_or_default();
        let mut surface = Self::new(text_of(&server, "name")?, text_of(&server, "version")?);
        surface.instructions = match instructions {
            Value::Null => None,
            Value::String(text) => Some(text),
            _ => return Err(SurfaceError::Type("instructions")),
        };
        for kind in EntryKind::ALL {
            surface.extend(kind, definitions(kind, file.remove(kind.list()))?);
        }
        Ok(surface)
    }
}

fn check_format(format: Option<&Value>) -> Result<(), SurfaceError> {
    match format {
        None => Err(SurfaceError::NoFormat),
        Some(format) if format.as_u64() == Some(FORMAT) => Ok(()),
        Some(Value::Number(format)) => Err(SurfaceError::UnknownFormat(format.to_string())),
        Some(_) => Err(SurfaceError::Type(FORMAT_MEMBER)),
    }
}

fn text_of<'s>(server: &'s Definition, member: &'static str) -> Result<&'s str, SurfaceError> {
    let text = server.get(member).and_then(Value::as_str);
    text.ok_or(SurfaceError::Type("server"))
}

fn definitions(kind: EntryKind, list: Option<Value>) -> Result<Vec<Definition>, SurfaceError> {
    let list = match list {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(SurfaceError::Type(kind.list())),
    };
    if list.len() > MAX_ENTRIES {
        return Err(SurfaceError::TooManyEntries(kind.list()));
    }
    let entries = list.into_iter().enumerate();
    let entries = entries.map(|(index, entry)| match entry {
        Value::Object(members) if members.get(kind.key_member()).is_some_and(Value::is_string) => {
            Ok(members)
        }
        _ => Err(SurfaceError::Entry {
            list: kind.list(),
            index,
            member: kind.key_member(),
        }),
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use pintle_model::{Prompt, Resource, ResourceTemplate, Tool};
    use proptest::prelude::*;

    use super::*;
    use crate::is_hidden;

    fn surface() -> Surface {
        Surface::new("s", "1")
            .with_instructions(Some("Be\u{202e} kind."))
            .with_tools([&Tool::without_arguments("t").with_description("a\u{e0041}b")])
            .with_prompts([&Prompt::new("p")])
            .with_resources([&Resource::new("file:///r", "r")])
            .with_resource_templates([&ResourceTemplate::new("file:///{x}", "x")])
    }

    fn error_of(text: &str) -> String {
        Surface::from_json(text)
            .expect_err("it is invalid")
            .to_string()
    }

    #[test]
    fn a_lock_file_is_read_as_it_was_written() {
        let json = surface().to_json();
        assert!(!json.contains(|c| c != '\n' && is_hidden(c)), "{json}");
        assert!(json.contains("a\\udb40\\udc41b"), "{json}");
        assert!(json.starts_with("{\n  \"pintleLock\": 1,\n  \"server\": {\n    \"name\": \"s\","));
        assert_eq!(Surface::from_json(&json).expect("valid"), surface());
    }

    #[test]
    fn a_file_that_is_not_a_lock_file_is_an_error() {
        for (text, error) in [
            ("[]", "the file is not a lock file"),
            ("{}", "the file is not a lock file"),
            ("{", "the lock file is not JSON"),
            (r#"{"pintleLock":2}"#, "the lock file has the format 2"),
            (r#"{"pintleLock":"1"}"#, "the member `pintleLock`"),
            (r#"{"pintleLock":1}"#, "the member `server`"),
            (
                r#"{"pintleLock":1,"server":{"name":"a","version":"1"},"tools":[{"uri":"x"}]}"#,
                "the entry 0 of `tools` in the lock file has no `name`",
            ),
            (
                r#"{"pintleLock":1,"server":{"name":"a","version":"1"},"prompts":{}}"#,
                "the member `prompts`",
            ),
            (
                r#"{"pintleLock":1,"server":{"name":"a","version":"1"},"instructions":1}"#,
                "the member `instructions`",
            ),
        ] {
            assert!(
                error_of(text).starts_with(error),
                "{text}: {}",
                error_of(text)
            );
        }
    }

    #[test]
    fn a_list_above_its_limit_is_an_error() {
        let file = |count| {
            let tools = vec![json!({ "name": "t" }); count];
            let server = json!({ "name": "s", "version": "1" });
            json!({ "pintleLock": 1, "server": server, "tools": tools }).to_string()
        };
        assert!(Surface::from_json(&file(MAX_ENTRIES)).is_ok());
        assert_eq!(
            error_of(&file(MAX_ENTRIES + 1)),
            "`tools` has more than 10000 entries in the lock file"
        );
    }

    #[test]
    fn a_file_above_its_limit_is_an_error() {
        let mut text = surface().to_json();
        text.push_str(&" ".repeat(MAX_FILE_BYTES as usize - text.len()));
        assert!(Surface::from_json(&text).is_ok());
        text.push(' ');
        assert_eq!(
            error_of(&text),
            "the lock file has more than 16777216 bytes"
        );
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(error_of(&nested).starts_with("the lock file is not JSON"));
    }

    proptest! {
        #[test]
        fn no_file_panics(text in r#"[\[\]{}:,"a-z0-9]{0,64}"#, cut in 0usize..400) {
            let _ = Surface::from_json(&text);
            let json = surface().to_json();
            let _ = Surface::from_json(json.get(..cut).unwrap_or(&json));
        }
    }
}
