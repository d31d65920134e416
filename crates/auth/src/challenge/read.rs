//! The grammar of the header: a list of challenges, each with a list in it, and commas in both.
//!
//! A name with `=` behind it goes on with the challenge before; any other name begins a new one.

use super::{CHALLENGES, Challenge, ChallengeError, LINE_BYTES};

/// Reads one header.
pub(super) fn line(text: &str) -> Result<Vec<Challenge>, ChallengeError> {
    if text.len() > LINE_BYTES {
        return Err(ChallengeError::TooLarge);
    }
    Reader { text, at: 0 }.challenges()
}

/// Whether a text is a token of HTTP.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_token68_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte)
}

/// A name, in lower case, and a value.
type Parameter = (Box<str>, Box<str>);

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn challenges(mut self) -> Result<Vec<Challenge>, ChallengeError> {
        let mut all: Vec<Challenge> = Vec::new();
        loop {
            self.skip(|byte| matches!(byte, b' ' | b'\t' | b','));
            if self.at == self.text.len() {
                return Ok(all);
            }
            let is_full = all.len() >= CHALLENGES;
            match (self.parameter()?, all.last_mut()) {
                // A parameter of the token form has nothing to go on with.
                (Some((name, value)), Some(last)) if last.token.is_none() => {
                    last.add(name, value)?;
                }
                (Some(_), _) => return Err(self.broken()),
                (None, _) if is_full => return Err(ChallengeError::TooLarge),
                (None, _) => all.push(self.beginning()?),
            }
            self.comma()?;
        }
    }

    /// A scheme, and the first thing behind it.
    fn beginning(&mut self) -> Result<Challenge, ChallengeError> {
        let scheme = self.take(is_token_byte);
        let mut challenge = Challenge::new(scheme).map_err(|_| self.broken())?;
        if !matches!(self.next(), None | Some(b' ' | b'\t' | b',')) {
            return Err(self.broken());
        }
        self.blanks();
        if matches!(self.next(), None | Some(b',')) {
            return Ok(challenge);
        }
        challenge.token = self.token68();
        if challenge.token.is_some() {
            return Ok(challenge);
        }
        let (name, value) = self.parameter()?.ok_or_else(|| self.broken())?;
        challenge.add(name, value)?;
        Ok(challenge)
    }

    /// Reads a `token68` value instead of parameters. It must fill its element of the list.
    fn token68(&mut self) -> Option<Box<str>> {
        let start = self.at;
        let body = self.take(is_token68_byte);
        self.take(|byte| byte == b'=');
        let end = self.at;
        self.blanks();
        if !body.is_empty() && matches!(self.next(), None | Some(b',')) {
            return Some(self.text[start..end].into());
        }
        self.at = start;
        None
    }

    /// A name, `=` and a value; none, and nothing read, when there is no `=`.
    fn parameter(&mut self) -> Result<Option<Parameter>, ChallengeError> {
        let start = self.at;
        let name = self.take(is_token_byte);
        self.blanks();
        if name.is_empty() || self.next() != Some(b'=') {
            self.at = start;
            return Ok(None);
        }
        self.at += 1;
        self.blanks();
        let value = match self.next() {
            Some(b'"') => self.quoted()?,
            _ => self.plain()?,
        };
        Ok(Some((name.to_ascii_lowercase().into(), value)))
    }

    fn plain(&mut self) -> Result<Box<str>, ChallengeError> {
        let value = self.take(is_token_byte);
        match value.is_empty() {
            true => Err(self.broken()),
            false => Ok(value.into()),
        }
    }

    fn quoted(&mut self) -> Result<Box<str>, ChallengeError> {
        self.at += 1;
        let mut value = String::new();
        let mut characters = self.text[self.at..].char_indices();
        while let Some((place, character)) = characters.next() {
            let character = match character {
                '"' => {
                    self.at += place + 1;
                    return Ok(value.into());
                }
                '\\' => characters.next().map_or('\0', |(_, escaped)| escaped),
                other => other,
            };
            if character.is_ascii_control() && character != '\t' {
                break;
            }
            value.push(character);
        }
        Err(self.broken())
    }

    /// The end of an element of the list.
    fn comma(&mut self) -> Result<(), ChallengeError> {
        self.blanks();
        match self.next() {
            None | Some(b',') => Ok(()),
            Some(_) => Err(self.broken()),
        }
    }

    fn blanks(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        self.take(is_skipped);
    }

    /// All bytes of a kind from here on. The kinds are ASCII, so that a character is never cut.
    fn take(&mut self, is_kind: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += rest.iter().take_while(|byte| is_kind(**byte)).count();
        &self.text[start..self.at]
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&self) -> ChallengeError {
        ChallengeError::Syntax(self.at)
    }
}
