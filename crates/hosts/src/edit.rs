//! Writes servers into the files of hosts, and removes them.
//!
//! An edit is computed first, so that the caller can show it. [`ConfigEdit::apply`] then replaces the file. Texts are
//! changed at the place of the entry only. Every result is parsed again and compared with the intended values.

mod error;
mod file;
mod json;
mod places;
mod render;
mod splice;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use std::path::{Path, PathBuf};

use pintle_model::JsonObject;
use serde_json::Value;

use super::config_path::{Environment, FILE_BYTES, YAML_BYTES};
use super::document::Kind;
use super::entry::UnexpandedTarget;
use super::error::ConfigError;
use super::host::Host;
use super::raw_entry::SyntaxError;
use super::server_registry::Listed;
use super::suggestion::suggestion;
use super::variable_syntax::VariableSyntax;

use error::TextError;
use places::Placed;
use render::Renderer;

pub use error::EditError;
pub use file::BACKUPS;
pub use places::Placement;

/// Maximum length of the name of a new server, in bytes.
const NAME_BYTES: usize = 64;

/// A server to write into the file of a host.
#[derive(Debug, Clone)]
pub struct NewServer {
    /// The name of the server in the file.
    pub name: String,
    /// The program or the URL of the server.
    pub target: UnexpandedTarget,
    /// How the target refers to variables. Absent if its texts are already in the form of the new host.
    syntaxes: Option<&'static [VariableSyntax]>,
}

/// A change of one file that was not made yet.
#[derive(Debug)]
pub struct ConfigEdit {
    /// The path of the file.
    pub file: PathBuf,
    /// The text before the change. Absent if the file does not exist.
    pub before: Option<String>,
    /// The text after the change. Absent if the file is removed, because the installation created it.
    pub after: Option<String>,
    /// Whether only the user may read a new file.
    is_private: bool,
}

impl NewServer {
    /// Creates a server whose texts are in the form of the host that gets it.
    ///
    /// # Errors
    ///
    /// [`EditError::InvalidName`] unless the name has 1 to 64 ASCII letters, digits, `-`, `_` and `.`, and begins with
    /// a letter or a digit.
    pub fn new(name: &str, target: UnexpandedTarget) -> Result<Self, EditError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let begins = name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !begins || name.len() > NAME_BYTES || !name.bytes().all(is_allowed) {
            return Err(EditError::InvalidName(name.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            target,
            syntaxes: None,
        })
    }

    /// Creates a copy of a server of another host. Its variables get the form of the new host.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and [`EditError::Config`] if the definition is wrong.
    pub fn copy(
        name: &str,
        listed: &Listed,
        environment: &Environment<'_>,
    ) -> Result<Self, EditError> {
        let target = listed.unexpanded(environment)?;
        Ok(Self {
            syntaxes: Some(listed.host.syntaxes),
            ..Self::new(name, target)?
        })
    }
}

impl ConfigEdit {
    /// Computes the change that adds a server to a host.
    ///
    /// # Errors
    ///
    /// [`EditError`], also if the file has a server of that name and it is not to be replaced.
    pub fn install(
        environment: &Environment<'_>,
        host: &'static Host,
        placement: &Placement,
        server: &NewServer,
        replaces: bool,
    ) -> Result<Self, EditError> {
        let file = places::new_file(environment, host, placement, &server.name)?;
        let syntaxes = server.syntaxes.unwrap_or(host.syntaxes);
        let members = Renderer::new(host, syntaxes).members(&server.name, &server.target)?;
        let text = read(environment, &file)?;
        let target = Target::new(host, &file, &server.name);
        let after = target
            .inserted(text.as_deref().unwrap_or_default(), &members, replaces)
            .map_err(|error| target.error(error, Some(&members)))?;
        Ok(Self {
            file,
            before: text,
            after: Some(after),
            is_private: *placement != Placement::Project,
        })
    }

    /// Computes the change that removes a server from a host. If nothing else changed since the installation, the result
    /// is the text before it.
    ///
    /// # Errors
    ///
    /// [`EditError`], also if no file or several files have a server of that name.
    pub fn uninstall(
        environment: &Environment<'_>,
        host: &'static Host,
        placement: &Placement,
        name: &str,
    ) -> Result<Self, EditError> {
        let Placed { file, text } = places::file_with(environment, host, placement, name)?;
        let target = Target::new(host, &file, name);
        let removed = target.removed(&text);
        let removed = removed.map_err(|error| target.error(error, None))?;
        let after = target.text_before(environment, &text, removed);
        Ok(Self {
            before: Some(text),
            after,
            is_private: *placement != Placement::Project,
            file,
        })
    }
}

