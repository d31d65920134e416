//! The files of the page, which are a part of the program.
//!
//! They are one compressed block, because alone they are small and repeat the words of each other. The build script
//! writes the block, and the place of each file in it.

use std::io::Read as _;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::read::DeflateDecoder;

/// A file of the page.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) media_type: &'static str,
    pub(crate) text: Bytes,
}

/// The place of a file in the block.
struct Entry {
    path: &'static str,
    bytes: Range<usize>,
}

const BLOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.deflate"));
const INDEX: &[Entry] = include!(concat!(env!("OUT_DIR"), "/index.rs"));

/// Returns the file of a path.
pub(crate) fn file(path: &str) -> Option<File> {
    let entry = INDEX.iter().find(|entry| entry.path == path)?;
    Some(File {
        media_type: media_type(path),
        text: texts().slice(entry.bytes.clone()),
    })
}

/// Returns the texts of all files. The first call unpacks them.
fn texts() -> &'static Bytes {
    static TEXTS: OnceLock<Bytes> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut texts = Vec::new();
        let unpacked = DeflateDecoder::new(BLOCK).read_to_end(&mut texts);
        unpacked.expect("the build script compressed the block");
        texts.into()
    })
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths and texts of the scripts.
    fn scripts() -> impl Iterator<Item = (&'static str, String)> {
        let paths = INDEX.iter().map(|entry| entry.path);
        paths
            .filter(|path| path.ends_with(".js"))
            .map(|path| (path, text(path)))
    }

    fn text(path: &str) -> String {
        let bytes = file(path).expect("a file").text;
        String::from_utf8(bytes.to_vec()).expect("a text")
    }

    // With the code of the page, this is its share of the program, which has a limit of 400 KB.
    #[test]
    fn the_files_take_less_than_48_kb_of_the_program() {
        assert!(BLOCK.len() < 48_000, "{}", BLOCK.len());
        let most = INDEX.iter().map(|entry| entry.bytes.end).max();
        assert_eq!(most, Some(texts().len()));
    }

    #[test]
    fn files_have_the_bytes_of_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        for (path, name) in [
            ("/", "index.html"),
            ("/page.css", "page.css"),
            ("/js/main.js", "js/main.js"),
        ] {
            let stored = std::fs::read(folder.join(name)).expect("a file");
            assert_eq!(file(path).expect("a file").text, stored, "{path}");
        }
        assert!(file("/js/none.js").is_none());
        assert!(file("/index.html").is_none());
    }

    #[test]
    fn files_have_the_type_of_their_name() {
        let types = ["/", "/page.css", "/icon.svg", "/js/main.js"]
            .map(|path| file(path).expect("a file").media_type);
        let expected = [
            "text/html; charset=utf-8",
            "text/css; charset=utf-8",
            "image/svg+xml",
            "text/javascript; charset=utf-8",
        ];
        assert_eq!(types, expected);
    }

    #[test]
    fn scripts_import_files_of_the_page_only() {
        for (path, text) in scripts() {
            for line in text.lines().filter(|line| line.contains(" from ")) {
                let Some((_, name)) = line.split_once(" from \"./") else {
                    assert!(!line.starts_with("import"), "{path}: {line}");
                    continue;
                };
                let name = name.trim_end_matches("\";");
                assert!(file(&format!("/js/{name}")).is_some(), "{path}: {name}");
            }
        }
    }

    #[test]
    fn texts_never_become_markup() {
        // Each of these turns a text into markup, a style or a script.
        let sinks = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "srcdoc",
            "setHTML",
            "createContextualFragment",
            "DOMParser",
            "javascript:",
            "cssText",
            "setTimeout(\"",
        ];
        for (path, text) in scripts() {
            for sink in sinks {
                assert!(!text.contains(sink), "{path} has {sink}");
            }
        }
    }

    #[test]
    fn the_document_has_no_inline_scripts_and_styles() {
        let document = text("/");
        for inline in [
            "<script>",
            "<style",
            " style=",
            " onclick",
            " onload",
            "javascript:",
        ] {
            assert!(!document.contains(inline), "{inline}");
        }
    }
}
