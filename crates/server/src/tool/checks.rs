//! Checks of the arguments and the result of a function.
//!
//! Decoding alone checks most calls. Only schemas that are stricter than the type, and schemas that
//! were written by hand, are checked on a JSON value.

use std::sync::Arc;

use pintle_model::{CallToolResult, Error, Outcome};
use pintle_schema::{Typed, Validator, Violation};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::rejection::ArgumentsError;
#[cfg(feature = "any-schema")]
use crate::tool::any::AnyValidator;
use crate::tool::once::Once;

/// The compiled schemas of a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    input: Option<Input>,
    // Content that is encoded from a type keeps to the type's schema: only written ones are here.
    output: Option<Box<Validator>>,
}

/// Where the schema of the arguments comes from.
#[derive(Debug, Clone)]
enum Input {
    Derived(Arc<Typed>),
    Written(Box<Validator>),
    #[cfg(feature = "any-schema")]
    Any(AnyValidator),
}

impl Checks {
    /// Uses the schema of a type, unless one was written by hand. Returns true if it is used.
    pub(super) fn derive_input(&mut self, typed: Arc<Typed>) -> bool {
        let is_free = matches!(self.input, None | Some(Input::Derived(_)));
        if is_free {
            self.input = Some(Input::Derived(typed));
        }
        is_free
    }

    /// Returns the derived schema, if the schema comes from a type.
    pub(super) fn derived_input(&self) -> Option<&Typed> {
        match &self.input {
            Some(Input::Derived(typed)) => Some(typed),
            _ => None,
        }
    }

    /// Takes a schema that was written by hand.
    pub(super) fn write_input(&mut self, validator: Validator) {
        self.input = Some(Input::Written(Box::new(validator)));
    }

    /// Takes a schema that another crate enforces.
    #[cfg(feature = "any-schema")]
    pub(super) fn accept_any_input(&mut self, validator: AnyValidator) {
        self.input = Some(Input::Any(validator));
    }

    /// Takes a schema of results that was written by hand.
    pub(super) fn write_output(&mut self, validator: Validator) {
        self.output = Some(Box::new(validator));
    }

    /// Whether the schema of results was written by hand.
    pub(super) fn has_written_output(&self) -> bool {
        self.output.is_some()
    }

    /// Checks the arguments, unless decoding checks everything that the schema requires.
    pub(super) fn let_in(&self, arguments: &str) -> Result<(), ArgumentsError> {
        match &self.input {
            None => Ok(()),
            Some(Input::Derived(typed)) if !typed.validator.needs_check() => Ok(()),
            Some(input) => input.value(arguments).map(drop),
        }
    }

    /// Decodes arguments that did not decode at once, or returns their violations.
    pub(super) fn decode_or_violations<T: DeserializeOwned>(
        &self,
        arguments: &str,
        refusal: &serde_json::Error,
    ) -> Result<T, ArgumentsError> {
        let Some(input) = &self.input else {
            return Err(ArgumentsError::unreadable(refusal));
        };
        let value = input.value(arguments)?;
        serde_json::from_value(value).map_err(ArgumentsError::unreadable)
    }

    /// Checks a result against a schema that was written by hand.
    pub(super) fn let_out(
        &self,
        tool: &str,
        outcome: &Outcome<CallToolResult>,
    ) -> Result<(), Error> {
        let (Some(validator), Outcome::Complete(result)) = (&self.output, outcome) else {
            return Ok(());
        };
        if result.has_failed() {
            return Ok(());
        }
        conforms(validator, result.structured_content.as_ref()).map_err(|violations| {
            let violation = violations.first().map(ToString::to_string);
            tracing::error!(tool, violation, "a result breaks the tool's output schema");
            Error::internal()
        })
    }
}

impl Input {
    /// The arguments as a value that keeps to the schema.
    fn value(&self, arguments: &str) -> Result<Value, ArgumentsError> {
        let read = serde_json::from_str(arguments);
        let Once(mut value) = read.map_err(ArgumentsError::unreadable)?;
        let checked = match self {
            Self::Derived(typed) => corrected(&typed.validator, &mut value),
            Self::Written(validator) => corrected(validator, &mut value),
            #[cfg(feature = "any-schema")]
            Self::Any(validator) => validator.validate(&value),
        };
        checked.map_err(ArgumentsError::violating)?;
        Ok(value)
    }
}

/// Corrects what models write in another form, then checks the value.
fn corrected(validator: &Validator, value: &mut Value) -> Result<(), Vec<Violation>> {
    validator.coerce_integers(value);
    validator.drop_optional_nulls(value);
    validator.validate(value)
}

fn conforms(validator: &Validator, content: Option<&Value>) -> Result<(), Vec<Violation>> {
    match content {
        Some(content) => validator.validate(content),
        // No violation to show: there is nothing it could be in.
        None => Err(Vec::new()),
    }
}
