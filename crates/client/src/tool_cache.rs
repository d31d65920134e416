//! The cached properties of a server's tools: header parameters, output schemas, support of tasks
//! and fingerprints.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_model::{TaskSupport, Tool};
use pintle_runtime::ParamHeader;
use pintle_runtime::sync::{Mutex, MutexGuard};
use serde_json::Value;

use crate::output_schema::OutputSchema;

/// The tools that were listed last, by name.
// A tree, because names of a server would need a slow hash.
#[derive(Default)]
pub(crate) struct ToolCache(Mutex<BTreeMap<String, Arc<KnownTool>>>);

#[derive(Debug)]
pub(crate) struct KnownTool {
    pub(crate) param_headers: Vec<ParamHeader>,
    pub(crate) output: Option<Arc<OutputSchema>>,
    /// The number of reported changes of the tools when this tool was listed.
    pub(crate) as_of: u64,
    pub(crate) task_support: TaskSupport,
    /// The fingerprint for the check of approvals; none if the client has no approvals.
    pub(crate) fingerprint: Option<Arc<str>>,
    /// True if the tool differed when it was listed just before: it changed without a notification,
    /// or the server lists several tools of this name.
    pub(crate) is_ambiguous: bool,
}

impl ToolCache {
    /// Caches a tool as of the given number of changes. New tools beyond `limit` are not cached.
    pub(crate) fn learn(
        &self,
        tool: &Tool,
        param_headers: Vec<ParamHeader>,
        fingerprint: Option<Arc<str>>,
        as_of: u64,
        limit: usize,
    ) {
        let mut tools = self.lock();
        let before = tools.get(&tool.name);
        if tools.len() >= limit && before.is_none() {
            return;
        }
        let is_ambiguous = before.is_some_and(|before| before.fingerprint != fingerprint);
        let before = before.and_then(|tool| tool.output.clone());
        let output = tool.output_schema.as_ref().map(|schema| match before {
            // The old schema may already be compiled.
            Some(before) if before.is(schema) => before,
            _ => Arc::new(OutputSchema::new(schema.clone())),
        });
        let learned = KnownTool {
            param_headers,
            output,
            as_of,
            task_support: tool.task_support(),
            fingerprint,
            is_ambiguous,
        };
        tools.insert(tool.name.clone(), Arc::new(learned));
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<KnownTool>> {
        self.lock().get(name).cloned()
    }

    /// Removes all tools, because another conversation may be with another version of the server.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<KnownTool>>> {
        self.0.lock()
    }
}

impl KnownTool {
    /// Returns the arguments that a call repeats in headers: header names, and values as text.
    ///
    /// Spec: [2026-07-28, Streamable HTTP, custom headers][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
    pub(crate) fn repeated(&self, arguments: &[u8]) -> Vec<(Box<str>, Box<str>)> {
        if self.param_headers.is_empty() {
            return Vec::new();
        }
        let Ok(arguments) = serde_json::from_slice::<Value>(arguments) else {
            return Vec::new();
        };
        let headers = self.param_headers.iter();
        headers
            .filter_map(|header| {
                let value = at(&arguments, &header.path)?;
                Some((header.name.clone(), text_of(value)?))
            })
            .collect()
    }
}

fn at<'v>(arguments: &'v Value, path: &[Box<str>]) -> Option<&'v Value> {
    path.iter()
        .try_fold(arguments, |value, name| value.get(&**name))
}

/// Formats a value for a header: text as it is, integers in digits, booleans as words.
fn text_of(value: &Value) -> Option<Box<str>> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Bool(yes) => Some(if *yes { "true" } else { "false" }.into()),
        Value::Number(number) => {
            if let Some(whole) = number.as_i64() {
                return Some(whole.to_string().into());
            }
            let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
            Some(format!("{number:.0}").into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2026-07-28 N-XHDR-08, N-XHDR-09
    #[test]
    fn annotated_arguments_are_repeated_as_text() {
        let header = |name: &str, path: &[&str]| {
            let path: Vec<Box<str>> = path.iter().map(|part| (*part).into()).collect();
            ParamHeader::new(name, path)
        };
        let tool = KnownTool {
            param_headers: vec![
                header("A", &["a"]),
                header("B", &["b", "c"]),
                header("N", &["n"]),
                header("F", &["f"]),
                header("Y", &["y"]),
                header("Z", &["z"]),
                header("E", &["e"]),
                header("No", &["no"]),
            ],
            output: None,
            as_of: 0,
            task_support: TaskSupport::Forbidden,
            fingerprint: None,
            is_ambiguous: false,
        };
        let arguments = json!({ "a": " x\n", "b": { "c": "deep" }, "n": -7, "f": 42.0, "y": true, "z": null, "e": "" });
        let repeated = tool.repeated(arguments.to_string().as_bytes());
        let repeated: Vec<_> = repeated
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        assert_eq!(
            repeated,
            [
                ("A", " x\n"),
                ("B", "deep"),
                ("N", "-7"),
                ("F", "42"),
                ("Y", "true"),
                ("E", "")
            ]
        );
    }
}
