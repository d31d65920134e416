//! The media type of a file, by its name and its content.

/// Media types by the extension of a name.
const BY_EXTENSION: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("ts", "text/x-typescript"),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("sh", "application/x-sh"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
];

/// The type of a directory.
pub(crate) const DIRECTORY: &str = "inode/directory";

/// The text of a file; `None` if its bytes are not UTF-8 or contain NUL.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok();
    text.filter(|text| !text.contains('\0'))
}

/// The type of a file called `name`.
pub(crate) fn of(name: &str, bytes: &[u8]) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let row = BY_EXTENSION
        .iter()
        .find(|(row, _)| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(row)));
    match row {
        Some((_, mime)) => mime,
        None if text(bytes).is_some() => "text/plain",
        None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{of, text};

    #[test]
    fn the_name_decides_the_type_before_the_content() {
        assert_eq!(of("SKILL.md", b"\xFF"), "text/markdown");
        assert_eq!(of("a.tar.PNG", b""), "image/png");
        assert_eq!(of("Makefile", b"all:"), "text/plain");
        assert_eq!(of("data", b"\xFF"), "application/octet-stream");
        assert_eq!(of("data", b"a\0b"), "application/octet-stream");
    }

    #[test]
    fn bytes_with_nul_are_not_text() {
        assert_eq!(text("50 €\n".as_bytes()), Some("50 €\n"));
        assert_eq!(text(b"a\0b"), None);
        assert_eq!(text(b"\xFF"), None);
    }
}
