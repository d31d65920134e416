//! Scopes of tokens.

use std::fmt;

/// Maximum number of scopes in one list.
const MOST: usize = 256;
/// Maximum size of one scope, in bytes.
const MOST_BYTES: usize = 1_024;

/// A set of scopes, in the order in which they were named.
///
/// They are compared and sent exactly as they were received. A server may understand that one
/// scope covers another; a client cannot know and does not guess.
///
/// Spec: RFC 6749, 3.3.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(Vec<Box<str>>);

/// Reason why a text is not a list of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// A scope has a forbidden character: a blank, a quote, a backslash, or a non-ASCII character.
    #[error("a scope has a character that no scope may have")]
    Character,
    /// A scope is too long.
    #[error("a scope is longer than {MOST_BYTES} bytes")]
    TooLong,
    /// The list has too many scopes.
    #[error("there are more than {MOST} scopes")]
    TooMany,
}

impl Scopes {
    /// Creates an empty set.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Parses a list of scopes that blanks separate.
    ///
    /// # Errors
    ///
    /// [`ScopeError`].
    pub fn parse(list: &str) -> Result<Self, ScopeError> {
        Self::of(list.split(' ').filter(|scope| !scope.is_empty()))
    }

    /// Creates a set from names.
    ///
    /// # Errors
    ///
    /// [`ScopeError`].
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeError> {
        let mut scopes = Self::none();
        for name in names {
            check(name)?;
            scopes.insert(name);
            if scopes.0.len() > MOST {
                return Err(ScopeError::TooMany);
            }
        }
        Ok(scopes)
    }

    /// Returns the scopes of both sets without duplicates, those of `self` first; at most 256.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for name in &other.0 {
            all.insert(name);
        }
        all.0.truncate(MOST);
        all
    }

    /// Returns true if the set contains all scopes of `other`, by name.
    pub fn covers(&self, other: &Self) -> bool {
        other.iter().all(|name| self.contains(name))
    }

    /// Returns true if the set contains a scope.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|own| &**own == name)
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the scopes in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }

    fn insert(&mut self, name: &str) {
        if !self.contains(name) {
            self.0.push(name.into());
        }
    }
}

/// Writes the scopes with blanks between them, as on the wire.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, name) in self.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            write!(f, "{gap}{name}")?;
        }
        Ok(())
    }
}

fn check(name: &str) -> Result<(), ScopeError> {
    let is_allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if name.is_empty() || !name.bytes().all(is_allowed) {
        return Err(ScopeError::Character);
    }
    if name.len() > MOST_BYTES {
        return Err(ScopeError::TooLong);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(list: &str) -> Scopes {
        Scopes::parse(list).expect("scopes")
    }

    #[test]
    fn a_list_is_read_and_written_in_its_order() {
        for (list, written) in [
            ("", ""),
            ("a", "a"),
            (" b  a b ", "b a"),
            (
                "https://a.example/x:y mcp:read",
                "https://a.example/x:y mcp:read",
            ),
        ] {
            assert_eq!(scopes(list).to_string(), written, "{list:?}");
        }
    }

    #[test]
    fn an_invalid_scope_is_rejected() {
        for list in ["a\tb", "a\"b", "a\\b", "ä", "a\nb", "\u{7f}"] {
            assert_eq!(Scopes::parse(list), Err(ScopeError::Character), "{list:?}");
        }
        assert!(Scopes::parse(&"x".repeat(MOST_BYTES)).is_ok());
        let long = "x".repeat(MOST_BYTES + 1);
        assert_eq!(Scopes::parse(&long), Err(ScopeError::TooLong));
        let many: Vec<String> = (0..=MOST).map(|number| number.to_string()).collect();
        assert!(Scopes::parse(&many[..MOST].join(" ")).is_ok());
        assert_eq!(Scopes::parse(&many.join(" ")), Err(ScopeError::TooMany));
    }

    // spec: 2025-11-25 AUTH-20
    #[test]
    fn sets_are_compared_by_name_alone() {
        let both = scopes("files:read").union(&scopes("files:write files:read"));
        assert_eq!(both.to_string(), "files:read files:write");
        assert!(both.covers(&scopes("files:write")) && both.covers(&Scopes::none()));
        assert!(!scopes("files").covers(&scopes("files:read")));
        assert!(!scopes("Files").contains("files"));
    }
}
