//! `WWW-Authenticate`: the authorization that a server requires.
//!
//! A header may hold several challenges, and there may be several headers. Schemes and the names
//! of parameters are compared without regard to case; values stay as they are.
//!
//! Spec: RFC 9110, 11.2 to 11.6; RFC 6750, 3; RFC 9728, 5.1.

mod read;

use std::fmt;

/// Maximum size of one header, in bytes.
const LINE_BYTES: usize = 16 << 10;
/// Maximum number of challenges in one response.
const CHALLENGES: usize = 16;
/// Maximum number of parameters of one challenge.
const PARAMETERS: usize = 32;

/// One challenge: a scheme and its parameters.
///
/// # Examples
///
/// ```
/// use pintle_auth::{Challenge, challenges};
///
/// let asked = Challenge::new("Bearer")?.with("scope", "files:read")?;
/// assert_eq!(asked.to_string(), r#"Bearer scope="files:read""#);
/// assert_eq!(challenges([asked.to_string().as_str()]), [asked]);
/// # Ok::<(), pintle_auth::ChallengeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    scheme: Box<str>,
    token: Option<Box<str>>,
    parameters: Vec<(Box<str>, Box<str>)>,
}

/// Reason why a text is not a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChallengeError {
    /// The text breaks the grammar at this byte.
    #[error("WWW-Authenticate breaks its grammar at byte {0}")]
    Syntax(usize),
    /// A parameter is repeated, so its value is ambiguous.
    #[error("a challenge of WWW-Authenticate has a parameter twice")]
    Twice,
    /// A value has a character that a header cannot contain.
    #[error("a value has a character that no challenge may have")]
    Character,
    /// The text is too long, or has too many challenges or parameters.
    #[error("WWW-Authenticate is too large")]
    TooLarge,
}

/// Returns the challenges of all headers of one response. A header that breaks the grammar is ignored,
/// because the others may be sufficient.
pub fn challenges<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Challenge> {
    let mut all = Vec::new();
    for line in lines {
        match Challenge::parse(line) {
            Ok(found) => all.extend(found),
            Err(error) => tracing::debug!(%error, "a challenge is left out"),
        }
        if all.len() >= CHALLENGES {
            break;
        }
    }
    all.truncate(CHALLENGES);
    all
}

impl Challenge {
    /// Creates a challenge without parameters.
    ///
    /// # Errors
    ///
    /// [`ChallengeError::Character`] if the scheme is not a token.
    pub fn new(scheme: &str) -> Result<Self, ChallengeError> {
        if !read::is_token(scheme) {
            return Err(ChallengeError::Character);
        }
        Ok(Self {
            scheme: scheme.into(),
            token: None,
            parameters: Vec::new(),
        })
    }

    /// Adds a parameter.
    ///
    /// # Errors
    ///
    /// - [`ChallengeError::Character`] for a name that is not a token, or a value with anything but
    ///   printable ASCII, so a value cannot end the header.
    /// - [`ChallengeError::Twice`].
    /// - [`ChallengeError::TooLarge`] for one more than 32.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self, ChallengeError> {
        let is_plain = value.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
        if !read::is_token(name) || !is_plain {
            return Err(ChallengeError::Character);
        }
        self.add(name.to_ascii_lowercase().into(), value.into())?;
        Ok(self)
    }

    /// Reads one header.
    ///
    /// # Errors
    ///
    /// [`ChallengeError`] if any part of the header is invalid.
    pub fn parse(line: &str) -> Result<Vec<Self>, ChallengeError> {
        read::line(line)
    }

    /// Returns the scheme as received.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns true if this is the scheme, without regard to case.
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Returns the value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters.iter();
        let found = all.find(|(own, _)| own.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// Returns the `token68` value that some schemes have instead of parameters.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    fn add(&mut self, name: Box<str>, value: Box<str>) -> Result<(), ChallengeError> {
        if self.parameter(&name).is_some() {
            return Err(ChallengeError::Twice);
        }
        if self.parameters.len() >= PARAMETERS {
            return Err(ChallengeError::TooLarge);
        }
        self.parameters.push((name, value));
        Ok(())
    }
}

/// Writes the challenge as in the header. Every value is quoted.
impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme)?;
        if let Some(token) = &self.token {
            return write!(f, " {token}");
        }
        for (place, (name, value)) in self.parameters.iter().enumerate() {
            let gap = if place == 0 { " " } else { ", " };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            write!(f, "{gap}{name}=\"{value}\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
