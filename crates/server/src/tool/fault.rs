//! Mistakes in the definition of a tool.

use pintle_model::errors;
use pintle_model::names::NameError;
use pintle_schema::SchemaError;

errors! {
    /// Mistake in the definition of a tool. The server reports it when it starts.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ToolDefinitionError {
        /// The name is invalid.
        Name(cause: NameError) => "a tool cannot have this name" (source: cause),
        /// The schema of the arguments cannot be offered or enforced.
        Input(cause: SchemaError) => "the schema of the arguments cannot be used" (source: cause),
        /// The schema of the structured content cannot be offered or enforced.
        Output(cause: SchemaError) => "the schema of the result cannot be used" (source: cause),
        /// The schema of the arguments requires the feature `any-schema`.
        Feature(cause: SchemaError) => "the schema of the arguments requires the feature `any-schema`: {cause}",
        /// Two parameters of the handler take all arguments.
        Ambiguous => "two parameters of the handler take all arguments: make them one",
        /// A hidden argument is not in the schema.
        NoArgument {
            /// The name of the argument as clients send it.
            name: String,
        } => "the argument `{name}` cannot be hidden: the schema does not have it; hide it after the handler is set",
        /// The tool has no handler.
        NoHandler => "the tool runs nothing: give it a handler",
    }
}
