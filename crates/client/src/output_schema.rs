//! Validates the output of a tool against its output schema.
//!
//! Schemas arrive with the list of tools. Each is compiled when its tool is first called, and
//! stored while the tool is listed with the same schema.

use std::sync::OnceLock;

use pintle_model::{CallToolResult, Schema};
use pintle_schema::SchemaError;
use pintle_schema::{Validator, Validity};
use serde_json::Value;

use crate::error::{OutputError, OutputErrorKind};

/// When structured content is checked against the output schema of its tool.
///
/// Results with `isError` are never checked.
///
/// Spec: [2026-07-28, Tools, Output schema][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OutputCheck {
    /// Checks tools that were listed in this conversation, if no change of the tools was reported
    /// since. It sends no request.
    #[default]
    Listed,
    /// Checks all tools: an unknown tool is looked up in the server's list before it is called. A
    /// tool that is not in the list is called unchecked.
    Always,
    /// Checks no tools.
    Off,
}

/// The output schema of one tool, compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct OutputSchema {
    schema: Schema,
    compiled: OnceLock<Result<Validator, SchemaError>>,
}

impl OutputSchema {
    pub(crate) fn new(schema: Schema) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn is(&self, schema: &Schema) -> bool {
        self.schema == *schema
    }

    /// Returns the compiled schema, or the reason why it cannot be used.
    pub(crate) fn validator(&self, tool: &str) -> &Result<Validator, SchemaError> {
        self.compiled.get_or_init(|| {
            let compiled = Validator::compile_foreign(&self.schema);
            let unenforced = compiled.iter().flat_map(Validator::unenforced);
            for unenforced in unenforced {
                tracing::debug!(tool, %unenforced, "a part of an output schema is not enforced");
            }
            compiled
        })
    }

    /// Validates a result.
    ///
    /// # Errors
    ///
    /// The violations. An unusable schema yields none.
    pub(crate) fn check(
        &self,
        tool: &str,
        result: CallToolResult,
    ) -> Result<CallToolResult, Box<OutputError>> {
        let Ok(validator) = self.validator(tool) else {
            return Ok(result);
        };
        if result.has_failed() {
            return Ok(result);
        }
        match fault(tool, validator, result.structured_content.as_ref()) {
            None => Ok(result),
            Some(fault) => Err(Box::new(OutputError {
                tool: tool.into(),
                fault,
                result,
            })),
        }
    }
}

fn fault(tool: &str, validator: &Validator, content: Option<&Value>) -> Option<OutputErrorKind> {
    let Some(content) = content else {
        return Some(OutputErrorKind::Missing);
    };
    match validator.check(content) {
        Validity::Invalid(violations) => Some(OutputErrorKind::Violations(violations)),
        Validity::Unchecked => {
            tracing::warn!(tool, "structured content is too much to check");
            None
        }
        Validity::Valid | Validity::PartlyChecked => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(schema: Value) -> OutputSchema {
        OutputSchema::new(schema.as_object().cloned().unwrap_or_default().into())
    }

    // spec: 2025-11-25 TOOL-23
    // spec: 2026-07-28 N-TOOL-11
    #[test]
    fn an_invalid_output_reports_places_reasons_and_the_result() {
        let output = schema(json!({
            "type": "object", "required": ["a"], "properties": { "b": { "type": "integer" } },
        }));
        let result = CallToolResult::structured(json!({ "b": "secret" }));
        let unfit = output.check("t", result.clone()).unwrap_err();
        assert_eq!(unfit.result, result);
        let OutputErrorKind::Violations(violations) = &unfit.fault else {
            panic!("{unfit:?}");
        };
        let pointers: Vec<_> = violations.iter().map(|it| it.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a", "/b"]);
        assert_eq!(
            unfit.to_string(),
            "the structured content of the tool \"t\" does not match its output schema: /a: expected a value, \
             found nothing, although it is required; /b: expected an integer, found a string of 6 characters"
        );
    }

    // spec: 2025-11-25 AMB-57
    #[test]
    fn failed_and_permitted_null_outputs_pass_and_missing_ones_do_not() {
        let output = schema(json!({ "type": "null" }));
        let good = CallToolResult::structured(Value::Null);
        assert_eq!(output.check("t", good.clone()), Ok(good));
        let failed = CallToolResult::error("no");
        assert_eq!(output.check("t", failed.clone()), Ok(failed));
        let none = output.check("t", CallToolResult::text("5")).unwrap_err();
        assert_eq!(none.fault, OutputErrorKind::Missing);
    }
}
