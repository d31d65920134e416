//! The schemas of a tool, and its handler.
//!
//! Schemas come from types unless they are written by hand. The tool stores the first mistake until
//! the server starts.

use std::future::Future;
use std::sync::Arc;

use pintle_model::JsonObject;
use pintle_model::names::{self, NameError};
use pintle_schema as schema;
use pintle_schema::{SchemaError, Typed, Validator};
use schemars::JsonSchema;

use crate::erase::erase;
use crate::rejection::Rejection;
use crate::tool::fault::ToolDefinitionError;
use crate::tool::handler::Handler;
use crate::tool::result::IntoToolResult;
use crate::tool::{Tool, ToolCall};

impl Tool {
    /// Takes the arguments' schema from a type. One that was written by hand stays.
    #[must_use]
    pub fn input<T: JsonSchema + 'static>(mut self) -> Self {
        match Typed::of::<T>() {
            _ if self.checks.derived_input().is_some() => self.fail(ToolDefinitionError::Ambiguous),
            Ok(typed) => {
                if self.checks.derive_input(Arc::clone(&typed)) {
                    self.definition.input_schema.clone_from(&typed.schema);
                }
            }
            Err(error) => self.fail(ToolDefinitionError::Input(error)),
        }
        self
    }

    /// Writes the arguments' schema by hand. Every call is checked against it.
    #[must_use]
    pub fn input_schema(mut self, schema: JsonObject) -> Self {
        let checked = schema::check_input(&schema);
        match checked.and_then(|()| Validator::compile(&schema)) {
            Ok(validator) => {
                self.checks.write_input(validator);
                self.definition.input_schema = schema.into();
            }
            Err(error) => self.fail(ToolDefinitionError::Input(error)),
        }
        self
    }

    /// Writes the schema of the structured content by hand. Every result is checked
    /// against it, except errors. One that breaks it is the server's fault: the answer is -32603.
    #[must_use]
    pub fn output_schema(mut self, schema: JsonObject) -> Self {
        match Validator::compile(&schema) {
            Ok(validator) => {
                self.checks.write_output(validator);
                self.definition.output_schema = Some(schema.into());
            }
            Err(error) => self.fail(ToolDefinitionError::Output(error)),
        }
        self
    }

    /// Runs a function: see [`Handler`]. Schemas come from its types unless written by hand.
    #[must_use]
    pub fn handler<M, H: Handler<M>>(self, handler: H) -> Self {
        H::describe(self).on_call(move |call: &ToolCall<'_>| handler.start(call))
    }

    /// Runs a function that extracts its parameters from the call itself and returns the future of
    /// the rest. [`Tool::handler`] and `#[tool]` expand to this.
    #[must_use]
    pub fn on_call<F, Fut>(mut self, start: F) -> Self
    where
        F: Fn(&ToolCall<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoToolResult,
    {
        self.infer_output(Fut::Output::output_schema());
        self.ask_code = self.ask_code.or(Fut::Output::ASK_CODE);
        self.run = Some(erase::<Self, _, _>(start));
        self
    }

    /// Sets the output schema of the handler's type, unless one was written by hand.
    // Not part of `on_call`, because that is compiled anew for each tool.
    fn infer_output(&mut self, schema: Result<Option<JsonObject>, SchemaError>) {
        match schema {
            Ok(Some(schema)) if !self.checks.has_written_output() => {
                self.definition.output_schema = Some(schema.into());
            }
            Ok(_) => {}
            Err(error) => self.fail(ToolDefinitionError::Output(error)),
        }
    }

    /// Checks that the tool can be offered. A name that the protocol advises against is valid; the
    /// server logs a warning at start.
    ///
    /// # Errors
    ///
    /// The first [`ToolDefinitionError`]; the author of the tool must correct it.
    pub fn check(&self) -> Result<(), ToolDefinitionError> {
        if self.name().is_empty() {
            return Err(ToolDefinitionError::Name(NameError::Empty));
        }
        match (&self.fault, &self.run) {
            (Some(fault), _) => Err(fault.clone()),
            (None, None) => Err(ToolDefinitionError::NoHandler),
            (None, Some(_)) => Ok(()),
        }
    }

    /// Logs a warning if the protocol advises against the name.
    pub(crate) fn warn_of_name(&self) {
        if let Err(fault) = names::check_tool_name(self.name()) {
            tracing::warn!(tool = self.name(), %fault, "clients may refuse the name of a tool");
        }
    }

    /// Keeps the first fault: the others may follow from it.
    pub(super) fn fail(&mut self, fault: ToolDefinitionError) {
        self.fault.get_or_insert(fault);
    }
}
