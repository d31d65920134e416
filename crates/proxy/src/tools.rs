//! The arguments of tools that HTTP clients repeat in headers.

use std::collections::HashMap;
use std::sync::Arc;

use pintle::client::Client;
use pintle::model::{Error, ListToolsResult, TaskSupport, Tool};
use pintle::runtime::ParamHeader;
use pintle::runtime::sync::Mutex;
use pintle::schema::header_bindings;
use serde_json::value::{RawValue, to_raw_value};

/// The member of a schema that repeats an argument in a header.
const ANNOTATION: &str = "x-mcp-header";

/// The tools of the server whose arguments HTTP clients repeat in headers.
///
/// Spec: [2026-07-28, Streamable HTTP, custom headers][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
pub(crate) struct Tools {
    all: Mutex<HashMap<String, Arc<[ParamHeader]>>>,
    /// The tools of a server of 2025-11-25 that can run as tasks; `None` before they are listed.
    tasks: Mutex<Option<HashMap<String, TaskSupport>>>,
    most: usize,
}

impl Tools {
    /// Returns an empty set that stores at most `most` tools.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            all: Mutex::default(),
            tasks: Mutex::default(),
            most,
        }
    }

    /// Returns the headers of a tool; none if it is unknown.
    pub(crate) fn headers(&self, tool: &str) -> Arc<[ParamHeader]> {
        self.all.lock().get(tool).cloned().unwrap_or_default()
    }

    /// Whether the tools that can run as tasks are known.
    pub(crate) fn is_listed(&self) -> bool {
        self.tasks.lock().is_some()
    }

    /// Forgets which tools can run as tasks, because the list has changed.
    pub(crate) fn forget_tasks(&self) {
        *self.tasks.lock() = None;
    }

    /// Returns whether a tool can run as a task.
    pub(crate) fn task_support(&self, tool: &str) -> TaskSupport {
        let tasks = self.tasks.lock();
        let support = tasks.as_ref().and_then(|tasks| tasks.get(tool));
        support.cloned().unwrap_or(TaskSupport::Forbidden)
    }

    /// Lists the tools of the server, and replaces all that are known. A failure is logged.
    pub(crate) async fn list(&self, client: &Client) {
        match client.list_tools().await {
            Ok(tools) => {
                self.all.lock().clear();
                tools.iter().for_each(|tool| self.learn(tool));
                let tasks = tools.iter().map(|tool| (&tool.name, tool.task_support()));
                let tasks = tasks.filter(|(_, support)| *support != TaskSupport::Forbidden);
                let tasks = tasks.take(self.most);
                let tasks = tasks.map(|(name, support)| (name.clone(), support));
                *self.tasks.lock() = Some(tasks.collect());
            }
            Err(error) => {
                tracing::warn!(%error, "the proxy cannot verify headers that repeat arguments");
            }
        }
    }

    /// Learns the tools of a result of `tools/list`, if the result or a known tool has headers.
    pub(crate) fn read(&self, listed: &RawValue) {
        if !listed.get().contains(ANNOTATION) && self.all.lock().is_empty() {
            return;
        }
        if let Ok(listed) = serde_json::from_str::<ListToolsResult>(listed.get()) {
            listed.tools.iter().for_each(|tool| self.learn(tool));
        }
    }

    /// Passes the tools of a result of `tools/list` to the client of its connection, if the result has headers: calls
    /// then repeat their arguments. Removes the tools that its transport cannot call.
    ///
    /// # Errors
    ///
    /// -32603 if the result cannot be written.
    pub(crate) fn admit(client: &Client, listed: Box<RawValue>) -> Result<Box<RawValue>, Error> {
        if !listed.get().contains(ANNOTATION) {
            return Ok(listed);
        }
        let Ok(mut page) = serde_json::from_str::<ListToolsResult>(listed.get()) else {
            return Ok(listed);
        };
        let all = page.tools.len();
        page.tools.retain(|tool| {
            let admitted = client.learn_tool(tool);
            if let Err(reason) = &admitted {
                tracing::warn!(tool = %tool.name, reason, "a tool is hidden");
            }
            admitted.is_ok()
        });
        match page.tools.len() == all {
            true => Ok(listed),
            false => to_raw_value(&page).map_err(|_| Error::internal()),
        }
    }

    fn learn(&self, tool: &Tool) {
        let headers = headers_of(tool);
        let mut all = self.all.lock();
        if headers.is_empty() {
            all.remove(&tool.name);
        } else if all.len() < self.most || all.contains_key(&tool.name) {
            all.insert(tool.name.clone(), headers);
        } else {
            tracing::warn!(tool = %tool.name, "headers of this tool are not verified: too many tools have headers");
        }
    }
}

/// Returns the headers of a tool. Clients drop a tool whose annotations are invalid, so it has none.
fn headers_of(tool: &Tool) -> Arc<[ParamHeader]> {
    let bindings = header_bindings(&tool.input_schema).unwrap_or_default();
    let header = |binding: &pintle::schema::HeaderBinding| {
        let path: Vec<Box<str>> = binding.path.iter().map(|name| (**name).into()).collect();
        ParamHeader::new(&*binding.name, path)
    };
    bindings.iter().map(header).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn listed(tools: &[(&str, Option<&str>)]) -> Box<RawValue> {
        let tool = |(name, header): &(&str, Option<&str>)| {
            let mut region = json!({ "type": "string" });
            if let Some(header) = header {
                region[ANNOTATION] = Value::from(*header);
            }
            json!({ "name": name, "inputSchema": { "type": "object", "properties": { "region": region } } })
        };
        let tools: Vec<Value> = tools.iter().map(tool).collect();
        let text = json!({ "tools": tools }).to_string();
        RawValue::from_string(text).expect("JSON")
    }

    #[test]
    fn a_page_of_tools_replaces_the_headers_of_its_tools() {
        let tools = Tools::new(2);
        tools.read(&listed(&[("a", None), ("b", Some("Region"))]));
        assert_eq!(&*tools.headers("b")[0].name, "Region");
        assert!(tools.headers("a").is_empty());
        tools.read(&listed(&[("b", None)]));
        assert!(tools.headers("b").is_empty());
    }

    #[test]
    fn the_tools_with_headers_have_a_limit() {
        let tools = Tools::new(1);
        tools.read(&listed(&[("a", Some("Region")), ("b", Some("Region"))]));
        assert!(tools.headers("b").is_empty());
        tools.read(&listed(&[("a", Some("Place"))]));
        assert_eq!(&*tools.headers("a")[0].name, "Place");
    }

    #[test]
    fn invalid_annotations_bind_no_header() {
        let tools = Tools::new(1);
        tools.read(&listed(&[("a", Some("not a name"))]));
        assert!(tools.headers("a").is_empty());
    }
}
