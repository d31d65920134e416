//! What a client is told of a skill, and the check of what it reads against that.

use std::fmt;

use pintle::model::{Extra, JsonObject};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::frontmatter::Frontmatter;
use crate::uri::SKILL_MD;

/// One skill, as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillEntry {
    /// Where its `SKILL.md` is.
    pub uri: String,
    /// The YAML of its `SKILL.md`, as JSON.
    pub frontmatter: JsonObject,
    /// Its files.
    pub resources: SkillFiles,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The files of a skill. Closed: a skill tells all of them or none.
#[derive(Debug, Clone, PartialEq)]
pub enum SkillFiles {
    /// All of them, `SKILL.md` included, each once.
    All(Vec<SkillFile>),
    /// They are made when they are asked for.
    Dynamic,
}

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// Where it is.
    pub uri: String,
    /// `sha256:` and 64 hexadecimal digits: the hash of its bytes.
    pub digest: String,
    /// How many bytes it has.
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

/// Why what was read is not what was told. Whoever finds one does not use the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The file is none of this skill.
    #[error("the file is none of this skill")]
    Foreign,
    /// It has another size.
    #[error("the file has {found} bytes, not {told}")]
    Size {
        /// What was told.
        told: u64,
        /// What was read.
        found: u64,
    },
    /// It has another digest.
    #[error("the file has another digest")]
    Digest,
    /// The YAML of `SKILL.md` says something else.
    #[error("the YAML of the file says something else")]
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

    /// Checks bytes that were read at `uri` against what this entry says of them: for hosts, before
    /// they show them to a model.
    ///
    /// # Errors
    ///
    /// [`Mismatch`]: the file must not be used; the entry can be asked for again.
    pub fn check(&self, uri: &str, bytes: &[u8]) -> Result<(), Mismatch> {
        match &self.resources {
            SkillFiles::All(files) => check_file(files, uri, bytes)?,
            SkillFiles::Dynamic => self.check_place(uri)?,
        }
        if uri != self.uri {
            return Ok(());
        }
        match Frontmatter::read(bytes, bytes.len()) {
            Ok(read) if read.members == self.frontmatter => Ok(()),
            _ => Err(Mismatch::Frontmatter),
        }
    }

    fn check_place(&self, uri: &str) -> Result<(), Mismatch> {
        let path = uri.strip_prefix(self.directory());
        let path = path.and_then(|path| path.strip_prefix('/'));
        let is_inside = |path: &str| path.split('/').all(|name| !matches!(name, "" | "." | ".."));
        match path.is_some_and(is_inside) {
            true => Ok(()),
            false => Err(Mismatch::Foreign),
        }
    }
}

fn check_file(files: &[SkillFile], uri: &str, bytes: &[u8]) -> Result<(), Mismatch> {
    let told = files.iter().find(|file| file.uri == uri);
    let told = told.ok_or(Mismatch::Foreign)?;
    let found = bytes.len() as u64;
    if told.size != found {
        return Err(Mismatch::Size {
            told: told.size,
            found,
        });
    }
    match told.digest == digest(bytes) {
        true => Ok(()),
        false => Err(Mismatch::Digest),
    }
}

fn digest(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("text takes everything");
    }
    text
}

/// Whether a URI is that of a `SKILL.md`.
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
    fn a_file_that_was_tampered_with_is_found() {
        let listed = vec![
            SkillFile::of("skill://a/SKILL.md", TEXT),
            SkillFile::of("skill://a/x", b"abc"),
        ];
        let entry = entry(SkillFiles::All(listed));
        assert_eq!(entry.check("skill://a/SKILL.md", TEXT), Ok(()));
        assert_eq!(entry.check("skill://a/x", b"abc"), Ok(()));
        assert_eq!(entry.check("skill://a/x", b"abd"), Err(Mismatch::Digest));
        let size = Mismatch::Size { told: 3, found: 4 };
        assert_eq!(entry.check("skill://a/x", b"abcd"), Err(size));
        assert_eq!(entry.check("skill://a/y", b"abc"), Err(Mismatch::Foreign));
        let mut lying = entry.clone();
        lying.frontmatter["description"] = json!("other");
        assert_eq!(
            lying.check("skill://a/SKILL.md", TEXT),
            Err(Mismatch::Frontmatter)
        );
    }

    // spec: 2026-07-28 X-SKILL-08
    #[test]
    fn files_that_are_made_on_demand_stay_in_their_directory() {
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
            assert_eq!(entry.check(uri, b""), Err(Mismatch::Foreign), "{uri}");
        }
    }
}
