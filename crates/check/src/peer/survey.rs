//! The lists of the server, and samples of its results.

use pintle_schema::header_bindings;
use serde_json::{Map, Value, json};

use super::head::text;
use super::{Headers, Peer};
use crate::finding::{Stop, skipped};
use crate::text::clip;
use crate::wire::Wait;

/// The lists of a server: the method, the member of the result, and the capability.
pub(crate) const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "tools"),
    ("resources/list", "resources", "resources"),
    ("resources/templates/list", "resourceTemplates", "resources"),
    ("prompts/list", "prompts", "prompts"),
];

/// The declarations and the offers of a server.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The result of `initialize` or `server/discover`.
    pub(crate) opening: Value,
    lists: Vec<Listed>,
    /// Results of tools, of resources and of prompts.
    pub(crate) calls: Vec<Sample>,
    pub(crate) reads: Vec<Sample>,
    pub(crate) prompts: Vec<Sample>,
}

/// One list, page by page.
#[derive(Debug, Default, Clone)]
pub(crate) struct Listed {
    pub(crate) method: &'static str,
    pub(crate) member: &'static str,
    pub(crate) pages: Vec<Value>,
    /// The cursors in the order of the pages.
    pub(crate) cursors: Vec<String>,
    /// The answer that is not a result.
    pub(crate) failure: Option<String>,
}

/// The result for one entry of a list.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The entry of the list.
    pub(crate) entry: Value,
    pub(crate) sent: Value,
    /// The result, or the whole response with an error.
    pub(crate) outcome: Result<Value, Value>,
}

impl Listed {
    /// Returns the entries of all pages.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Value> {
        let pages = self.pages.iter();
        pages
            .filter_map(|page| page.get(self.member)?.as_array())
            .flatten()
    }
}

impl Survey {
    /// Returns a declared capability.
    pub(crate) fn capability(&self, name: &str) -> Option<&Value> {
        self.opening.get("capabilities")?.get(name)
    }

    /// Returns true if a member of a capability is `true`.
    pub(crate) fn declares(&self, name: &str, member: &str) -> bool {
        let value = self.capability(name).and_then(|value| value.get(member));
        value.and_then(Value::as_bool) == Some(true)
    }

    /// Returns a list that the server answered.
    ///
    /// # Errors
    ///
    /// The check is skipped without the capability, and without a page.
    pub(crate) fn list(&self, method: &str) -> Result<&Listed, Stop> {
        let listed = self.lists.iter().find(|listed| listed.method == method);
        match listed {
            Some(listed) if !listed.pages.is_empty() => Ok(listed),
            Some(_) => Err(skipped(format!("`{method}` has no result"))),
            None => Err(skipped(format!(
                "the capability for `{method}` is not declared"
            ))),
        }
    }

    /// Returns all lists of declared capabilities.
    pub(crate) fn lists(&self) -> &[Listed] {
        &self.lists
    }

    /// Returns the entries of a list.
    ///
    /// # Errors
    ///
    /// The check is skipped if the list is empty.
    pub(crate) fn entries(&self, method: &str) -> Result<Vec<&Value>, Stop> {
        let entries: Vec<&Value> = self.list(method)?.entries().collect();
        match entries.is_empty() {
            true => Err(skipped(format!("`{method}` has no entries"))),
            false => Ok(entries),
        }
    }

    /// Returns the tools that may be called, with the arguments of the call.
    pub(crate) fn callable(&self, options: &crate::CheckOptions) -> Vec<(Value, Value)> {
        self.allowed(options, is_read_only)
    }

    /// Returns the tools that may be called as a task, with the arguments of the call.
    pub(crate) fn callable_as_task(&self, options: &crate::CheckOptions) -> Vec<(Value, Value)> {
        self.allowed(options, changes_nothing)
    }

    fn allowed(
        &self,
        options: &crate::CheckOptions,
        is_harmless: fn(&Value) -> bool,
    ) -> Vec<(Value, Value)> {
        let Ok(tools) = self.entries("tools/list") else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str);
            let allowed = options.tools.iter();
            let mut allowed = allowed.filter(|allowed| Some(allowed.name.as_str()) == name);
            if let Some(allowed) = allowed.next() {
                found.push((tool.clone(), Value::Object(allowed.arguments.clone())));
            } else if is_harmless(tool) && required(tool).next().is_none() {
                found.push((tool.clone(), json!({})));
            }
        }
        found
    }
}

/// Returns true if a tool changes nothing, and can be called without a task.
pub(crate) fn is_read_only(tool: &Value) -> bool {
    changes_nothing(tool) && tool.pointer("/execution/taskSupport") != Some(&json!("required"))
}

/// Returns true if the annotations of a tool state that it changes nothing.
fn changes_nothing(tool: &Value) -> bool {
    tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true))
}

