//! Tools: what a model can call.
//!
//! A [`Tool`] is a definition, the function it runs, and what is checked on the way in and out. It
//! is built by value and has no identity of its own: servers hold it by its name.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use pintle_model as model;
use pintle_model::{Icon, JsonObject, Outcome, TaskSupport, ToolAnnotations, names};
use pintle_runtime::ParamHeader;
use schemars::JsonSchema;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ability::{Ability, Need, Scope};
use crate::rejection::Rejection;
use crate::schema;
use crate::validate::Validator;

mod blocking;
mod bundle;
mod call;
mod checks;
mod extract;
mod fault;
mod handler;
mod result;

pub use blocking::blocking;
pub use bundle::{IntoTool, ToolSet};
pub use call::ToolCall;
pub use extract::{Args, FromCall, ViaAbility, ViaArgs, ViaArguments};
pub use fault::ToolFault;
pub use handler::Handler;
pub use result::{Image, IntoToolResult, Json, Protocol, ToolReply};

use call::Run;
use checks::Checks;

/// A tool: its definition, and what it runs.
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
/// What is wrong with a tool is found when the server starts, by [`Tool::check`].
#[derive(Clone)]
pub struct Tool {
    definition: model::Tool,
    run: Option<Arc<Run>>,
    checks: Checks,
    scopes: Vec<Box<str>>,
    limit: Option<Duration>,
    needs: Vec<Need>,
    fault: Option<ToolFault>,
}

impl Tool {
    /// Begins a tool of this name: 1 to 128 letters, digits, `_`, `-` and `.`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            definition: model::Tool::new(name, schema::empty_input()),
            run: None,
            checks: Checks::default(),
            scopes: Vec::new(),
            limit: None,
            needs: Vec::new(),
            fault: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Says what it does, for the model.
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

