//! Whether what a tool gives is what it promised in its output schema.
//!
//! Schemas come with the list of tools. Each is compiled when its tool is first called, and kept for
//! as long as the tool is listed with the same one.

use std::fmt;
use std::sync::OnceLock;

use pintle_model::{CallToolResult, JsonObject};
use pintle_schema::SchemaError;
use pintle_schema::{Validator, Verdict, Violation};
use serde_json::Value;

use crate::client::Client;
use crate::error::CallError;
use crate::recovery::is_listed;

/// When structured content is checked against the output schema of its tool.
///
/// Results of tools that say they failed are never checked.
///
/// Spec: [2026-07-28, Tools, Output schema][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OutputCheck {
    /// When the tool is known: it was listed in this conversation, and nothing says that the tools
    /// have changed since. Nothing is asked of the server for it.
    #[default]
    Listed,
    /// Always: a tool that is not known is looked for in the server's list before it is called. What
    /// is not in the list is called unchecked.
    Always,
    /// Never.
    Off,
}

/// What a tool gave, although its output schema promises something else.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UnfitOutput {
    /// The tool.
    pub tool: Box<str>,
    /// What is wrong.
    pub fault: OutputFault,
    /// The result as it came: to be looked at, not to be relied on.
    pub result: CallToolResult,
}

/// What is wrong with an output.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutputFault {
    /// There is no structured content.
    Missing,
    /// It is not what the schema asks for: where, and what belongs there. At least one, 16 at most.
    Violations(Vec<Violation>),
}

impl fmt::Display for UnfitOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.fault {
            OutputFault::Missing => write!(
                f,
                "the tool {tool:?} promises structured content, and gave none"
            ),
            OutputFault::Violations(violations) => {
                write!(
                    f,
                    "the structured content of the tool {tool:?} is not what it promises"
                )?;
                let mut separator = ": ";
                for violation in violations {
                    write!(f, "{separator}{violation}")?;
                    separator = "; ";
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for UnfitOutput {}

/// The output schema of one tool, compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct OutputSchema {
    schema: JsonObject,
    compiled: OnceLock<Result<Validator, SchemaError>>,
}

impl OutputSchema {
    pub(crate) fn new(schema: JsonObject) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn is(&self, schema: &JsonObject) -> bool {
        self.schema == *schema
    }

    fn validator(&self, tool: &str) -> &Result<Validator, SchemaError> {
        self.compiled.get_or_init(|| {
            let compiled = Validator::compile_foreign(&self.schema);
            let unenforced = compiled.iter().flat_map(Validator::unenforced);
            for unenforced in unenforced {
                tracing::debug!(tool, %unenforced, "a part of an output schema is not enforced");
            }
            compiled
        })
    }

    /// Checks a result.
    ///
    /// # Errors
    ///
    /// What is wrong with it. A schema that cannot be used finds nothing wrong.
    pub(crate) fn check(
        &self,
        tool: &str,
        result: CallToolResult,
    ) -> Result<CallToolResult, Box<UnfitOutput>> {
        let Ok(validator) = self.validator(tool) else {
            return Ok(result);
        };
        if result.has_failed() {
            return Ok(result);
        }
        match fault(tool, validator, result.structured_content.as_ref()) {
            None => Ok(result),
            Some(fault) => Err(Box::new(UnfitOutput {
                tool: tool.into(),
                fault,
                result,
            })),
        }
    }
}

fn fault(tool: &str, validator: &Validator, content: Option<&Value>) -> Option<OutputFault> {
    let Some(content) = content else {
        return Some(OutputFault::Missing);
    };
    match validator.judge(content) {
        Verdict::Unfit(violations) => Some(OutputFault::Violations(violations)),
        Verdict::Unchecked => {
            tracing::warn!(tool, "structured content is too much to check");
            None
        }
        Verdict::Fits | Verdict::FitsAsFarAsKnown => None,
    }
}

/// Sees to it before a call that its result can be checked.
///
/// # Errors
///
/// [`CallError::Uncheckable`] if the tool's schema cannot be used: rather now than when the tool has
/// done what it does.
pub(crate) async fn prepare(client: &Client, tool: Option<&str>) -> Result<(), CallError> {
    let Some(name) = tool else {
        return Ok(());
    };
    let inner = &*client.0;
    if inner.check_output == OutputCheck::Off {
        return Ok(());
    }
    if inner.check_output == OutputCheck::Always && !inner.knows_output_of(name) {
        // Pages that are kept are read again, and teach what they say.
        Box::pin(is_listed(client, name)).await;
    }
    let Some(output) = inner.output_of(name) else {
        return Ok(());
    };
    match output.validator(name) {
        Ok(_) => Ok(()),
        Err(source) => Err(CallError::Uncheckable {
            tool: name.to_owned(),
            source: source.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(schema: Value) -> OutputSchema {
        OutputSchema::new(schema.as_object().cloned().unwrap_or_default())
    }

    // spec: 2025-11-25 TOOL-23
    // spec: 2026-07-28 N-TOOL-11
    #[test]
    fn an_unfit_output_says_where_and_why_and_what_came() {
        let output = schema(json!({
            "type": "object", "required": ["a"], "properties": { "b": { "type": "integer" } },
        }));
        let result = CallToolResult::structured(json!({ "b": "secret" }));
        let unfit = output.check("t", result.clone()).unwrap_err();
        assert_eq!(unfit.result, result);
        let OutputFault::Violations(violations) = &unfit.fault else {
            panic!("{unfit:?}");
        };
        let pointers: Vec<_> = violations.iter().map(|it| it.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a", "/b"]);
        assert_eq!(
            unfit.to_string(),
            "the structured content of the tool \"t\" is not what it promises: /a: expected a value, \
             found nothing, although it is required; /b: expected an integer, found a string of 6 characters"
        );
    }

    // spec: 2025-11-25 AMB-57
    #[test]
    fn what_failed_or_is_null_by_promise_passes_and_nothing_does_not() {
        let output = schema(json!({ "type": "null" }));
        let good = CallToolResult::structured(Value::Null);
        assert_eq!(output.check("t", good.clone()), Ok(good));
        let failed = CallToolResult::error("no");
        assert_eq!(output.check("t", failed.clone()), Ok(failed));
        let none = output.check("t", CallToolResult::text("5")).unwrap_err();
        assert_eq!(none.fault, OutputFault::Missing);
    }
}
