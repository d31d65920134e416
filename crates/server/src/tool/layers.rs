//! Layers around the calls of one tool, a limit of concurrent calls, and hidden arguments.

use std::num::NonZeroUsize;
use std::sync::Arc;

use pintle_model::{CallToolResult, Error, Outcome};
use pintle_runtime::Context;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::ask_code::AskCode;
use crate::request::ToolRequest;
use crate::tool::fault::ToolDefinitionError;
use crate::tool::{Tool, ToolReply};
use crate::typed_layer::{Next, around};

impl Tool {
    /// Puts a layer around every call of this tool. The first that is added is the outermost, and all are inside
    /// [`Server::on_tool_call`](crate::Server::on_tool_call). [`Tool::call`] has no layers.
    ///
    /// ```
    /// use pintle_server::Tool;
    ///
    /// let tool = Tool::new("add")
    ///     .handler(async || 3)
    ///     .layer(|request, next| async move {
    ///         let started = std::time::Instant::now();
    ///         let reply = next.run(request).await;
    ///         println!("{:?}", started.elapsed());
    ///         reply
    ///     });
    /// # assert!(tool.check().is_ok());
    /// ```
    #[must_use]
    pub fn layer<F, Fut>(mut self, layer: F) -> Self
    where
        F: Fn(ToolRequest, Next<ToolRequest, ToolReply>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ToolReply> + Send + 'static,
    {
        self.ask_code = Some(AskCode::LINKED);
        self.layers.push(around(layer));
        self
    }

    /// Runs at most so many calls of this tool at the same time. Others wait in the order of their arrival.
    ///
    /// The time of the wait does not count for [`Tool::timeout`]. A call that waits counts for the limits of open
    /// calls, and ends when the client cancels it. A call keeps its place while a question to the user is open,
    /// if the client answers without a retry.
    #[must_use]
    pub fn max_concurrent(self, calls: NonZeroUsize) -> Self {
        let places = Arc::new(Semaphore::new(calls.get().min(Semaphore::MAX_PERMITS)));
        self.layer(move |request, next: Next<ToolRequest, ToolReply>| {
            let places = Arc::clone(&places);
            async move {
                // An error would mean that the semaphore is closed, which it never is.
                let _place = places.acquire().await;
                next.run(request).await
            }
        })
    }

    /// Hides an argument, and sets it to a value in every call. See [`Tool::hidden_argument`].
    #[must_use]
    pub fn fixed_argument(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.hidden_argument(name, move |_| value.clone())
    }

    /// Hides an argument, and sets it in every call to what `value` returns: the id of the caller, for example.
    ///
    /// The schema does not list the argument, and a client that sends it gets an error for the model. Call this
    /// after the handler or the schema of the tool, because the argument must be in its schema. A missing one is
    /// an error at start.
    ///
    /// ```
    /// use pintle_server::Tool;
    /// use serde_json::json;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Search {
    ///     query: String,
    ///     tenant: String,
    /// }
    ///
    /// let tool = Tool::new("search")
    ///     .handler(async |search: Search| format!("{} of {}", search.query, search.tenant))
    ///     .hidden_argument("tenant", |cx| json!(cx.principal().map(|it| it.id())));
    /// assert!(tool.definition().input_schema["properties"].get("tenant").is_none());
    /// ```
    #[must_use]
    pub fn hidden_argument(
        mut self,
        name: impl Into<String>,
        value: impl Fn(&Context) -> Value + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        if !hide(&mut self.definition.input_schema, &name) {
            self.fail(ToolDefinitionError::NoArgument { name });
            return self;
        }
        self.layer(move |mut request, next: Next<ToolRequest, ToolReply>| {
            let set = set(request.arguments.as_deref(), &name, value(&request.cx));
            async move {
                match set {
                    Ok(arguments) => request.arguments = Some(arguments),
                    Err(reply) => return *reply,
                }
                next.run(request).await
            }
        })
    }
}

/// Removes a property from a schema. Returns false if it has no such property.
fn hide(schema: &mut Map<String, Value>, name: &str) -> bool {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    let removed = properties.and_then(|properties| properties.shift_remove(name));
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|it| it != name);
    }
    removed.is_some()
}

/// Returns the arguments with one more, or the reply to a call that cannot have it.
fn set(
    arguments: Option<&RawValue>,
    name: &str,
    value: Value,
) -> Result<Box<RawValue>, Box<ToolReply>> {
    let mut arguments = match arguments.map(|it| serde_json::from_str(it.get())) {
        None | Some(Ok(None)) => Map::new(),
        Some(Ok(Some(arguments))) => arguments,
        // Not passed on: the handler could read the name from it.
        Some(Err(_)) => {
            let error = Error::invalid_params("the arguments of a tool are an object");
            return Err(Box::new(Err(error)));
        }
    };
    if arguments.contains_key(name) {
        let text = format!("the tool has no argument `{name}`");
        let reply = Ok(Outcome::Complete(CallToolResult::error(text)));
        return Err(Box::new(reply));
    }
    arguments.insert(name.to_owned(), value);
    to_raw_value(&arguments).map_err(|_| Box::new(Err(Error::internal())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn a_value_is_added_to_the_arguments() {
        for (arguments, expected) in [
            (None, r#"{"b":2}"#),
            (Some(raw("null")), r#"{"b":2}"#),
            (Some(raw(r#"{"a":1}"#)), r#"{"a":1,"b":2}"#),
        ] {
            let added = set(arguments.as_deref(), "b", 2.into()).expect("an object");
            assert_eq!(added.get(), expected);
        }
    }

    #[test]
    fn arguments_that_may_have_the_name_are_refused() {
        for arguments in [
            r#"{"b":1}"#,
            r#"{"\u0062":1}"#,
            r#"{"b":1,"b":2}"#,
            r#"["b"]"#,
            r#""b""#,
        ] {
            let refused = set(Some(&raw(arguments)), "b", 2.into());
            assert!(refused.is_err(), "{arguments}");
        }
    }
}
