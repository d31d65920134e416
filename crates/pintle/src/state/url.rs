//! The URL of a state.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// The URL of a state. Its `Debug` and `Display` show no credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct StateUrl(Box<str>);

/// The engine that a URL names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine<'u> {
    Memory,
    /// The path of a directory.
    File(&'u str),
    /// The path of a database.
    Sqlite(&'u str),
    Redis,
    Postgres,
}

impl StateUrl {
    /// Returns the whole URL, with its credentials.
    #[cfg(any(feature = "postgres", feature = "redis"))]
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn engine(&self) -> Option<Engine<'_>> {
        let (scheme, rest) = self.0.split_once(':')?;
        let path = rest.strip_prefix("//").unwrap_or(rest);
        match scheme {
            "memory" if rest.is_empty() => Some(Engine::Memory),
            "file" if !path.is_empty() => Some(Engine::File(path)),
            "sqlite" if !path.is_empty() => Some(Engine::Sqlite(path)),
            // The engine reads the part after `+`: a socket, a cluster or sentinels.
            _ if is_redis(scheme) && rest.starts_with("//") => Some(Engine::Redis),
            "postgres" | "postgresql" if rest.starts_with("//") => Some(Engine::Postgres),
            _ => None,
        }
    }

    /// Returns true if the URL has a password.
    pub(super) fn has_password(&self) -> bool {
        let Some((_, rest)) = self.0.split_once("://") else {
            return false;
        };
        let user = rest.rsplit_once('@').map(|(user, _)| user);
        let parameters = ["password=", "pass="];
        user.is_some_and(|user| user.contains(':')) || parameters.iter().any(|it| rest.contains(it))
    }

    /// The host of a URL with a network. `None` if an `@` makes it uncertain where the password ends.
    fn host(rest: &str) -> Option<&str> {
        let authority = rest.split(['/', '?', '#']).next()?;
        match (rest.matches('@').count(), authority.split_once('@')) {
            (0, None) => Some(authority),
            (1, Some((_, host))) => Some(host),
            _ => None,
        }
    }
}

fn is_redis(scheme: &str) -> bool {
    let first = scheme.split('+').next();
    matches!(first, Some("redis" | "rediss"))
}

impl From<&str> for StateUrl {
    fn from(url: &str) -> Self {
        Self(url.into())
    }
}

impl From<String> for StateUrl {
    fn from(url: String) -> Self {
        Self(url.into())
    }
}

impl FromStr for StateUrl {
    /// A parser of command lines prints a text that it rejects, and the text may have a password. So an
    /// invalid URL is an error of [`StateUrl::open`].
    type Err = Infallible;

    fn from_str(url: &str) -> Result<Self, Infallible> {
        Ok(url.into())
    }
}

impl fmt::Display for StateUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.engine(), self.0.split_once("://")) {
            (Some(Engine::Memory | Engine::File(_) | Engine::Sqlite(_)), _) => f.write_str(&self.0),
            (Some(_), Some((scheme, rest))) => {
                write!(f, "{scheme}://{}", Self::host(rest).unwrap_or("…"))
            }
            // Nothing of an unknown form is shown, because it may be a password.
            _ => f.write_str("…"),
        }
    }
}

impl fmt::Debug for StateUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_an_engine() {
        for (url, engine) in [
            ("memory:", Some(Engine::Memory)),
            ("file:state", Some(Engine::File("state"))),
            ("file:///var/state", Some(Engine::File("/var/state"))),
            ("sqlite:a.db", Some(Engine::Sqlite("a.db"))),
            ("redis://h", Some(Engine::Redis)),
            ("rediss://h:6379/0", Some(Engine::Redis)),
            ("redis+unix:///run/redis.sock", Some(Engine::Redis)),
            ("redises://h", None),
            ("postgres://h/d", Some(Engine::Postgres)),
            ("postgresql://h/d", Some(Engine::Postgres)),
            ("", None),
            ("memory:x", None),
            ("file:", None),
            ("sqlite://", None),
            ("redis:h", None),
            ("mysql://h", None),
            ("/var/state", None),
        ] {
            assert_eq!(StateUrl::from(url).engine(), engine, "{url}");
        }
    }

    #[test]
    fn a_shown_url_has_no_credentials() {
        for (url, shown) in [
            ("sqlite:/var/a.db", "sqlite:/var/a.db"),
            ("redis://cache:6379/0?prefix=a", "redis://cache:6379"),
            ("redis://:s3cret@cache", "redis://cache"),
            ("postgres://user:s3cret@db/x", "postgres://db"),
            ("postgres://user:s3cret@part/more@db/x", "postgres://…"),
            ("postgres://user:part/s3cret@db", "postgres://…"),
            ("postgres://db/x?password=part@s3cret", "postgres://…"),
            ("mysql://user:s3cret@db", "…"),
            ("s3cret", "…"),
        ] {
            assert_eq!(StateUrl::from(url).to_string(), shown);
            assert_eq!(
                format!("{:?}", StateUrl::from(url)),
                format!("StateUrl({shown})")
            );
        }
    }

    #[test]
    fn a_password_is_found() {
        for url in [
            "redis://:p@h",
            "postgres://u:p@h/d",
            "postgres://h/d?password=p",
            "redis+unix:///run/redis.sock?pass=p",
        ] {
            assert!(StateUrl::from(url).has_password(), "{url}");
        }
        for url in ["redis://h:6379", "postgres://u@h:5432/d", "sqlite:a:b@c"] {
            assert!(!StateUrl::from(url).has_password(), "{url}");
        }
    }
}
