//! Errors of a template and of matched variables.

use pintle_model::{Error, errors};

errors! {
    /// Mistake in a template; the author of the server must correct it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum TemplateError {
        /// The template is too long.
        TooLong {
            /// The limit, in bytes.
            limit: usize,
        } => "the template is longer than {limit} bytes",
        /// The template has too many variables.
        TooManyVariables {
            /// Maximum number of variables.
            limit: usize,
        } => "the template has more than {limit} variables",
        /// A brace has no partner.
        LoneBrace {
            /// Where, as an offset into the template, in bytes.
            at: usize,
        } => "the brace at byte {at} has no partner",
        /// An expression starts with an operator that RFC 6570 reserves for later.
        Operator {
            /// The reserved operator.
            operator: char,
            /// Where, as an offset into the template, in bytes.
            at: usize,
        } => "the operator {operator:?} at byte {at} is reserved",
        /// Something between braces is not a variable.
        Variable {
            /// Text between the braces.
            found: String,
            /// Where, as an offset into the template, in bytes.
            at: usize,
        } => "{found:?} at byte {at} is not a variable: a name, then perhaps `*` or `:` and a length",
        /// The template can be expanded, and no URI can be matched against it.
        Unmatchable {
            /// The variable or text that stands in the way.
            place: String,
            /// Why it does.
            reason: &'static str,
        } => "URIs cannot be matched against `{place}`: {reason}",
        /// The expanded URI is too long.
        UriTooLong {
            /// The limit, in bytes.
            limit: usize,
        } => "the URI is longer than {limit} bytes",
        /// A variable with a prefix length was given a list or a map.
        PrefixOfMany {
            /// Name of the variable.
            name: String,
        } => "`{name}` has a prefix length, which needs a single text",
    }
}

pub(super) fn unmatchable(place: &str, reason: &'static str) -> TemplateError {
    TemplateError::Unmatchable {
        place: place.to_owned(),
        reason,
    }
}

errors! {
    /// Mismatch between a matched variable and the type that the handler takes. The peer caused it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct VariableError {
        /// Name of the variable.
        pub name: String,
        /// Kind of the mismatch.
        pub fault: VariableErrorKind,
    } => "the variable `{name}` {fault}";

    /// Fault in the value of a variable; it does not contain the value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum VariableErrorKind {
        /// The URI does not contain the variable.
        Missing => "is missing",
        /// The value does not have the required type.
        Type {
            /// The required type.
            expected: &'static str,
        } => "is not {expected}",
        /// The value would lead out of its directory.
        Unsafe {
            /// Effect of the value on a path, as the end of a sentence.
            reason: &'static str,
        } => "is not safe in a path: it {reason}",
    }
}

impl From<VariableError> for Error {
    fn from(error: VariableError) -> Self {
        Self::invalid_params(error.to_string())
    }
}
