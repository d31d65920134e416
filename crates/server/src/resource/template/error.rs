//! What can be wrong with a template, and with what was matched.

use pintle_model::Error;

/// Why a template cannot be used. The server author's to mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template is too long.
    #[error("the template is longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The template has too many variables.
    #[error("the template has more than {limit} variables")]
    TooManyVariables {
        /// The limit.
        limit: usize,
    },
    /// A brace has no partner.
    #[error("the brace at byte {at} has no partner")]
    LoneBrace {
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// An expression starts with an operator that RFC 6570 keeps for later.
    #[error("the operator {operator:?} at byte {at} is reserved")]
    Operator {
        /// The operator.
        operator: char,
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// Something between braces is not a variable.
    #[error(
        "{found:?} at byte {at} is not a variable: a name, then perhaps `*` or `:` and a length"
    )]
    Variable {
        /// What is there.
        found: String,
        /// Where, as an offset into the template, in bytes.
        at: usize,
    },
    /// The template can be expanded, and no URI can be matched against it.
    #[error("URIs cannot be matched against `{place}`: {reason}")]
    Unmatchable {
        /// The variable or text that stands in the way.
        place: String,
        /// Why it does.
        reason: &'static str,
    },
    /// The expanded URI is too long.
    #[error("the URI is longer than {limit} bytes")]
    UriTooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A variable with a prefix length was given a list or a map.
    #[error("`{name}` has a prefix length, which needs a single text")]
    PrefixOfMany {
        /// The variable.
        name: String,
    },
}

/// Why a matched variable is not what the handler asks for. The peer's mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{name}` {fault}")]
pub struct VariableError {
    /// The variable.
    pub name: String,
    /// What is wrong with it.
    pub fault: VariableFault,
}

impl From<VariableError> for Error {
    fn from(error: VariableError) -> Self {
        Self::invalid_params(error.to_string())
    }
}

/// What is wrong with the value of a variable. The value is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableFault {
    /// The URI does not have it.
    #[error("is missing")]
    Missing,
    /// It is not of the type that is needed.
    #[error("is not {expected}")]
    Type {
        /// What is needed.
        expected: &'static str,
    },
    /// It would lead out of where it belongs.
    #[error("is not safe in a path: it {reason}")]
    Unsafe {
        /// What it does.
        reason: &'static str,
    },
}
