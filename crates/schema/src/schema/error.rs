//! Why a schema is refused: at registration, or when another server's tool is called.

use pintle_model::errors;

errors! {
    /// Why a schema cannot be offered or enforced. Every variant is the server author's to mend: it is
    /// reported when the server is built, and when a client is about to call the tool.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum SchemaError {
        /// An input schema describes something other than an object.
        Root {
            /// The type that the root has instead.
            found: String,
        } => "an input schema must have `type: \"object\"` at its root, not {found}",
        /// `$schema` names a dialect that is not supported. We offer 2020-12 alone; of others, draft 6,
        /// draft 7 and 2019-09 are read, too.
        Dialect {
            /// The value of `$schema`.
            dialect: String,
        } => "the JSON Schema dialect {dialect:?} is not supported; 2020-12 is, and is meant without `$schema`",
        /// Schemas nest too deep.
        TooDeep {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The limit, in levels.
            limit: usize,
        } => "the schema at {pointer:?} is nested deeper than {limit} levels",
        /// There are too many subschemas.
        TooLarge {
            /// The limit, in subschemas.
            limit: usize,
        } => "the schema has more than {limit} subschemas",
        /// A `$ref` leaves the document. It is never fetched.
        RemoteRef {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The value of the `$ref`.
            target: String,
        } => "the `$ref` at {pointer:?} leaves the document ({target:?}); move the referenced schema into `$defs`",
        /// A `$ref` names nothing.
        DanglingRef {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The value of the `$ref`.
            target: String,
        } => "the `$ref` at {pointer:?} names nothing in the document ({target:?})",
        /// A keyword that would have to be enforced, and cannot be.
        Unsupported {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The keyword that cannot be enforced.
            keyword: String,
        } => "the keyword `{keyword}` at {pointer:?} is not supported",
        /// A keyword has a value that JSON Schema does not allow.
        Malformed {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The form that JSON Schema requires, to follow "must be".
            expected: &'static str,
        } => "the schema at {pointer:?} must be {expected}",
        /// A pattern is not a regular expression that can be matched in linear time.
        Pattern {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The reason why the pattern cannot be used.
            reason: String,
        } => "the pattern at {pointer:?} cannot be used: {reason}",
        /// A default of a derived schema that breaks a bound beside it. The handler would receive it.
        Default {
            /// Where, as a JSON pointer into the schema.
            pointer: String,
            /// The bound, and the value.
            reason: String,
        } => "invalid default at {pointer:?}: {reason}",
        /// The crate `jsonschema` cannot compile the schema.
        Uncompilable {
            /// The reason of the crate.
            reason: String,
        } => "the schema cannot be compiled: {reason}",
        /// An `x-mcp-header` annotation that would make clients drop the tool.
        Header {
            /// The annotated schema, as a JSON pointer.
            pointer: String,
            /// The rule that the annotation breaks.
            fault: HeaderBindingError,
        } => "the `x-mcp-header` at {pointer:?} {fault}",
    }

    /// Rule that an `x-mcp-header` annotation breaks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum HeaderBindingError {
        /// The name is not text, is empty, or has characters that a header name cannot have.
        Name => "must be a header name: a non-empty text of letters, digits and !#$%&'*+-.^_`|~",
        /// Another parameter of the tool has the same name, in whatever case.
        Duplicate => "repeats the name of another parameter's header",
        /// The parameter is not exactly a string, an integer or a boolean.
        Type => "must be on a parameter whose `type` is \"string\", \"integer\" or \"boolean\"",
        /// The parameter cannot be reached from the root by `properties` alone.
        Unreachable
            => "must be on a parameter that is reached from the root through `properties` only",
    }
}
