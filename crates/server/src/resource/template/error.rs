//! Errors of a template and of matched variables.

use std::fmt;

use pintle_model::Error;

/// Mistake in a template; the author of the server must correct it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template is too long.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The template has too many variables.
    TooManyVariables {
        /// Maximum number of variables.
        limit: usize,
    },
    /// A brace has no partner.
    LoneBrace {
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// An expression starts with an operator that RFC 6570 reserves for later.
    Operator {
        /// The reserved operator.
        operator: char,
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// Something between braces is not a variable.
    Variable {
        /// Text between the braces.
        found: String,
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// The template can be expanded, and no URI can be matched against it.
    Unmatchable {
        /// The variable or text that stands in the way.
        place: String,
        /// Why it does.
        reason: &'static str,
    },
    /// The expanded URI is too long.
    UriTooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A variable with a prefix length was given a list or a map.
    PrefixOfMany {
        /// Name of the variable.
        name: String,
    },
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => write!(f, "the template is longer than {limit} bytes"),
            Self::TooManyVariables { limit } => {
                write!(f, "the template has more than {limit} variables")
            }
            Self::LoneBrace { at } => write!(f, "the brace at byte {at} has no partner"),
            Self::Operator { operator, at } => {
                write!(f, "the operator {operator:?} at byte {at} is reserved")
            }
            Self::Variable { found, at } => write!(
                f,
                "{found:?} at byte {at} is not a variable: a name, then perhaps `*` or `:` and a length"
            ),
            Self::Unmatchable { place, reason } => {
                write!(f, "URIs cannot be matched against `{place}`: {reason}")
            }
            Self::UriTooLong { limit } => write!(f, "the URI is longer than {limit} bytes"),
            Self::PrefixOfMany { name } => {
                write!(f, "`{name}` has a prefix length, which needs a single text")
            }
        }
    }
}

impl std::error::Error for TemplateError {}

pub(super) fn unmatchable(place: &str, reason: &'static str) -> TemplateError {
    TemplateError::Unmatchable {
        place: place.to_owned(),
        reason,
    }
}

/// Mismatch between a matched variable and the type that the handler takes. The peer caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableError {
    /// Name of the variable.
    pub name: String,
    /// Kind of the mismatch.
    pub fault: VariableErrorKind,
}

impl fmt::Display for VariableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, fault } = self;
        write!(f, "the variable `{name}` {fault}")
    }
}

impl std::error::Error for VariableError {}

impl From<VariableError> for Error {
    fn from(error: VariableError) -> Self {
        Self::invalid_params(error.to_string())
    }
}

/// Fault in the value of a variable; it does not contain the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableErrorKind {
    /// The URI does not contain the variable.
    Missing,
    /// The value does not have the required type.
    Type {
        /// The required type.
        expected: &'static str,
    },
    /// The value would lead out of its directory.
    Unsafe {
        /// Effect of the value on a path, as the end of a sentence.
        reason: &'static str,
    },
}

impl fmt::Display for VariableErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Type { expected } => write!(f, "is not {expected}"),
            Self::Unsafe { reason } => write!(f, "is not safe in a path: it {reason}"),
        }
    }
}

impl std::error::Error for VariableErrorKind {}
