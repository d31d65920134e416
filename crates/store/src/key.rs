//! Names of records and logs.
//!
//! A key is a namespace, a slash and a name. Lengths are bounded here, by type, so that no store
//! has to ask. The text of a name before its first dot is its group.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use crate::error::{Retry, StoreError};

/// The name of one record or log: `namespace/name`. Ordered by its text.
///
/// Its `Debug` shows the namespace only: a name may be a secret, such as a session id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The longest name, in bytes.
    pub const MAX_NAME_BYTES: usize = 256;

    /// A key in a namespace.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the name is empty, longer than [`Key::MAX_NAME_BYTES`], or has a control
    /// character. Names that a peer chose are best hashed first.
    pub fn new(namespace: &Namespace, name: &str) -> Result<Self, KeyError> {
        check_name(name)?;
        Ok(Self(format!("{}/{name}", namespace.0).into()))
    }

    /// Reads a key back from its text.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the text is not what [`Key::as_str`] gives.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (namespace, name) = text.split_once('/').ok_or(KeyError::Namespace)?;
        let plain = namespace.strip_prefix(ASIDE).unwrap_or(namespace);
        Namespace::new(plain)?;
        check_name(name)?;
        Ok(Self(text.into()))
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text before the slash.
    pub fn namespace(&self) -> &str {
        self.halves().0
    }

    /// The text after the slash.
    pub fn name(&self) -> &str {
        self.halves().1
    }

    /// Returns the group: the name up to its first dot, or the whole name.
    pub fn group(&self) -> &str {
        group_of(self.name()).unwrap_or(self.name())
    }

    fn halves(&self) -> (&str, &str) {
        self.0.split_once('/').expect("every key has a slash")
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}/…)", self.namespace())
    }
}

/// First part of a key: it names one kind of stored thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Cow<'static, str>);

/// Marks the namespace where unreadable records of another one are put. No other may begin so.
const ASIDE: char = '~';

impl Namespace {
    /// The longest namespace, in bytes.
    pub const MAX_BYTES: usize = 32;

    /// A namespace that is known when the program is written.
    ///
    /// # Panics
    ///
    /// If `name` is not what [`Namespace::new`] accepts; in a constant that is a compile error.
    pub const fn fixed(name: &'static str) -> Self {
        assert!(
            is_namespace(name.as_bytes()),
            "invalid namespace: it is not 1 to 32 of a-z, 0-9 and -"
        );
        Self(Cow::Borrowed(name))
    }

    /// A namespace of 1 to 32 lower-case letters, digits and hyphens.
    ///
    /// # Errors
    ///
    /// [`KeyError::Namespace`] for anything else.
    pub fn new(name: &str) -> Result<Self, KeyError> {
        if is_namespace(name.as_bytes()) {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err(KeyError::Namespace)
        }
    }

    /// Where records of this namespace that could not be read are kept for a human to look at.
    #[must_use]
    pub fn quarantined(&self) -> Self {
        Self(Cow::Owned(format!("{ASIDE}{}", self.0)))
    }

    /// Returns the namespace as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Beginning that a group of keys has in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix(Arc<str>);

impl Prefix {
    /// Every key of a namespace.
    pub fn all(namespace: &Namespace) -> Self {
        Self(format!("{}/", namespace.0).into())
    }

    /// Every key of a namespace whose name begins with `start`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if no name can begin so.
    pub fn new(namespace: &Namespace, start: &str) -> Result<Self, KeyError> {
        if start.is_empty() {
            return Ok(Self::all(namespace));
        }
        Key::new(namespace, start).map(Self::from)
    }

    /// Returns the prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text before the slash.
    pub fn namespace(&self) -> &str {
        self.halves().0
    }

    /// Returns the text after the slash, with which the names begin.
    pub fn start(&self) -> &str {
        self.halves().1
    }

    /// Returns the group of all keys with this prefix. `None` if they may be in several groups,
    /// because [`Prefix::start`] has no dot.
    pub fn group(&self) -> Option<&str> {
        group_of(self.start())
    }

    /// Returns the group, for implementations of [`Store::list`](crate::Store::list) without order.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] with [`Retry::Never`] if the keys may be in several groups.
    pub fn one_group(&self) -> Result<&str, StoreError> {
        self.group().ok_or_else(|| {
            let source = "the store lists keys of one group; the prefix needs a name with a dot";
            StoreError::backend(Retry::Never, source)
        })
    }

    /// Returns the group, for implementations of [`Store::changed`](crate::Store::changed) without
    /// order. It is [`Prefix::start`] up to its first dot, or all of it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] with [`Retry::Never`] for a whole namespace.
    pub fn watched_group(&self) -> Result<&str, StoreError> {
        if self.start().is_empty() {
            let source = "the store watches one group; the prefix needs a name";
            return Err(StoreError::backend(Retry::Never, source));
        }
        Ok(self.group().unwrap_or(self.start()))
    }