    /// Adds metadata.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self.definition.meta.get_or_insert_default();
        meta.insert(key, value);
        self
    }

    /// Hints whether it leaves everything as it is. What is not hinted is not sent.
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

    /// Says whether it can be run as a task.
    #[must_use]
    pub fn task(mut self, support: TaskSupport) -> Self {
        self.definition.execution = Some(support.into());
        self
    }

    /// Lets only callers with all these scopes see and call it.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Ends a call that takes longer, with an error for the model. There is no limit by default.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Asks the server for an ability, so that its absence is an error at start.
    #[must_use]
    pub fn needs<A: Ability>(mut self) -> Self {
        self.needs.extend(A::need());
        self
    }

    /// Takes the arguments' schema from a type. One that was written by hand stays.
    #[must_use]
    pub fn input<T: JsonSchema>(mut self) -> Self {
        let derived = schema::input_schema::<T>();
        let derived = derived.and_then(|schema| Ok((schema, Validator::for_type::<T>()?)));
        match derived {
            _ if self.checks.has_derived_input() => self.fail(ToolFault::Ambiguous),
            Ok((schema, validator)) => {
                if self.checks.derive_input(validator) {
                    self.definition.input_schema = schema;
                }
            }
            Err(error) => self.fail(ToolFault::Input(error)),
        }
        self
    }

    /// Writes the arguments' schema by hand. Every call is checked against it.
    #[must_use]
    pub fn input_schema(mut self, schema: JsonObject) -> Self {
        let checked = schema::check_input(&schema);
        match checked.and_then(|()| Validator::compile(&schema)) {
            Ok(validator) => {
                self.checks.write_input(validator);
                self.definition.input_schema = schema;
            }
            Err(error) => self.fail(ToolFault::Input(error)),
        }
        self
    }

    /// Writes the schema of the structured content by hand. Every result that is no error is checked
    /// against it: one that breaks it is the server's fault, and answered with -32603.
    #[must_use]
    pub fn output_schema(mut self, schema: JsonObject) -> Self {
        match Validator::compile(&schema) {
            Ok(validator) => {
                self.checks.write_output(validator);
                self.definition.output_schema = Some(schema);
            }
            Err(error) => self.fail(ToolFault::Output(error)),
        }
        self
    }

    /// Runs a function: see [`Handler`]. Schemas come from its types unless written by hand.
    #[must_use]
    pub fn handler<M, H: Handler<M>>(self, handler: H) -> Self {
        H::describe(self).on_call(move |call: &ToolCall<'_>| handler.start(call))
    }

    /// Runs a function that takes what it needs out of the call by itself, and returns the future of
    /// the rest. What [`Tool::handler`] and `#[tool]` come down to.
    #[must_use]
    pub fn on_call<F, Fut>(mut self, start: F) -> Self
    where
        F: Fn(&ToolCall<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoToolResult,
    {
        match Fut::Output::output_schema() {
            Ok(Some(schema)) if !self.checks.has_written_output() => {
                self.definition.output_schema = Some(schema);
            }
            Ok(_) => {}
            Err(error) => self.fail(ToolFault::Output(error)),
        }
        self.run = Some(call::erase(start));
        self
    }

    fn hints(&mut self) -> &mut ToolAnnotations {
        self.definition.annotations.get_or_insert_default()
    }

    /// Keeps the first fault: the others may follow from it.
    fn fail(&mut self, fault: ToolFault) {
        self.fault.get_or_insert(fault);
    }
}

impl Tool {
    /// Its name.
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

    /// What the server must hold for it.
    pub fn required_state(&self) -> &[Need] {
        &self.needs
    }

    /// The arguments that HTTP clients repeat in headers.
    pub fn param_headers(&self) -> Arc<[ParamHeader]> {
        let bindings = schema::header_bindings(&self.definition.input_schema).unwrap_or_default();
        let header = |binding: schema::HeaderBinding| {
            let path: Vec<Box<str>> = binding.path.into_iter().map(Into::into).collect();
            ParamHeader::new(binding.name, path)
        };
        bindings.into_iter().map(header).collect()
    }

    /// Whether it can be offered.
    ///
    /// # Errors
    ///
    /// The first [`ToolFault`]; its author is to blame.
    pub fn check(&self) -> Result<(), ToolFault> {
        names::check_tool_name(self.name()).map_err(ToolFault::Name)?;
        match (&self.fault, &self.run) {
            (Some(fault), _) => Err(fault.clone()),
            (None, None) => Err(ToolFault::Idle),
            (None, Some(_)) => Ok(()),
        }
    }

    /// The same tool under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.definition.name = name.into();
        self
    }

    /// Calls it. Bad arguments, a missed limit and a handler's `Err` are results with an error for the
    /// model.
    ///
    /// # Errors
    ///
    /// - -32602 if `arguments` is no object.
    /// - -32603 if the result breaks an output schema that was written by hand.
    /// - Whatever [`Protocol`] error the handler made.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the handler.
    pub fn call<'t>(
        &'t self,
        arguments: Option<&RawValue>,
        scope: Scope<'_>,
    ) -> impl Future<Output = ToolReply> + Send + use<'t> {
        let started = self.start(arguments, scope);
        async move {
            let reply = match started {
                Ok(running) => self.within_limit(running).await?,
                Err(rejection) => Outcome::Complete(rejection.into_tool_result()?),
            };
            self.checks.let_out(self.name(), reply)
        }
    }

    fn start(
        &self,
        arguments: Option<&RawValue>,
        scope: Scope<'_>,
    ) -> Result<call::Running, Rejection> {
        let call = ToolCall::new(arguments, scope, &self.checks)?;
        let run = self.run.as_ref().ok_or_else(call::idle)?;
        run(&call)
    }

    async fn within_limit(&self, running: call::Running) -> ToolReply {
        let Some(limit) = self.limit else {
            return running.await;
        };
        let ended = tokio::time::timeout(limit, running).await;
        ended.unwrap_or_else(|_| Ok(Outcome::Complete(call::late(limit))))
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("definition", &self.definition)
            .field("scopes", &self.scopes)
            .field("limit", &self.limit)
            .field("needs", &self.needs)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
