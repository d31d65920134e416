//! The places in which texts stand.

use std::fmt;

/// A place in which a text stands. The rules are stricter in some places than in others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// A comment in Rust code, or rustdoc outside of the facade.
    Comment,
    /// A Markdown file.
    Markdown,
    /// The name of a test.
    Test,
    /// The text of an error.
    Error,
    /// The help of the command line.
    Help,
    /// `README.md` or `SECURITY.md`.
    Page,
    /// The rustdoc of the facade.
    Rustdoc,
    /// The subject of a commit.
    Subject,
}

const NAMES: [(Place, &str); 8] = [
    (Place::Comment, "comment"),
    (Place::Markdown, "markdown"),
    (Place::Test, "test"),
    (Place::Error, "error"),
    (Place::Help, "help"),
    (Place::Page, "page"),
    (Place::Rustdoc, "rustdoc"),
    (Place::Subject, "subject"),
];

impl Place {
    /// The place that `counts.txt` names so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let row = NAMES.iter().find(|(_, known)| *known == name);
        row.map(|(place, _)| *place)
    }

    /// Returns true if the phrases of the rules are forbidden here, not rationed.
    pub(crate) fn is_strict(self) -> bool {
        !matches!(self, Self::Comment | Self::Markdown | Self::Test)
    }

    /// The place of the comments in a Rust file.
    pub(crate) fn of_comments(path: &str, is_doc: bool) -> Self {
        if is_doc && is_help(path) {
            Self::Help
        } else if is_doc && path.starts_with("crates/pintle/src/") {
            Self::Rustdoc
        } else {
            Self::Comment
        }
    }

    /// The place of the text of a Markdown file.
    pub(crate) fn of_page(path: &str) -> Self {
        if matches!(path, "README.md" | "SECURITY.md") {
            Self::Page
        } else {
            Self::Markdown
        }
    }
}

/// Returns true if the docs of a Rust file are the help of the command line.
pub(crate) fn is_help(path: &str) -> bool {
    path == "crates/cli/src/args.rs" || path.starts_with("crates/cli/src/args/")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = NAMES.iter().find(|(place, _)| place == self);
        f.pad(row.map_or("", |(_, name)| name))
    }
}
