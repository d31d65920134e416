//! Errors of a state.

use std::error::Error;
use std::fmt;

use pintle_keys::KeysError;

use super::url::StateUrl;

/// The state cannot be opened. The text contains the reason, and no credentials.
pub struct StateError {
    place: String,
    kind: StateErrorKind,
}

/// Reason why a state cannot be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// The URL has none of the known forms.
    UnknownScheme,
    /// The program was built without the engine.
    NotBuilt {
        /// The feature of the crate `pintle` that adds it.
        feature: &'static str,
    },
    /// The engine cannot be opened.
    Engine(Box<dyn Error + Send + Sync>),
    /// The root keys, or the ring of keys in the store, cannot be read.
    Keys(KeysError),
}

impl StateErrorKind {
    /// An error of an engine.
    #[cfg(any(
        feature = "file-store",
        feature = "sqlite",
        feature = "postgres",
        feature = "redis"
    ))]
    pub(super) fn engine(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Engine(Box::new(error))
    }

    fn cause(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::UnknownScheme | Self::NotBuilt { .. } => None,
            Self::Engine(error) => Some(&**error),
            Self::Keys(error) => Some(error),
        }
    }
}

impl StateError {
    pub(super) fn new(url: &StateUrl, kind: StateErrorKind) -> Self {
        let place = url.to_string();
        Self { place, kind }
    }

    /// Returns the reason.
    pub fn kind(&self) -> &StateErrorKind {
        &self.kind
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the state {} cannot be opened", self.place)?;
        match &self.kind {
            StateErrorKind::UnknownScheme => f.write_str(
                ": the URL is not memory:, file:DIR, sqlite:FILE, redis://…, rediss://… or postgres://…",
            )?,
            StateErrorKind::NotBuilt { feature } => write!(
                f,
                ": this program was built without it; build it with the feature `{feature}`"
            )?,
            StateErrorKind::Engine(_) | StateErrorKind::Keys(_) => {}
        }
        let mut cause = self.kind.cause();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Writes the same text as `Display`, because `main` prints errors with `Debug`.
impl fmt::Debug for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text contains the reason, so that there is no `source`.
impl Error for StateError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_was_not_built_is_named_by_its_feature() {
        let url = StateUrl::from("redis://:s3cret@cache/0");
        let error = StateError::new(&url, StateErrorKind::NotBuilt { feature: "redis" });
        let text = "the state redis://cache cannot be opened: this program was built without it; \
                    build it with the feature `redis`";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), text);
    }
}
