//! Why a schema is refused: at registration, or when another server's tool is called.

use std::fmt;

/// Why a schema cannot be offered or enforced. Every variant is the server author's to mend: it is
/// reported when the server is built, and when a client is about to call the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// An input schema describes something other than an object.
    Root {
        /// The type that the root has instead.
        found: String,
    },
    /// `$schema` names a dialect that is not supported. We offer 2020-12 alone; of others, draft 6, draft 7
    /// and 2019-09 are read, too.
    Dialect {
        /// The value of `$schema`.
        dialect: String,
    },
    /// Schemas nest too deep.
    TooDeep {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The limit, in levels.
        limit: usize,
    },
    /// There are too many subschemas.
    TooLarge {
        /// The limit, in subschemas.
        limit: usize,
    },
    /// A `$ref` leaves the document. It is never fetched.
    RemoteRef {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The value of the `$ref`.
        target: String,
    },
    /// A `$ref` names nothing.
    DanglingRef {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The value of the `$ref`.
        target: String,
    },
    /// A keyword that would have to be enforced, and cannot be.
    Unsupported {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The keyword that cannot be enforced.
        keyword: String,
    },
    /// A keyword has a value that JSON Schema does not allow.
    Malformed {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The form that JSON Schema requires, to follow "must be".
        expected: &'static str,
    },
    /// A pattern is not a regular expression that can be matched in linear time.
    Pattern {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The reason why the pattern cannot be used.
        reason: String,
    },
    /// A default of a derived schema that breaks a bound beside it. The handler would receive it.
    Default {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The bound, and the value.
        reason: String,
    },
    /// An `x-mcp-header` annotation that would make clients drop the tool.
    Header {
        /// The annotated schema, as a JSON pointer.
        pointer: String,
        /// The rule that the annotation breaks.
        fault: HeaderBindingError,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root { found } => write!(
                f,
                "an input schema must have `type: \"object\"` at its root, not {found}"
            ),
            Self::Dialect { dialect } => write!(
                f,
                "the JSON Schema dialect {dialect:?} is not supported; 2020-12 is, and is meant without `$schema`"
            ),
            Self::TooDeep { pointer, limit } => write!(
                f,
                "the schema at {pointer:?} is nested deeper than {limit} levels"
            ),
            Self::TooLarge { limit } => write!(f, "the schema has more than {limit} subschemas"),
            Self::RemoteRef { pointer, target } => write!(
                f,
                "the `$ref` at {pointer:?} leaves the document ({target:?}); move the referenced schema into `$defs`"
            ),
            Self::DanglingRef { pointer, target } => write!(
                f,
                "the `$ref` at {pointer:?} names nothing in the document ({target:?})"
            ),
            Self::Unsupported { keyword, pointer } => {
                write!(f, "the keyword `{keyword}` at {pointer:?} is not supported")
            }
            Self::Malformed { pointer, expected } => {
                write!(f, "the schema at {pointer:?} must be {expected}")
            }
            Self::Pattern { pointer, reason } => {
                write!(f, "the pattern at {pointer:?} cannot be used: {reason}")
            }
            Self::Default { pointer, reason } => {
                write!(f, "invalid default at {pointer:?}: {reason}")
            }
            Self::Header { pointer, fault } => {
                write!(f, "the `x-mcp-header` at {pointer:?} {fault}")
            }
        }
    }
}

impl std::error::Error for SchemaError {}

/// Rule that an `x-mcp-header` annotation breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderBindingError {
    /// The name is not text, is empty, or has characters that a header name cannot have.
    Name,
    /// Another parameter of the tool has the same name, in whatever case.
    Duplicate,
    /// The parameter is not exactly a string, an integer or a boolean.
    Type,
    /// The parameter cannot be reached from the root by `properties` alone.
    Unreachable,
}

impl fmt::Display for HeaderBindingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str(
                "must be a header name: a non-empty text of letters, digits and !#$%&'*+-.^_`|~",
            ),
            Self::Duplicate => f.write_str("repeats the name of another parameter's header"),
            Self::Type => f.write_str(
                "must be on a parameter whose `type` is \"string\", \"integer\" or \"boolean\"",
            ),
            Self::Unreachable => f.write_str(
                "must be on a parameter that is reached from the root through `properties` only",
            ),
        }
    }
}

impl std::error::Error for HeaderBindingError {}