/// The place of one entry.
struct Target<'a> {
    file: &'a Path,
    kind: Kind,
    /// The keys under which the servers of the host stand.
    path: Vec<&'static str>,
    name: &'a str,
}

impl<'a> Target<'a> {
    fn new(host: &'static Host, file: &'a Path, name: &'a str) -> Self {
        Self {
            file,
            kind: Kind::of(file),
            path: host
                .servers
                .first()
                .map(|path| path.to_vec())
                .unwrap_or_default(),
            name,
        }
    }

    /// Returns the entry in a text.
    fn entry(&self, text: &str) -> Result<Option<JsonObject>, SyntaxError> {
        let mut value = &self.value(text)?;
        for key in self.path.iter().chain([&self.name]) {
            match value.get(*key) {
                Some(inner) => value = inner,
                None => return Ok(None),
            }
        }
        Ok(Some(value.as_object().cloned().unwrap_or_default()))
    }

    fn value(&self, text: &str) -> Result<Value, SyntaxError> {
        match self.kind {
            Kind::Json => json::value(text),
            Kind::Toml => toml::value(text),
            Kind::Yaml => yaml::value(text),
        }
    }

    fn inserted(
        &self,
        text: &str,
        members: &JsonObject,
        replaces: bool,
    ) -> Result<String, TextError> {
        let insert = match self.kind {
            Kind::Json => json::insert,
            Kind::Toml => toml::insert,
            Kind::Yaml => yaml::insert,
        };
        let after = insert(text, &self.path, self.name, members, replaces)?;
        let mut expected = self.value(text)?;
        let entry = Value::Object(members.clone());
        set(&mut expected, &self.path, self.name, entry).ok_or(OTHER_MEANING)?;
        self.checked(after, &expected)
    }

    fn removed(&self, text: &str) -> Result<String, TextError> {
        let remove = match self.kind {
            Kind::Json => json::remove,
            Kind::Toml => toml::remove,
            Kind::Yaml => yaml::remove,
        };
        let after = remove(text, &self.path, self.name)?;
        let mut expected = self.value(text)?;
        let mut place = Some(&mut expected);
        for key in &self.path {
            place = place.and_then(|place| place.get_mut(key));
        }
        if let Some(entries) = place.and_then(Value::as_object_mut) {
            entries.remove(self.name);
        }
        self.checked(after, &expected)
    }

    /// Returns a new text if it has the expected value.
    fn checked(&self, after: String, expected: &Value) -> Result<String, TextError> {
        let found = self.value(&after).map_err(|_| OTHER_MEANING)?;
        match self.without_empty(found) == self.without_empty(expected.clone()) {
            true => Ok(after),
            false => Err(OTHER_MEANING),
        }
    }

    /// Returns a value without the object of servers, if it is empty.
    fn without_empty(&self, mut value: Value) -> Value {
        for length in (1..=self.path.len()).rev() {
            let (key, outer) = match self.path[..length].split_last() {
                Some(parts) => parts,
                None => break,
            };
            let mut place = Some(&mut value);
            for key in outer {
                place = place.and_then(|place| place.get_mut(key));
            }
            let Some(object) = place.and_then(Value::as_object_mut) else {
                continue;
            };
            let is_empty = object.get(*key).is_some_and(|inner| {
                inner.is_null() || inner.as_object().is_some_and(JsonObject::is_empty)
            });
            if is_empty {
                object.shift_remove(*key);
            }
        }
        value
    }

    /// Returns the text before the installation if a backup has it, otherwise the text without the entry. Returns `None`
    /// if the installation created the file.
    fn text_before(
        &self,
        environment: &Environment<'_>,
        text: &str,
        removed: String,
    ) -> Option<String> {
        let Ok(Some(members)) = self.entry(text) else {
            return Some(removed);
        };
        let leads_here = |before: &str| {
            let after = self.inserted(before, &members, false);
            before == removed || after.is_ok_and(|after| after == text)
        };
        let backups = file::backups(self.file).into_iter();
        let mut backups = backups.filter_map(|backup| read(environment, &backup).ok()?);
        if let Some(before) = backups.find(|before| leads_here(before)) {
            return Some(before);
        }
        let is_created =
            removed.is_empty() || self.inserted("", &members, false).as_deref() == Ok(text);
        // The removal of a linked file would leave a link to nothing.
        let is_created = is_created && !self.file.is_symlink();
        (!is_created).then_some(removed)
    }

