//! One word of a command line.

use super::error::ArgumentError;

/// Maximum number of parts of a key.
const DEEPEST: usize = 32;

/// A word, classified by its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// All arguments as JSON.
    Whole(Source),
    /// The value of one key.
    Value {
        /// The key as it was typed.
        key: String,
        /// The source of the value.
        source: Source,
        /// The notation of the value.
        notation: Notation,
    },
}

/// Location of a value's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The word itself.
    Inline(String),
    /// A file with this path.
    File(String),
    /// The standard input of the program.
    Input,
}

/// Notation of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Text, converted to the type in the schema.
    Text,
    /// JSON, parsed without the schema.
    Json,
}

/// Classifies words by their form.
///
/// # Errors
///
/// [`ArgumentError::NoForm`] for a word that does not have one of the forms.
pub(crate) fn words(typed: &[String]) -> Result<Vec<Word>, ArgumentError> {
    typed.iter().map(|word| Word::read(word)).collect()
}

impl Word {
    fn read(word: &str) -> Result<Self, ArgumentError> {
        if word.starts_with('{') {
            return Ok(Self::Whole(Source::Inline(word.to_owned())));
        }
        if word == "-" {
            return Ok(Self::Whole(Source::Input));
        }
        if let Some(file) = word.strip_prefix('@') {
            return Ok(Self::Whole(Source::File(file.to_owned())));
        }
        let no_form = || ArgumentError::NoForm {
            word: word.to_owned(),
        };
        let (key, value) = word.split_once('=').ok_or_else(no_form)?;
        let (key, notation) = match key.strip_suffix(':') {
            Some(key) => (key, Notation::Json),
            None => (key, Notation::Text),
        };
        Ok(Self::Value {
            key: key.to_owned(),
            source: Source::of(value),
            notation,
        })
    }
}

impl Source {
    fn of(value: &str) -> Self {
        match value.strip_prefix('@') {
            Some("-") => Self::Input,
            Some(file) if !file.is_empty() => Self::File(file.to_owned()),
            _ => Self::Inline(value.to_owned()),
        }
    }

    /// Returns the name of the source for an error text.
    pub(super) fn place(&self, otherwise: &str) -> String {
        match self {
            Self::Inline(_) => otherwise.to_owned(),
            Self::File(file) => file.clone(),
            Self::Input => "standard input".to_owned(),
        }
    }
}

/// Splits a key at dots that are not escaped.
///
/// # Errors
///
/// [`ArgumentError::BadKey`] if a part is empty, or there are more than 32.
pub(super) fn parts(key: &str) -> Result<Vec<String>, ArgumentError> {
    let bad = |reason| ArgumentError::BadKey {
        word: key.to_owned(),
        reason,
    };
    let mut parts = vec![String::new()];
    let mut rest = key.chars().peekable();
    while let Some(c) = rest.next() {
        let last = parts.last_mut().expect("there is always a part");
        match c {
            '\\' if matches!(rest.peek(), Some('.' | '\\')) => last.extend(rest.next()),
            '.' => parts.push(String::new()),
            c => last.push(c),
        }
    }
    if parts.iter().any(String::is_empty) {
        Err(bad("a part of it is empty"))
    } else if parts.len() > DEEPEST {
        Err(bad("it has too many parts"))
    } else {
        Ok(parts)
    }
}
