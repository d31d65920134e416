//! The entry of a skill in a list, and the check of a file against its entry.

use std::fmt;

use pintle::model::{Extra, JsonObject};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::frontmatter::Frontmatter;
use crate::uri::SKILL_MD;

/// The entry of one skill in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillEntry {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The YAML of its `SKILL.md`, as JSON.
    pub frontmatter: JsonObject,
    /// The files of the skill.
    pub resources: SkillFiles,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The files of a skill. Closed, because an entry lists all of them or none.
#[derive(Debug, Clone, PartialEq)]
pub enum SkillFiles {
    /// All files, `SKILL.md` included, each once.
    All(Vec<SkillFile>),
    /// The server generates the files on request.
    Dynamic,
}

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// The URI of the file.
    pub uri: String,
    /// The hash of the bytes: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// Size in bytes.
    pub size: u64,
}

impl SkillFile {
    /// Describes a file by its bytes.
    pub fn of(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            uri: uri.into(),
            digest: digest(bytes),
            size: bytes.len() as u64,
        }
    }
}

/// Why a file does not match its entry. A host must not use the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileMismatchError {
    /// The file does not belong to this skill.
    #[error("the file does not belong to this skill")]
    Foreign,
    /// The sizes differ.
    #[error("the file has {found} bytes, not {expected}")]
    Size {
        /// The size in the entry, in bytes.
        expected: u64,
        /// The size of the file, in bytes.
        found: u64,
    },
    /// The digests differ.
    #[error("the file has another digest")]
    Digest,
    /// The YAML of `SKILL.md` differs from the entry.
    #[error("the YAML of the file differs from the entry")]
    Frontmatter,
}

impl SkillEntry {
    pub(crate) fn new(uri: String, frontmatter: JsonObject, resources: SkillFiles) -> Self {
        Self {
            uri,
            frontmatter,
            resources,
            extra: Extra::new(),
        }
    }

    /// The URI of the skill's directory, without a slash at its end.
    pub fn directory(&self) -> &str {
        let parts = self.uri.rsplit_once('/');
        parts.map_or(&*self.uri, |(directory, _)| directory)
    }

    /// Checks the bytes of the file at `uri` against this entry. A host calls it before a model sees
    /// the file.
    ///
    /// # Errors
    ///
    /// [`FileMismatchError`]. The host must not use the file; it may request the entry again.
    pub fn check(&self, uri: &str, bytes: &[u8]) -> Result<(), FileMismatchError> {
        match &self.resources {
            SkillFiles::All(files) => check_file(files, uri, bytes)?,
            SkillFiles::Dynamic => self.check_place(uri)?,
        }
        if uri != self.uri {
            return Ok(());
        }
        match Frontmatter::read(bytes, bytes.len()) {
            Ok(read) if read.members == self.frontmatter => Ok(()),
            _ => Err(FileMismatchError::Frontmatter),
        }
    }

    fn check_place(&self, uri: &str) -> Result<(), FileMismatchError> {
        let path = uri.strip_prefix(self.directory());
        let path = path.and_then(|path| path.strip_prefix('/'));
        let is_inside = |path: &str| path.split('/').all(|name| !matches!(name, "" | "." | ".."));
        match path.is_some_and(is_inside) {
            true => Ok(()),
            false => Err(FileMismatchError::Foreign),
        }
    }
}

fn check_file(files: &[SkillFile], uri: &str, bytes: &[u8]) -> Result<(), FileMismatchError> {
    let expected = files.iter().find(|file| file.uri == uri);
    let expected = expected.ok_or(FileMismatchError::Foreign)?;
    let found = bytes.len() as u64;
    if expected.size != found {
        return Err(FileMismatchError::Size {
            expected: expected.size,
            found,
        });
    }
    match expected.digest == digest(bytes) {
        true => Ok(()),
        false => Err(FileMismatchError::Digest),
    }
}

fn digest(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a string accepts all text");
    }
    text
}