/// Returns the names of required arguments of a tool.
pub(crate) fn required(tool: &Value) -> impl Iterator<Item = &str> {
    let names = tool.pointer("/inputSchema/required");
    let names = names.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str)
}

impl Peer {
    /// Reads the lists and takes samples.
    pub(crate) async fn survey(&mut self, opening: Value) -> Survey {
        let mut survey = Survey {
            opening,
            ..Survey::default()
        };
        for (method, member, capability) in LISTS {
            if survey.capability(capability).is_some() {
                survey.lists.push(self.listed(method, member).await);
            }
        }
        for (tool, arguments) in survey
            .callable(&self.options)
            .into_iter()
            .take(self.options.max_samples)
        {
            let params = json!({ "name": tool.get("name"), "arguments": arguments,
                "_meta": { "progressToken": format!("call-{}", survey.calls.len()) } });
            survey
                .calls
                .extend(self.sample("tools/call", tool, params).await);
        }
        for resource in first(&survey, "resources/list", self.options.max_samples) {
            let params = json!({ "uri": resource.get("uri") });
            survey
                .reads
                .extend(self.sample("resources/read", resource, params).await);
        }
        for prompt in first(&survey, "prompts/list", self.options.max_samples) {
            let params = json!({ "name": prompt.get("name"), "arguments": filled(&prompt) });
            survey
                .prompts
                .extend(self.sample("prompts/get", prompt, params).await);
        }
        survey
    }

    /// Returns the headers of a request for an entry of a list, with those that repeat arguments of a tool.
    pub(crate) fn headers_of_call(&self, entry: &Value, request: &Value) -> Headers {
        let mut headers = self.headers_of(request);
        if self.is_modern() {
            headers.extend(mirrored(entry, request));
        }
        headers
    }

    async fn listed(&mut self, method: &'static str, member: &'static str) -> Listed {
        let mut listed = Listed {
            method,
            member,
            ..Listed::default()
        };
        let mut params = json!({});
        while listed.pages.len() < self.options.max_list_pages {
            let answer = match self.ask(method, params.take()).await {
                Ok(answer) => answer.response,
                Err(_) => {
                    listed.failure = Some("no response".to_owned());
                    break;
                }
            };
            let Some(page) = answer.get("result") else {
                listed.failure = Some(clip(&answer.to_string()));
                break;
            };
            listed.pages.push(page.clone());
            match page.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) if listed.cursors.iter().all(|known| known != cursor) => {
                    listed.cursors.push(cursor.to_owned());
                    params = json!({ "cursor": cursor });
                }
                Some(cursor) => {
                    listed.cursors.push(cursor.to_owned());
                    break;
                }
                None => break,
            }
        }
        listed
    }

    async fn sample(&mut self, method: &str, entry: Value, params: Value) -> Option<Sample> {
        let id = Value::from(format!("sample-{}", self.next_id()));
        let request = self.request_with_id(id, method, params);
        let headers = self.headers_of_call(&entry, &request);
        let id = request.get("id")?.clone();
        let reply = self
            .send_with(&request, headers, Wait::Answer(id.clone()))
            .await;
        let answer = reply.answer(&id)?;
        let outcome = match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(answer.clone()),
        };
        Some(Sample {
            entry,
            sent: request,
            outcome,
        })
    }
}

/// Returns the headers that repeat arguments of a tool.
fn mirrored(tool: &Value, request: &Value) -> Headers {
    let schema = tool.get("inputSchema").and_then(Value::as_object);
    let bindings = schema.and_then(|schema| header_bindings(schema).ok());
    let mut headers = Headers::new();
    for binding in bindings.into_iter().flatten() {
        let mut value = request.pointer("/params/arguments");
        for name in &binding.path {
            value = value.and_then(|value| value.get(name));
        }
        let value = match value {
            Some(Value::String(value)) => value.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            _ => continue,
        };
        let name = format!("mcp-param-{}", binding.name.to_ascii_lowercase());
        if let Ok(name) = http::HeaderName::try_from(name) {
            headers.push((name, text(&value)));
        }
    }
    headers
}

fn first(survey: &Survey, method: &str, count: usize) -> Vec<Value> {
    let entries = survey.entries(method).unwrap_or_default();
    entries.into_iter().take(count).cloned().collect()
}

/// Returns a text for each required argument of a prompt.
fn filled(prompt: &Value) -> Value {
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    let required = arguments
        .into_iter()
        .flatten()
        .filter(|argument| argument.get("required").and_then(Value::as_bool) == Some(true));
    let named = required.filter_map(|argument| argument.get("name")?.as_str());
    let filled: Map<String, Value> = named.map(|name| (name.to_owned(), json!("1"))).collect();
    Value::Object(filled)
}
