//! The tools, prompts and resources that clients see, and the arguments that they may set.

mod arguments;
mod completion;
mod names;
mod pattern;
mod prompts;
mod resources;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use pintle::client::Approvals;
use pintle::model::{Error, ListToolsResult, RawMembers, Tool};
use pintle::runtime::ParamHeader;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::{ProxyError, internal};
use arguments::Arguments;
use names::Names;
pub use prompts::PromptFilter;
pub use resources::ResourceFilter;

/// Longest name or URI in an error text, in characters.
const SHOWN_NAME: usize = 80;

/// All filters of a proxy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filters {
    pub(crate) tools: ToolFilter,
    pub(crate) prompts: PromptFilter,
    pub(crate) resources: ResourceFilter,
}

impl Filters {
    /// Checks that each new name belongs to one tool or prompt.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Names`].
    pub(crate) fn check(&self) -> Result<(), ProxyError> {
        self.tools.names.check()?;
        self.prompts.check()
    }
}

/// The tools of the server that clients see: their names, and the arguments that clients may set. By default all,
/// unchanged. All names and patterns are those of the server; `*` in a pattern is any text.
///
/// ```
/// use pintle_proxy::ToolFilter;
///
/// let tools = ToolFilter::default()
///     .only("read_*")
///     .without("read_secret")
///     .rename("read_file", "open")
///     .fixed_argument("read_file", "root", "/srv/docs");
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    names: Names,
    arguments: HashMap<String, Arguments>,
    lock: Option<Approvals>,
    /// Whether tools have no output schema, because results may be cut.
    hides_output: bool,
}

/// The members of a call that a filter reads. A repeated member is an error, because the server could read the other.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl ToolFilter {
    /// Permits the tools of this pattern. Without a call of it, all tools are permitted.
    #[must_use]
    pub fn only(mut self, pattern: impl Into<String>) -> Self {
        self.names.only(pattern.into());
        self
    }

    /// Hides the tools of this pattern, also those that [`only`](Self::only) permits.
    #[must_use]
    pub fn without(mut self, pattern: impl Into<String>) -> Self {
        self.names.without(pattern.into());
        self
    }

    /// Gives a tool a new name. Clients do not see the old name, nor another tool that has the new one.
    #[must_use]
    pub fn rename(mut self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.names.rename(old.into(), new.into());
        self
    }

    /// Hides an argument of a tool. The call has no such argument, also if a client sends it.
    #[must_use]
    pub fn hidden_argument(mut self, tool: impl Into<String>, name: impl Into<String>) -> Self {
        self.arguments
            .entry(tool.into())
            .or_default()
            .hide(name.into());
        self
    }

    /// Hides an argument of a tool, and sets it to a value in every call.
    #[must_use]
    pub fn fixed_argument(
        mut self,
        tool: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<Value>,
    ) -> Self {
        let arguments = self.arguments.entry(tool.into()).or_default();
        arguments.fix(name.into(), &value.into());
        self
    }

    /// Permits only tools whose whole definition is approved: those of a lock file, for example. The definition is
    /// compared before each call, and read again after a change.
    #[must_use]
    pub fn approved(mut self, approvals: Approvals) -> Self {
        self.lock = Some(approvals);
        self
    }

    /// The approvals that calls require.
    pub(crate) fn approvals(&self) -> Option<&Approvals> {
        self.lock.as_ref()
    }

    pub(crate) fn hide_output(&mut self) {
        self.hides_output = true;
    }

    fn is_empty(&self) -> bool {
        let is_all = self.names.is_empty() && self.lock.is_none() && !self.hides_output;
        is_all && self.arguments.is_empty()
    }

    /// Returns the parameters of a call for the server.
    ///
    /// # Errors
    ///
    /// -32602 for a tool that clients do not see, and for parameters that are not those of a call.
    pub(crate) fn call<'p>(&self, params: &'p str) -> Result<Cow<'p, str>, Error> {
        if self.is_empty() {
            return Ok(Cow::Borrowed(params));
        }
        let named = named(params)?;
        let name = self
            .names
            .at_server(&named.name)
            .ok_or_else(|| unknown(&named.name))?;
        let rules = self.arguments.get(name);
        if name == named.name && rules.is_none() {
            return Ok(Cow::Borrowed(params));
        }
        let arguments = rules.map(|rules| rules.set(&named)).transpose()?;
        with_name(params, name, arguments.as_deref()).map(Cow::Owned)
    }

    /// Returns a page of tools as clients see it.
    ///
    /// # Errors
    ///
    /// -32603 if the page cannot be read.
    pub(crate) fn list(&self, page: Box<RawValue>) -> Result<Box<RawValue>, Error> {
        if self.is_empty() {
            return Ok(page);
        }
        let unreadable = |error| internal(&format!("invalid tools of the server: {error}"));
        let mut listed: ListToolsResult = serde_json::from_str(page.get()).map_err(unreadable)?;
        listed.tools.retain_mut(|tool| self.fit(tool));
        to_raw_value(&listed).map_err(unreadable)
    }

    /// Changes a tool to the form for clients. Returns false if they do not see it.
    fn fit(&self, tool: &mut Tool) -> bool {
        if self
            .lock
            .as_ref()
            .is_some_and(|lock| lock.check(tool).is_err())
        {
            return false;
        }
        let Some(name) = self.names.at_client(&tool.name) else {
            return false;
        };
        let name = name.to_owned();
        if let Some(rules) = self.arguments.get(&tool.name) {
            rules.hide_in(&mut tool.input_schema);
        }
        if self.hides_output {
            tool.output_schema = None;
        }
        tool.name = name;
        true
    }

    /// Returns the headers that repeat arguments of a tool: those of the server's tool without hidden arguments.
    pub(crate) fn headers(
        &self,
        tool: &str,
        of_server: impl FnOnce(&str) -> Arc<[ParamHeader]>,
    ) -> Arc<[ParamHeader]> {
        let Some(name) = self.names.at_server(tool) else {
            return Arc::default();
        };
        let headers = of_server(name);
        match self.arguments.get(name) {
            Some(rules) => headers
                .iter()
                .filter(|header| !header.path.first().is_some_and(|first| rules.hides(first)))
                .cloned()
                .collect(),
            None => headers,
        }
    }
}

/// Reads the name and the arguments of a call, or of a request for a prompt.
///
/// # Errors
///
/// -32602 for other parameters.
fn named(params: &str) -> Result<Named<'_>, Error> {
    if !params.trim_start().starts_with('{') {
        return Err(Error::invalid_params("the parameters are not an object"));
    }
    serde_json::from_str(params).map_err(|error| Error::invalid_params(error.to_string()))
}

/// Returns the parameters with another name, and perhaps with other arguments.
fn with_name(params: &str, name: &str, arguments: Option<&RawValue>) -> Result<String, Error> {
    let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
    let name = to_raw_value(name).map_err(invalid)?;
    let mut members = RawMembers::read(params).map_err(invalid)?;
    members.insert("name", &*name);
    if let Some(arguments) = arguments {
        members.insert("arguments", arguments);
    }
    String::from_utf8(members.to_vec()).map_err(|_| Error::internal())
}

/// Returns the beginning of a name or URI, for an error text.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN_NAME).collect()
}

/// The error for a tool that clients do not see: that of a tool that does not exist.
fn unknown(name: &str) -> Error {
    Error::invalid_params(format!("unknown tool: {}", shown(name)))
}

#[cfg(test)]
mod tests;
