//! Parts of a path that stay below the directory they are joined to.
//!
//! The checks read the text alone. A handler that opens the file must check links on the disk.

use std::fmt;
use std::path::Path;

use super::error::VariableErrorKind;
use super::typed::{FromVariable, text};
use super::variables::VariableValue;

/// One name in a path: not empty, not `.` or `..`, without separators, drives and NUL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathSegment(Box<str>);

/// A path that stays below where it starts: segments with `/` between them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(Box<str>);

impl PathSegment {
    /// Checks a text, which is not decoded any further.
    ///
    /// # Errors
    ///
    /// [`VariableErrorKind::Unsafe`] says what it would do to a path.
    pub fn new(text: impl Into<String>) -> Result<Self, VariableErrorKind> {
        let text = text.into();
        check_segment(&text)?;
        Ok(Self(text.into_boxed_str()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RelativePath {
    /// Checks a text, which is not decoded any further.
    ///
    /// # Errors
    ///
    /// [`VariableErrorKind::Unsafe`] says where it would lead.
    pub fn new(text: impl Into<String>) -> Result<Self, VariableErrorKind> {
        let text = text.into();
        if text.starts_with('/') {
            return Err(unsafe_because("is absolute"));
        }
        text.split('/').try_for_each(check_segment)?;
        Ok(Self(text.into_boxed_str()))
    }

    /// The text, with `/` between the segments.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names on the way, outermost first.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl FromVariable for PathSegment {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
        Self::new(text(value)?)
    }
}

impl FromVariable for RelativePath {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
        match value {
            // Each is one segment: a separator that was encoded in it must not become one.
            VariableValue::List(segments) => {
                segments
                    .iter()
                    .try_for_each(|segment| check_segment(segment))?;
                Self::new(segments.join("/"))
            }
            value => Self::new(text(value)?),
        }
    }
}

impl AsRef<str> for PathSegment {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for RelativePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for PathSegment {
    fn as_ref(&self) -> &Path {
        Path::new(&*self.0)
    }
}

impl AsRef<Path> for RelativePath {
    fn as_ref(&self) -> &Path {
        Path::new(&*self.0)
    }
}

impl fmt::Display for PathSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_segment(segment: &str) -> Result<(), VariableErrorKind> {
    let reason = match segment {
        "" => "has an empty segment",
        "." | ".." => "walks to another directory",
        text if text.contains(['/', '\\']) => "has a separator in a segment",
        text if text.contains('\0') => "has a NUL",
        // `C:` replaces everything before it when Windows joins paths.
        text if names_drive(text) => "names a drive",
        _ => return Ok(()),
    };
    Err(unsafe_because(reason))
}

fn names_drive(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && characters.next() == Some(':')
}

fn unsafe_because(reason: &'static str) -> VariableErrorKind {
    VariableErrorKind::Unsafe { reason }
}