/// Whether a URI names a `SKILL.md`.
pub(crate) fn is_skill_md(uri: &str) -> bool {
    uri.rsplit_once('/')
        .is_some_and(|(_, name)| name == SKILL_MD)
}

const DYNAMIC: &str = "dynamic";

impl Serialize for SkillFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(files) => files.serialize(serializer),
            Self::Dynamic => serializer.serialize_str(DYNAMIC),
        }
    }
}

impl<'de> Deserialize<'de> for SkillFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilesVisitor)
    }
}

struct FilesVisitor;

impl<'de> Visitor<'de> for FilesVisitor {
    type Value = SkillFiles;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of files or \"{DYNAMIC}\"")
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<SkillFiles, E> {
        match word {
            DYNAMIC => Ok(SkillFiles::Dynamic),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<SkillFiles, A::Error> {
        let mut files = Vec::new();
        while let Some(file) = seq.next_element()? {
            files.push(file);
        }
        Ok(SkillFiles::All(files))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    const TEXT: &[u8] = b"---\nname: a\ndescription: d\n---\n";

    fn entry(resources: SkillFiles) -> SkillEntry {
        let frontmatter = Frontmatter::read(TEXT, 1024).expect("frontmatter").members;
        SkillEntry::new("skill://a/SKILL.md".into(), frontmatter, resources)
    }

    // spec: 2026-07-28 X-SKILL-04
    #[test]
    fn a_digest_is_sha256_of_the_bytes() {
        let file = SkillFile::of("skill://a/x", b"abc");
        let digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((&*file.digest, file.size), (digest, 3));
    }

    #[test]
    fn files_are_a_list_or_a_word() {
        let file = json!({"uri": "skill://a/x", "digest": "sha256:00", "size": 1});
        for wire in [json!([file]), json!([]), json!("dynamic")] {
            let files: SkillFiles = from_value(wire.clone()).expect("files");
            assert_eq!(to_value(files).expect("JSON"), wire);
        }
        for wire in [json!("static"), json!(null), json!({}), json!([1])] {
            assert!(from_value::<SkillFiles>(wire).is_err());
        }
    }

    // spec: 2026-07-28 X-SKILL-08
    #[test]
    fn a_changed_file_does_not_match_its_entry() {
        let listed = vec![
            SkillFile::of("skill://a/SKILL.md", TEXT),
            SkillFile::of("skill://a/x", b"abc"),
        ];
        let entry = entry(SkillFiles::All(listed));
        assert_eq!(entry.check("skill://a/SKILL.md", TEXT), Ok(()));
        assert_eq!(entry.check("skill://a/x", b"abc"), Ok(()));
        assert_eq!(
            entry.check("skill://a/x", b"abd"),
            Err(FileMismatchError::Digest)
        );
        let size = FileMismatchError::Size {
            expected: 3,
            found: 4,
        };
        assert_eq!(entry.check("skill://a/x", b"abcd"), Err(size));
        assert_eq!(
            entry.check("skill://a/y", b"abc"),
            Err(FileMismatchError::Foreign)
        );
        let mut lying = entry.clone();
        lying.frontmatter["description"] = json!("other");
        assert_eq!(
            lying.check("skill://a/SKILL.md", TEXT),
            Err(FileMismatchError::Frontmatter)
        );
    }

    // spec: 2026-07-28 X-SKILL-08
    #[test]
    fn generated_files_stay_in_their_directory() {
        let entry = entry(SkillFiles::Dynamic);
        assert_eq!(entry.check("skill://a/x/y", b""), Ok(()));
        assert_eq!(entry.check("skill://a/SKILL.md", TEXT), Ok(()));
        for uri in [
            "skill://ab/x",
            "skill://a",
            "skill://a/",
            "skill://a/../b/x",
            "file:///x",
        ] {
            assert_eq!(
                entry.check(uri, b""),
                Err(FileMismatchError::Foreign),
                "{uri}"
            );
        }
    }
}
