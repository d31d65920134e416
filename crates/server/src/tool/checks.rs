//! What is checked on the way into a function and out of it.
//!
//! Most calls are checked by decoding alone. Only what a schema says beyond a type, and schemas that
//! were written by hand, need the value in between.

use pintle_model::{CallToolResult, Error, Outcome};
use pintle_runtime::validate::{Validator, Violation};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::rejection::BadArguments;
use crate::tool::once::Once;
use crate::tool::result::ToolReply;

/// The compiled schemas of a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    input: Option<Check>,
    // Content that is encoded from a type keeps to the type's schema: only written ones are here.
    output: Option<Box<Validator>>,
}

#[derive(Debug, Clone)]
struct Check {
    validator: Box<Validator>,
    is_written: bool,
}

impl Checks {
    /// Takes the schema of a type, unless one was written by hand. Says whether it was taken.
    pub(super) fn derive_input(&mut self, validator: Validator) -> bool {
        let is_free = !self.input.as_ref().is_some_and(|check| check.is_written);
        if is_free {
            self.input = Some(Check {
                validator: Box::new(validator),
                is_written: false,
            });
        }
        is_free
    }

    /// Whether the schema comes from a type.
    pub(super) fn has_derived_input(&self) -> bool {
        self.input.as_ref().is_some_and(|check| !check.is_written)
    }

    /// Takes a schema that was written by hand.
    pub(super) fn write_input(&mut self, validator: Validator) {
        self.input = Some(Check {
            validator: Box::new(validator),
            is_written: true,
        });
    }

    /// Takes a schema of results that was written by hand.
    pub(super) fn write_output(&mut self, validator: Validator) {
        self.output = Some(Box::new(validator));
    }

    /// Whether the schema of results was written by hand.
    pub(super) fn has_written_output(&self) -> bool {
        self.output.is_some()
    }

    /// Checks what decoding would not.
    pub(super) fn let_in(&self, arguments: &str) -> Result<(), BadArguments> {
        let Some(check) = &self.input else {
            return Ok(());
        };
        if !check.is_written && !check.validator.needs_check() {
            return Ok(());
        }
        check.value(arguments).map(drop)
    }

    /// Decodes arguments that did not decode at once, or says what is wrong with them.
    pub(super) fn mend<T: DeserializeOwned>(
        &self,
        arguments: &str,
        refusal: &serde_json::Error,
    ) -> Result<T, BadArguments> {
        let Some(check) = &self.input else {
            return Err(BadArguments::unreadable(refusal));
        };
        let value = check.value(arguments)?;
        serde_json::from_value(value).map_err(BadArguments::unreadable)
    }

    /// Checks a result against a schema that was written by hand.
    pub(super) fn let_out(&self, tool: &str, outcome: Outcome<CallToolResult>) -> ToolReply {
        let (Some(validator), Outcome::Complete(result)) = (&self.output, &outcome) else {
            return Ok(outcome);
        };
        if result.has_failed() {
            return Ok(outcome);
        }
        match conforms(validator, result.structured_content.as_ref()) {
            Ok(()) => Ok(outcome),
            Err(violations) => {
                let violation = violations.first().map(ToString::to_string);
                tracing::error!(tool, violation, "a result breaks the tool's output schema");
                Err(Error::internal())
            }
        }
    }
}

impl Check {
    /// The arguments as a value that keeps to the schema.
    fn value(&self, arguments: &str) -> Result<Value, BadArguments> {
        let read = serde_json::from_str(arguments);
        let Once(mut value) = read.map_err(BadArguments::unreadable)?;
        self.validator.coerce_integers(&mut value);
        self.validator.drop_optional_nulls(&mut value);
        let checked = self.validator.validate(&value);
        checked.map_err(BadArguments::violating)?;
        Ok(value)
    }
}

fn conforms(validator: &Validator, content: Option<&Value>) -> Result<(), Vec<Violation>> {
    match content {
        Some(content) => validator.validate(content),
        // No violation to show: there is nothing it could be in.
        None => Err(Vec::new()),
    }
}
