//! URIs of skills: `skill://<path>/<file>`, every name encoded.

use crate::error::SkillErrorKind;

pub(crate) const SCHEME: &str = "skill://";
pub(crate) const SKILL_MD: &str = "SKILL.md";

/// Splits a relative path into its names.
///
/// # Errors
///
/// [`SkillErrorKind::Name`] for names that are empty, lead elsewhere or are special in a file system;
/// [`SkillErrorKind::TooMuch`] for too many names.
pub(crate) fn names(path: &str, depth: usize) -> Result<Vec<&str>, SkillErrorKind> {
    let names: Vec<&str> = path.split('/').collect();
    if names.len() > depth {
        return Err(SkillErrorKind::too_much("depth", depth));
    }
    match names.iter().all(|name| is_name(name)) {
        true => Ok(names),
        false => Err(SkillErrorKind::Name),
    }
}

/// Whether a file or directory of a skill may have a name. Names that begin with a dot are left out,
/// because directories on disk leave them out as well.
pub(crate) fn is_name(name: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\');
    !name.is_empty() && !name.starts_with('.') && !name.contains(is_odd) && name.len() <= 255
}

/// The URI of a path.
pub(crate) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut uri = String::from(SCHEME);
    for (number, name) in names.into_iter().enumerate() {
        if number > 0 {
            uri.push('/');
        }
        encode(name, &mut uri);
    }
    uri
}

/// The URI of a path inside the directory of a URI.
pub(crate) fn inside(directory: &str, path: &str) -> String {
    let mut uri = String::from(directory);
    for name in path.split('/') {
        uri.push('/');
        encode(name, &mut uri);
    }
    uri
}

/// The directory that contains a URI; none for a topmost directory.
pub(crate) fn parent(uri: &str) -> Option<&str> {
    let path = uri.strip_prefix(SCHEME)?;
    let (parent, _) = path.rsplit_once('/')?;
    uri.get(..SCHEME.len() + parent.len())
}

/// Encodes all characters except the unreserved ones of RFC 3986.
fn encode(name: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            _ => {
                out.push('%');
                out.push(HEX[usize::from(byte >> 4)].into());
                out.push(HEX[usize::from(byte & 15)].into());
            }
        }
    }
}

/// Whether a skill may have a name: 1 to 64 of `a–z 0–9`, and single `-` inside.
pub(crate) fn is_skill_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&name.len())
        && name.chars().all(is_allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-90
    #[test]
    fn a_path_never_leads_elsewhere() {
        for path in [
            "..", "a/../b", "a//b", "/etc", "a/", "a\\..\\b", "a/\0", "", ".", ".git/x", "c:\\x",
        ] {
            assert!(names(path, 16).is_err(), "{path:?}");
        }
        assert!(matches!(
            names("a/b/c", 2),
            Err(SkillErrorKind::TooMuch {
                setting: "depth",
                ..
            })
        ));
        assert_eq!(
            names("a/b c/ü.md", 16).expect("names"),
            ["a", "b c", "ü.md"]
        );
    }

    #[test]
    fn names_are_encoded_one_by_one() {
        assert_eq!(of(["acme", "b c"]), "skill://acme/b%20c");
        assert_eq!(inside("skill://a", "x/ü%.md"), "skill://a/x/%C3%BC%25.md");
        assert_eq!(parent("skill://a/x/y"), Some("skill://a/x"));
        assert_eq!(parent("skill://a"), None);
    }

    // spec: 2026-07-28 X-SKILL-03
    #[test]
    fn names_of_skills_are_short_and_plain() {
        for name in ["a", "pdf-processing", "0", &"a".repeat(64)] {
            assert!(is_skill_name(name), "{name}");
        }
        for name in [
            "",
            "A",
            "-a",
            "a-",
            "a--b",
            "a_b",
            "ü",
            "a.b",
            &"a".repeat(65),
        ] {
            assert!(!is_skill_name(name), "{name}");
        }
    }
}
