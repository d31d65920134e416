//! Why a schema is refused at registration.

/// Why a schema cannot be offered or enforced. Every variant is the server author's to mend, and is
/// reported when the server is built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// An input schema describes something other than an object.
    #[error("an input schema must have `type: \"object\"` at its root, not {found}")]
    Root {
        /// What the root says instead.
        found: String,
    },
    /// `$schema` names a dialect that is not supported; only 2020-12 is.
    #[error(
        "the JSON Schema dialect {dialect:?} is not supported; use 2020-12, or leave `$schema` out"
    )]
    Dialect {
        /// The value of `$schema`.
        dialect: String,
    },
    /// Schemas nest too deep.
    #[error("the schema at {pointer:?} is nested deeper than {limit} levels")]
    TooDeep {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The limit, in levels.
        limit: usize,
    },
    /// There are too many subschemas.
    #[error("the schema has more than {limit} subschemas")]
    TooLarge {
        /// The limit, in subschemas.
        limit: usize,
    },
    /// A `$ref` leaves the document. It is never fetched.
    #[error(
        "the `$ref` at {pointer:?} leaves the document ({target:?}); move what it names into `$defs`"
    )]
    RemoteRef {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// What was referred to.
        target: String,
    },
    /// A `$ref` names nothing.
    #[error("the `$ref` at {pointer:?} names nothing in the document ({target:?})")]
    DanglingRef {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// What was referred to.
        target: String,
    },
    /// A keyword that would have to be enforced, and cannot be.
    #[error("the keyword `{keyword}` at {pointer:?} is not supported")]
    Unsupported {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// The keyword.
        keyword: String,
    },
    /// A keyword has a value that JSON Schema does not allow.
    #[error("the schema at {pointer:?} must be {expected}")]
    Malformed {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A pattern is not a regular expression that can be matched in linear time.
    #[error("the pattern at {pointer:?} cannot be used: {reason}")]
    Pattern {
        /// Where, as a JSON pointer into the schema.
        pointer: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An `x-mcp-header` annotation that would make clients drop the tool.
    #[error("the `x-mcp-header` at {pointer:?} {fault}")]
    Header {
        /// The annotated schema, as a JSON pointer.
        pointer: String,
        /// What is wrong with it.
        fault: HeaderFault,
    },
}

/// What is wrong with an `x-mcp-header` annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// The name is not text, is empty, or has characters that a header name cannot have.
    #[error("must be a header name: a non-empty text of letters, digits and !#$%&'*+-.^_`|~")]
    Name,
    /// Another parameter of the tool has the same name, in whatever case.
    #[error("repeats the name of another parameter's header")]
    Duplicate,
    /// The parameter is not exactly a string, an integer or a boolean.
    #[error("must be on a parameter whose `type` is \"string\", \"integer\" or \"boolean\"")]
    Type,
    /// The parameter cannot be reached from the root by `properties` alone.
    #[error("must be on a parameter that is reached from the root through `properties` only")]
    Unreachable,
}
