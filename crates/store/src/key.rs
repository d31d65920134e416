//! Names of records and logs.
//!
//! A key is a namespace, a slash and a name. Lengths are bounded here, by type, so that no store
//! has to ask.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

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
    fn debug_output_of_a_key_hides_its_name() {
        let key = Key::new(&SPACE, "f00d").expect("a key");

        assert_eq!(format!("{key:?}"), "Key(sessions/…)");
        assert_eq!(format!("{:?}", Prefix::from(key)), "Prefix(sessions/…)");
    }
}
