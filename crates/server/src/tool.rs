//! Tools: functions that a model can call.
//!
//! A [`Tool`] is a definition, the function it runs, and the checks of arguments and results. It
//! is built by value and has no identity of its own: servers hold it by its name.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pintle_model as model;
use pintle_model::RawJson;
use pintle_model::{Icon, TaskSupport, ToolAnnotations};
use pintle_runtime::ParamHeader;
use pintle_schema as schema;
use serde_json::Value;

use crate::ability::{Ability, RequiredState};
use crate::ask_code::AskCode;

#[cfg(feature = "any-schema")]
mod any;
mod blocking;
mod bundle;
mod call;
mod checks;
mod contract;
mod extract;
mod fault;
mod from_schema;
mod handler;
mod layers;
mod once;
mod result;
#[cfg(feature = "tasks")]
mod task;

pub use blocking::blocking;
pub use bundle::{IntoTool, ToolSet};
pub use call::ToolCall;
pub use extract::{Args, FromCall, ViaAbility, ViaArgs, ViaArguments};
pub use fault::ToolDefinitionError;
pub use handler::Handler;
pub(crate) use result::error_chain;
pub use result::{Image, IntoToolResult, Json, ProtocolError, ToolReply};

use crate::erase::Run;
use crate::request::ToolRequest;
use crate::task_code::TaskCode;
use crate::typed_layer::TypedLayer;
use checks::Checks;

/// A tool: its definition, and the function it runs.
///
/// `#[tool]` on a function makes one; this is the same by hand:
///
/// ```
/// use pintle_server::Tool;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// The first addend.
///     a: i64,
///     /// The second addend.
///     b: i64,
/// }
///
/// let tool = Tool::new("add")
///     .description("Adds two numbers.")
///     .read_only(true)
///     .handler(async |add: Add| add.a + add.b);
/// assert!(tool.check().is_ok());
/// ```
///
/// The server checks a tool with [`Tool::check`] when it starts.
#[derive(Clone)]
pub struct Tool {
    definition: model::Tool,
    run: Option<Arc<Run<Self>>>,
    checks: Checks,
    scopes: Vec<Box<str>>,
    pub(crate) tags: Vec<Box<str>>,
    timeout: Option<Duration>,
    needs: Vec<RequiredState>,
    pub(crate) layers: Vec<TypedLayer<ToolRequest, ToolReply>>,
    /// Present if the handler or a layer can return questions.
    pub(crate) ask_code: Option<AskCode>,
    /// Present if the tool states its support of tasks.
    pub(crate) task_code: Option<TaskCode>,
    fault: Option<ToolDefinitionError>,
}

impl Tool {
    /// Begins a tool of this name: 1 to 128 letters, digits, `_`, `-` and `.`. Other names are
    /// served as well, but clients may refuse them; the server logs a warning.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            definition: model::Tool::new(name, schema::empty_input()),
            run: None,
            checks: Checks::default(),
            scopes: Vec::new(),
            tags: Vec::new(),
            timeout: None,
            needs: Vec::new(),
            layers: Vec::new(),
            ask_code: None,
            task_code: None,
            fault: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets the description of the tool for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Adds a picture to show for it.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.get_or_insert_default().push(icon);
        self
    }

    /// Adds a member to `_meta`, or replaces it.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self.definition.meta.get_or_insert_default();
        meta.insert(key, value);
        self
    }

    /// Hints whether the tool changes nothing. A hint that is not set is not sent.
    #[must_use]
    pub fn read_only(mut self, holds: bool) -> Self {
        self.hints().read_only_hint = Some(holds);
        self
    }

    /// Hints whether it may destroy something.
    #[must_use]
    pub fn destructive(mut self, holds: bool) -> Self {
        self.hints().destructive_hint = Some(holds);
        self
    }

    /// Hints whether calling it again with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(mut self, holds: bool) -> Self {
        self.hints().idempotent_hint = Some(holds);
        self
    }

    /// Hints whether it deals with things outside of the server, such as the web.
    #[must_use]
    pub fn open_world(mut self, holds: bool) -> Self {
        self.hints().open_world_hint = Some(holds);
        self
    }

    /// Lets only callers with all these scopes see and call it.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Ends a call that takes longer, with an error for the model. There is no timeout by default.
    /// Time in which a question to the user is open is the user's and does not count; where the
    /// answer comes with a retry, each run has the whole time.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks the server for an ability, so that its absence is an error at start.
    #[must_use]
    pub fn needs<A: Ability>(mut self) -> Self {
        self.needs.extend(A::need());
        self
    }

    fn hints(&mut self) -> &mut ToolAnnotations {
        self.definition.annotations.get_or_insert_default()
    }
}

impl Tool {
    /// Returns the name that clients call the tool by.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The definition that is listed.
    pub fn definition(&self) -> &model::Tool {
        &self.definition
    }

    /// The scopes a caller needs to see and call it.
    pub fn required_scopes(&self) -> &[Box<str>] {
        &self.scopes
    }

    /// Returns true if the tool can run as a task.
    pub(crate) fn runs_as_task(&self) -> bool {
        let support = self.definition.task_support();
        matches!(support, TaskSupport::Optional | TaskSupport::Required)
    }

    /// Returns true if the call requests a task or the definition states its task support.
    pub(crate) fn concerns_tasks(&self, requested: Option<RawJson<'_>>) -> bool {
        requested.is_some() || self.definition.execution.is_some()
    }

    /// Returns the state that the server must hold for the tool.
    pub fn required_state(&self) -> &[RequiredState] {
        &self.needs
    }

    /// The arguments that HTTP clients repeat in headers.
    pub fn param_headers(&self) -> Arc<[ParamHeader]> {
        let header = |binding: &schema::HeaderBinding| {
            let path: Vec<Box<str>> = binding.path.iter().map(|name| (**name).into()).collect();
            ParamHeader::new(&*binding.name, path)
        };
        let is_listed = |binding: &&schema::HeaderBinding| {
            let properties = self.definition.input_schema.get("properties");
            let name = binding.path.first().map(|name| &**name);
            name.is_some_and(|name| properties.is_some_and(|it| it.get(name).is_some()))
        };
        match self.checks.derived_input() {
            Some(typed) => typed.headers.iter().filter(is_listed).map(header).collect(),
            None => {
                let written = schema::header_bindings(&self.definition.input_schema);
                written.unwrap_or_default().iter().map(header).collect()
            }
        }
    }

    /// The same tool under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.definition.name = name.into();
        self
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("definition", &self.definition)
            .field("scopes", &self.scopes)
            .field("timeout", &self.timeout)
            .field("needs", &self.needs)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