    fn error(&self, error: TextError, members: Option<&JsonObject>) -> EditError {
        let (file, name) = (self.file.to_owned(), self.name.to_owned());
        match error {
            TextError::Syntax(error) => syntax_error(self.file, error).into(),
            TextError::Exists => EditError::Exists { file, name },
            TextError::Absent => EditError::Absent {
                file,
                name,
                suggestion: String::new(),
            },
            TextError::NotEditable(reason) => EditError::NotEditable {
                file,
                reason,
                by_hand: members.map_or_else(String::new, |members| self.by_hand(members)),
            },
        }
    }

    /// Returns the lines that the user can add.
    fn by_hand(&self, members: &JsonObject) -> String {
        let lines = match self.kind {
            Kind::Yaml => yaml::lines(&self.path, self.name, members),
            Kind::Json | Kind::Toml => self.inserted("", members, false).unwrap_or_default(),
        };
        format!("; add these lines by hand:\n{}", lines.trim_end())
    }

    fn absent(&self, text: &str) -> EditError {
        let value = self.value(text).unwrap_or_default();
        let mut place = Some(&value);
        for key in &self.path {
            place = place.and_then(|place| place.get(key));
        }
        let names = place.and_then(Value::as_object).into_iter().flatten();
        EditError::Absent {
            file: self.file.to_owned(),
            name: self.name.to_owned(),
            suggestion: suggestion(self.name, names.map(|(name, _)| name.as_str())),
        }
    }
}

/// Adds an entry to an arbitrary text, and removes it.
///
/// # Panics
///
/// If the entry is absent after it was added, or present after it was removed.
#[cfg(feature = "trial")]
pub(super) fn trial(kind: u8, text: &str) {
    let (host, file) = match kind % 3 {
        0 => ("cursor", "f.json"),
        1 => ("codex", "f.toml"),
        _ => ("goose", "f.yaml"),
    };
    let Some(host) = Host::by_id(host) else {
        return;
    };
    let target = Target::new(host, Path::new(file), "b");
    let members = [("command".to_owned(), Value::from("x\"\n"))]
        .into_iter()
        .collect();
    let Ok(after) = target.inserted(text, &members, true) else {
        return;
    };
    assert_eq!(target.entry(&after), Ok(Some(members)), "another entry");
    if let Ok(rest) = target.removed(&after) {
        assert_eq!(target.entry(&rest), Ok(None), "the entry stays");
    }
}

const OTHER_MEANING: TextError = TextError::NotEditable("the result would have another meaning");

/// Sets a value below a path of keys. Returns `None` if a value on the path is not an object.
fn set(value: &mut Value, path: &[&str], name: &str, entry: Value) -> Option<()> {
    let mut place = value.as_object_mut()?;
    for key in path {
        let inner = place.entry(*key).or_insert(Value::Null);
        if inner.is_null() {
            *inner = Value::Object(JsonObject::new());
        }
        place = inner.as_object_mut()?;
    }
    place.insert(name.to_owned(), entry);
    Some(())
}

fn syntax_error(file: &Path, error: SyntaxError) -> ConfigError {
    ConfigError::Syntax {
        file: file.to_owned(),
        line: error.line,
        reason: error.reason,
    }
}

/// Reads a file of a host; `None` if it does not exist.
fn read(environment: &Environment<'_>, file: &Path) -> Result<Option<String>, ConfigError> {
    let limit = match Kind::of(file) {
        Kind::Yaml => YAML_BYTES,
        Kind::Json | Kind::Toml => FILE_BYTES,
    };
    let read = environment.disk.read(file, limit);
    read.map_err(|source| match source.kind() {
        std::io::ErrorKind::FileTooLarge => ConfigError::TooLarge {
            file: file.to_owned(),
            limit,
        },
        _ => ConfigError::Unreadable {
            file: file.to_owned(),
            source,
        },
    })
}