    fn halves(&self) -> (&str, &str) {
        self.0.split_once('/').expect("every prefix has a slash")
    }

    /// Whether `key` begins with this.
    pub fn covers(&self, key: &Key) -> bool {
        key.as_str().starts_with(self.as_str())
    }
}

impl From<Key> for Prefix {
    /// The key itself, and every key that is longer.
    fn from(key: Key) -> Self {
        Self(key.0)
    }
}

impl Borrow<str> for Prefix {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.0.split('/').next().unwrap_or_default();
        write!(f, "Prefix({namespace}/…)")
    }
}

/// Reason why a text is not a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The namespace is not 1 to 32 lower-case letters, digits and hyphens.
    Namespace,
    /// The name is empty, or too long.
    NameLength {
        /// How long it is, in bytes.
        bytes: usize,
    },
    /// The name has a control character.
    Control,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace => {
                f.write_str("invalid namespace: it is not 1 to 32 of a-z, 0-9 and -")
            }
            Self::NameLength { bytes } => write!(
                f,
                "invalid name: it has {bytes} bytes, not 1 to {}",
                Key::MAX_NAME_BYTES
            ),
            Self::Control => f.write_str("invalid name: it has a control character"),
        }
    }
}

impl std::error::Error for KeyError {}

fn check_name(name: &str) -> Result<(), KeyError> {
    match name.len() {
        1..=Key::MAX_NAME_BYTES if name.contains(char::is_control) => Err(KeyError::Control),
        1..=Key::MAX_NAME_BYTES => Ok(()),
        bytes => Err(KeyError::NameLength { bytes }),
    }
}

/// Returns the text before the first dot, if there is one.
fn group_of(name: &str) -> Option<&str> {
    name.split_once('.').map(|(group, _)| group)
}

const fn is_namespace(name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        if !matches!(name[at], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        at += 1;
    }
    !name.is_empty() && name.len() <= Namespace::MAX_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Namespace = Namespace::fixed("sessions");

    #[test]
    fn a_name_at_the_limit_is_a_key_and_one_past_it_is_not() {
        assert!(Key::new(&SPACE, &"x".repeat(256)).is_ok());
        assert_eq!(
            Key::new(&SPACE, &"x".repeat(257)),
            Err(KeyError::NameLength { bytes: 257 })
        );
        assert_eq!(Key::new(&SPACE, ""), Err(KeyError::NameLength { bytes: 0 }));
        assert_eq!(Key::new(&SPACE, "a\nb"), Err(KeyError::Control));
    }

    #[test]
    fn a_namespace_at_the_limit_is_one_and_one_past_it_is_not() {
        assert!(Namespace::new(&"n".repeat(32)).is_ok());
        for bad in [&"n".repeat(33), "", "a/b", "A", "~a"] {
            assert_eq!(Namespace::new(bad), Err(KeyError::Namespace), "{bad}");
        }
    }

    #[test]
    fn a_key_comes_back_from_its_text() {
        for namespace in [SPACE, SPACE.quarantined()] {
            let key = Key::new(&namespace, "a/ü b").expect("a key");
            assert_eq!(Key::parse(key.as_str()), Ok(key.clone()));
            assert_eq!((key.namespace(), key.name()), (namespace.as_str(), "a/ü b"));
        }
        assert_eq!(Key::parse("sessions"), Err(KeyError::Namespace));
        assert_eq!(Key::parse("~~sessions/a"), Err(KeyError::Namespace));
    }

    #[test]
    fn a_group_is_the_name_up_to_its_first_dot() {
        let group = |name| {
            let key = Key::new(&SPACE, name).expect("a key");
            key.group().to_owned()
        };
        assert_eq!(["a", "a.b", "a.b.c", ".b"].map(group), ["a", "a", "a", ""]);
    }

    #[test]
    fn a_prefix_with_a_dot_lies_within_one_group() {
        for (start, listed, watched) in [
            ("", None, None),
            ("a", None, Some("a")),
            ("a.", Some("a"), Some("a")),
            ("a.b.c", Some("a"), Some("a")),
        ] {
            let prefix = Prefix::new(&SPACE, start).expect("a prefix");
            assert_eq!((prefix.namespace(), prefix.start()), ("sessions", start));
            assert_eq!(prefix.group(), listed);
            assert_eq!(prefix.one_group().ok(), listed);
            assert_eq!(prefix.watched_group().ok(), watched);
        }
    }

    #[test]
    fn an_error_about_groups_is_final() {
        let all = Prefix::all(&SPACE);
        for result in [all.one_group(), all.watched_group()] {
            assert!(!result.expect_err("no group").is_retryable());
        }
    }

    #[test]
    fn debug_output_of_a_key_hides_its_name() {
        let key = Key::new(&SPACE, "f00d").expect("a key");

        assert_eq!(format!("{key:?}"), "Key(sessions/…)");
        assert_eq!(format!("{:?}", Prefix::from(key)), "Prefix(sessions/…)");
    }
}
