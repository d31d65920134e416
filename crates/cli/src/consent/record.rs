//! The stored consents: one file of JSON in the user's own settings directory.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use pintle_hosts::{Environment, FileSource as _, LocalFiles};

/// Maximum number of stored consents; a further one replaces the oldest.
const MOST: usize = 256;

/// Maximum size of a stored definition, in bytes. The tool asks about a larger one every time.
const DEFINITION_BYTES: usize = 64 * 1024;

/// Maximum size of the file, in bytes. All definitions fit into it, with room for names.
const FILE_BYTES: u64 = 32 * 1024 * 1024;

/// The consents of one user.
pub(super) struct Consents {
    /// The file of the consents. Absent if the user has no settings directory.
    file: Option<PathBuf>,
}

/// The content of the file of consents.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The oldest is first.
    servers: Vec<Agreed>,
}

/// The consent to one server of one file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Agreed {
    file: PathBuf,
    name: String,
    definition: Value,
}

impl Consents {
    /// Opens the consents of the user who runs the tool.
    pub(super) fn of_user(environment: &Environment<'_>) -> Self {
        Self {
            file: environment.own_file("trusted-servers.json"),
        }
    }

    /// Whether the user has agreed to just this definition in just this file.
    pub(super) fn contain(&self, file: &Path, name: &str, definition: &Value) -> bool {
        let file = resolved(file);
        let mut agreed = self.read().servers.into_iter();
        agreed.any(|agreed| {
            agreed.file == file && agreed.name == name && agreed.definition == *definition
        })
    }

    /// Stores a consent. It replaces an earlier one to the same server of the same file.
    ///
    /// # Errors
    ///
    /// If the user has no settings directory, if the definition is too large, or those of the system.
    pub(super) fn add(&self, file: &Path, name: &str, definition: Value) -> io::Result<()> {
        let Some(place) = &self.file else {
            let reason = "the user has no settings directory";
            return Err(io::Error::new(io::ErrorKind::NotFound, reason));
        };
        if definition.to_string().len() > DEFINITION_BYTES {
            let reason = "the definition is too large";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        let file = resolved(file);
        let mut record = self.read();
        record
            .servers
            .retain(|agreed| agreed.file != file || agreed.name != name);
        record.servers.push(Agreed {
            file,
            name: name.to_owned(),
            definition,
        });
        let excess = record.servers.len().saturating_sub(MOST);
        record.servers.drain(..excess);
        write(place, &serde_json::to_vec_pretty(&record)?)
    }

    /// Reads the consents. An unreadable file counts as empty, so the tool asks the user again.
    fn read(&self) -> Record {
        let read = |file: &PathBuf| LocalFiles.read(file, FILE_BYTES).ok().flatten();
        let text = self.file.as_ref().and_then(read).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

/// Returns the real path of a file, so that a link cannot stand for the file of another project.
fn resolved(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

/// Replaces a file as a whole. Only its owner may read it: a definition may contain keys.
fn write(place: &Path, text: &[u8]) -> io::Result<()> {
    let directory = place.parent().unwrap_or(place);
    fs::create_dir_all(directory)?;
    let draft = place.with_extension(format!("{}.draft", std::process::id()));
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&draft)
        .and_then(|mut file| file.write_all(text).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, place));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Consents in a directory that is removed afterwards.
    struct Stored(PathBuf);

    impl Stored {
        fn new(name: &str) -> Self {
            let name = format!("pintle-consents-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn consents(&self) -> Consents {
            Consents {
                file: Some(self.0.join("pintle/trusted-servers.json")),
            }
        }
    }

    impl Drop for Stored {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_consent_is_for_one_file_one_name_and_one_definition() {
        let stored = Stored::new("one");
        let (file, definition) = (Path::new("/p/.mcp.json"), json!({ "command": "x" }));
        assert!(!stored.consents().contain(file, "a", &definition));
        let added = stored.consents().add(file, "a", definition.clone());
        added.expect("stored");
        let consents = stored.consents();
        assert!(consents.contain(file, "a", &definition));
        assert!(!consents.contain(Path::new("/q/.mcp.json"), "a", &definition));
        assert!(!consents.contain(file, "b", &definition));
        assert!(!consents.contain(file, "a", &json!({ "command": "x", "env": {} })));

        // A new consent to a server replaces the one before.
        let other = json!({ "command": "y" });
        consents.add(file, "a", other.clone()).expect("stored");
        assert!(consents.contain(file, "a", &other) && !consents.contain(file, "a", &definition));
    }

    #[test]
    fn the_number_and_the_size_of_consents_are_bounded() {
        let stored = Stored::new("many");
        let consents = stored.consents();
        let file = Path::new("/p/.mcp.json");
        let servers = (0..MOST).map(|number| Agreed {
            file: file.to_owned(),
            name: number.to_string(),
            definition: Value::Null,
        });
        let record = Record {
            servers: servers.collect(),
        };
        let text = serde_json::to_vec(&record).expect("written");
        write(consents.file.as_ref().expect("a place"), &text).expect("stored");
        assert!(consents.contain(file, "0", &Value::Null));
        consents.add(file, "new", Value::Null).expect("stored");
        assert!(!consents.contain(file, "0", &Value::Null));
        assert!(consents.contain(file, "1", &Value::Null));
        assert!(consents.contain(file, "new", &Value::Null));

        let large = Value::from("x".repeat(DEFINITION_BYTES));
        let error = consents.add(file, "large", large).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let nowhere = Consents { file: None };
        assert!(nowhere.add(file, "a", Value::Null).is_err());
    }

    #[test]
    fn a_file_that_makes_no_sense_holds_no_consent() {
        let stored = Stored::new("odd");
        let consents = stored.consents();
        let place = consents.file.as_ref().expect("a place");
        write(place, b"{ nonsense").expect("stored");
        assert!(!consents.contain(Path::new("/p"), "a", &Value::Null));
        consents
            .add(Path::new("/p"), "a", Value::Null)
            .expect("stored");
        assert!(consents.contain(Path::new("/p"), "a", &Value::Null));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(place).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
