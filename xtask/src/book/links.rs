//! Links between pages, and to files and headings of this repository.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use regex_lite::Regex;

use super::read;
use crate::failure::Result;

/// Pages of the book link to files outside of the book by their URL, because the built book has no others.
const FILES: &str = "https://github.com/pintle-mcp/pintle/blob/main/";

/// A page: its links and its headings.
struct Page {
    links: Vec<String>,
    anchors: Vec<String>,
}

/// Returns the links that lead to no file or no heading.
pub(super) fn faults(root: &Path, paths: &[PathBuf]) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    for path in paths {
        pages.insert(path.clone(), Page::of(&read(path)?));
    }
    let mut faults = Vec::new();
    for (path, page) in &pages {
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        let broken = page
            .links
            .iter()
            .filter(|link| !is_good(root, path, link, &pages));
        faults.extend(broken.map(|link| format!("{shown}: nothing is at {link}")));
    }
    Ok(faults)
}

/// Whether a link leads to a file and a heading that exist. Links to other sites are not checked.
fn is_good(root: &Path, from: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match (file.strip_prefix(FILES), file) {
        (Some(file), _) => root.join(file),
        (None, "") => from.to_path_buf(),
        (None, file) if file.contains("://") || file.starts_with("mailto:") => return true,
        (None, file) => normal(&from.with_file_name("").join(file)),
    };
    let has_anchor = |page: &Page| page.anchors.iter().any(|known| known == anchor);
    match pages.get(&target) {
        Some(page) => anchor.is_empty() || has_anchor(page),
        None => target.exists(),
    }
}

/// Removes `..` from a path.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

impl Page {
    /// Reads a page. Code blocks and code spans have no links.
    fn of(text: &str) -> Self {
        let link = Regex::new(r"\]\(([^)\s]+)\)").expect("a valid pattern");
        let span = Regex::new(r"`[^`]*`").expect("a valid pattern");
        let (mut links, mut anchors, mut is_code) = (Vec::new(), Vec::new(), false);
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                anchors.extend(heading(line).map(anchor));
                let bare = span.replace_all(line, "");
                links.extend(link.captures_iter(&bare).map(|found| found[1].to_owned()));
            }
        }
        Self { links, anchors }
    }
}

/// Returns the text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level).then_some(text)?.strip_prefix(' ')
}

/// Returns the anchor of a heading: lower case, with `-` for a blank, without punctuation.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let kept = letters.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c => (c.is_alphanumeric() || "-_".contains(c)).then_some(c),
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_links_and_anchors_outside_of_code() {
        let page =
            Page::of("# A `b`: c, d\n[x](y.md#z) `[no](no.md)`\n```sh\n# no\n[no](no)\n```\n");
        assert_eq!(page.links, ["y.md#z"]);
        assert_eq!(page.anchors, ["a-b-c-d"]);
    }

    #[test]
    fn a_link_leads_to_a_page_and_a_heading() {
        let root = Path::new("/r");
        let pages = [("/r/a/b.md", "# One"), ("/r/c.md", "## Two words")];
        let pages = pages.map(|(path, text)| (PathBuf::from(path), Page::of(text)));
        let pages = BTreeMap::from(pages);
        let is_good = |link: &str| is_good(root, Path::new("/r/a/b.md"), link, &pages);
        let by_url = |rest: &str| format!("{FILES}{rest}");
        for link in [
            "#one",
            "b.md",
            "../c.md#two-words",
            "https://other.example/#x",
        ] {
            assert!(is_good(link), "{link}");
        }
        assert!(is_good(&by_url("c.md#two-words")));
        for link in ["#two-words", "c.md", "../c.md#one"] {
            assert!(!is_good(link), "{link}");
        }
        assert!(!is_good(&by_url("d.md")));
    }
}
