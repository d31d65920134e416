//! The YAML at the beginning of `SKILL.md`.

use pintle::model::JsonObject;
use serde_json::Value;

use crate::error::SkillErrorKind;
use crate::{uri, yaml};

/// The description of a skill, as its author wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frontmatter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) members: JsonObject,
}

impl Frontmatter {
    /// Reads the beginning of a `SKILL.md`.
    ///
    /// # Errors
    ///
    /// [`SkillErrorKind`] if the file is not a valid `SKILL.md`.
    pub(crate) fn read(file: &[u8], limit_bytes: usize) -> Result<Self, SkillErrorKind> {
        let text = std::str::from_utf8(file).map_err(|_| SkillErrorKind::NotText)?;
        let block = block(text).ok_or(SkillErrorKind::NoFrontmatter)?;
        if block.len() > limit_bytes {
            return Err(SkillErrorKind::too_much("frontmatter_bytes", limit_bytes));
        }
        Self::of(yaml::object(block)?)
    }

    fn of(members: JsonObject) -> Result<Self, SkillErrorKind> {
        let text = |field| {
            members
                .get(field)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let name = text("name").filter(|name| uri::is_skill_name(name));
        let is_fit = |text: &String| (1..=1024).contains(&text.chars().count());
        let description = text("description").filter(is_fit);
        Ok(Self {
            name: name.ok_or(SkillErrorKind::Field {
                field: "name",
                rule: "1 to 64 lower-case letters, digits and single hyphens between them",
            })?,
            description: description.ok_or(SkillErrorKind::Field {
                field: "description",
                rule: "1 to 1,024 characters",
            })?,
            members,
        })
    }
}

/// The text between the first line, which is `---`, and the next such line.
fn block(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..length);
        }
        length += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Frontmatter, SkillErrorKind> {
        Frontmatter::read(text.as_bytes(), 100)
    }

    // spec: 2026-07-28 X-SKILL-03
    #[test]
    fn frontmatter_stands_between_two_lines_of_hyphens() {
        for text in [
            "---\nname: a\ndescription: d\n---\nbody",
            "\u{FEFF}---\r\nname: a\r\ndescription: d\r\n---\r\n",
            "---\nname: a\ndescription: d\n---",
        ] {
            let read = read(text).expect("frontmatter");
            assert_eq!((&*read.name, &*read.description), ("a", "d"), "{text:?}");
            assert_eq!(
                Value::Object(read.members),
                json!({"name": "a", "description": "d"})
            );
        }
        for text in [
            "",
            "name: a",
            "---\nname: a\n",
            "# ---\n---\n---\n",
            "--- a\nname: a\n---\n",
        ] {
            assert!(
                matches!(read(text), Err(SkillErrorKind::NoFrontmatter)),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_skill_without_a_required_field_is_rejected() {
        for (text, missing) in [
            ("---\ndescription: d\n---\n", "name"),
            ("---\nname: A\ndescription: d\n---\n", "name"),
            ("---\nname: 7\ndescription: d\n---\n", "name"),
            ("---\nname: a\n---\n", "description"),
            ("---\nname: a\ndescription: ''\n---\n", "description"),
        ] {
            match read(text) {
                Err(SkillErrorKind::Field { field, .. }) => assert_eq!(field, missing),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn frontmatter_is_bounded_text() {
        let of =
            |length: usize| format!("---\nname: a\ndescription: {}\n---\n", "d".repeat(length));
        let around = "name: a\ndescription: \n".len();
        assert!(read(&of(100 - around)).is_ok());
        assert!(matches!(
            read(&of(101 - around)),
            Err(SkillErrorKind::TooMuch { limit: 100, .. })
        ));
        let not_text = Frontmatter::read(b"---\nname: \xFF\n---\n", 100);
        assert!(matches!(not_text, Err(SkillErrorKind::NotText)));
        let long = format!("---\nname: a\ndescription: {}\n---\n", "d".repeat(1025));
        let long = Frontmatter::read(long.as_bytes(), 4096);
        assert!(matches!(
            long,
            Err(SkillErrorKind::Field {
                field: "description",
                ..
            })
        ));
    }
}
