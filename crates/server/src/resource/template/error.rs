//! What can be wrong with a template, and with what was matched.

use std::fmt;

use pintle_model::Error;

/// Why a template cannot be used. The server author's to mend.
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
        /// The limit.
        limit: usize,
    },
    /// A brace has no partner.
    LoneBrace {
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// An expression starts with an operator that RFC 6570 keeps for later.
    Operator {
        /// The operator.
        operator: char,
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// Something between braces is not a variable.
    Variable {
        /// What is there.
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
        /// The variable.
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

/// Why a matched variable is not what the handler asks for. The peer's mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableError {
    /// The variable.
    pub name: String,
    /// What is wrong with it.
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

/// What is wrong with the value of a variable. The value is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableErrorKind {
    /// The URI does not have it.
    Missing,
    /// It is not of the type that is needed.
    Type {
        /// What is needed.
        expected: &'static str,
    },
    /// It would lead out of where it belongs.
    Unsafe {
        /// What it does.
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
