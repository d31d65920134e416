//! One typed method per method of the protocol.

use bytes::Bytes;
use pintle_model::method::{
    CallTool, Complete, Discover, GetPrompt, Method, Notice, Ping, ReadResource, RootsChanged,
    SetLevel,
};
use pintle_model::{
    CallToolResult, CompleteParams, CompleteResult, Feature, GetPromptResult, JsonObject,
    LoggingLevel, Prompt, ReadResourceResult, Resource, ResourceTemplate, Root, SubscriptionFilter,
    Task, Tool,
};
use pintle_proto::Routing;
use pintle_proto::lifecycle::Binding;
use pintle_runtime::Connect;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::call::Call;
use crate::client::Client;
use crate::error::CallError;
use crate::handlers::check_root;
use crate::list::List;
use crate::listen::Subscription;
use crate::request::Request;
use crate::result::{complete, tool_result};
use crate::subscribe::listen;

impl Client {
    /// Lists the tools. Awaiting the list gives all of them.
    ///
    /// # Errors
    ///
    /// [`CallError`]. A tool that cannot be read is no error: see
    /// [`CompleteList::spoiled`](crate::CompleteList::spoiled).
    pub fn list_tools(&self) -> List<Tool> {
        List::new(self.clone())
    }

    /// Lists the resources, as [`Client::list_tools`] does tools.
    pub fn list_resources(&self) -> List<Resource> {
        List::new(self.clone())
    }

    /// Lists the resource templates, as [`Client::list_tools`] does tools.
    pub fn list_resource_templates(&self) -> List<ResourceTemplate> {
        List::new(self.clone())
    }

    /// Lists the prompts, as [`Client::list_tools`] does tools.
    pub fn list_prompts(&self) -> List<Prompt> {
        List::new(self.clone())
    }

    /// Lists the tasks at the server, as [`Client::list_tools`] does tools (2025-11-25).
    ///
    /// # Errors
    ///
    /// [`CallError`]; [`CallError::NotSent`] where tasks cannot be listed, which is everywhere since
    /// 2026-07-28.
    pub fn list_tasks(&self) -> List<Task> {
        List::new(self.clone())
    }

    /// Calls a tool. The arguments are anything that is written as a JSON object, or `()`.
    ///
    /// Questions the server asks on the way go to the client's handlers; the call fails after
    /// [`Limits::max_rounds`](pintle_proto::Limits::max_rounds) of them (default: 10).
    ///
    /// A call that the server makes a task of is followed to its end, within the call's
    /// [total time-out](Call::total_timeout); so is one of a tool that runs as a task only. To let
    /// it go on by itself: [`Call::as_task`].
    ///
    /// # Errors
    ///
    /// - [`CallError::Answered`] if the server rejected the call itself. A tool that ran and failed
    ///   is not an error here: see [`CallToolResult::has_failed`].
    /// - [`CallError::Misbehaved`] if the result is none, or is not what the tool promises: see
    ///   [`CallError::unfit_output`].
    /// - [`CallError::UnusableOutputSchema`] if what the tool promises makes no sense.
    /// - [`CallError::TimedOut`] if the wait ran out; the server has been told.
    /// - [`CallError::TaskCancelled`] if it became a task, and somebody cancelled that.
    ///
    /// # Cancellation
    ///
    /// Dropping the call's future gives it up: the server is told. A task that it became is
    /// cancelled.
    ///
    /// Spec: [2026-07-28, Tools, Calling tools][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
    pub fn call_tool(&self, name: &str, arguments: impl Serialize) -> Call<CallToolResult> {
        let written = NamedParams::write(name, &arguments);
        let mut request = Request::new(CallTool::NAME);
        if self.0.connect.binding() == Binding::Http {
            let mut routing = Routing::new(name);
            if let (Some(tool), Ok(written)) = (self.0.known.get(name), &written) {
                routing.params = tool.repeated(written.arguments());
            }
            request.routing = Some(Box::new(routing));
        }
        request.params = written.map(NamedParams::into_bytes);
        request.tool = Some(name.into());
        Call::new(self.clone(), request, tool_result)
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// [`CallError`]; [`CallError::Answered`] with -32602 or -32002 when there is none.
    pub fn read_resource(&self, uri: &str) -> Call<ReadResourceResult> {
        let mut request = self.about(ReadResource::NAME, uri);
        request.params = written(&serde_json::json!({ "uri": uri }));
        request.is_repeatable = true;
        Call::new(self.clone(), request, complete)
    }

    /// Gets a prompt. The arguments are anything that is written as an object of texts, or `()`.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub fn get_prompt(&self, name: &str, arguments: impl Serialize) -> Call<GetPromptResult> {
        let mut request = self.about(GetPrompt::NAME, name);
        request.params = NamedParams::write(name, &arguments).map(NamedParams::into_bytes);
        request.is_repeatable = true;
        Call::new(self.clone(), request, complete)
    }

    /// Completes an argument of a prompt or of a resource template.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub fn complete(&self, params: CompleteParams) -> Call<CompleteResult> {
        let mut request = Request::new(Complete::NAME);
        let mut params = params;
        if let Some(meta) = params.meta.take() {
            request.meta = meta;
        }
        request.params = written(&params);
        request.is_repeatable = true;
        Call::new(self.clone(), request, complete)
    }

    /// Calls any method, for what has no method here.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub fn request<M: Method>(&self, params: &M::Params) -> Call<M::Result> {
        let mut request = Request::new(M::NAME);
        request.params = written_object(params).and_then(|params| match params {
            Some(params) => split_meta(&params, &mut request.meta),
            None => Ok(Bytes::from_static(b"{}")),
        });
        Call::new(self.clone(), request, complete)
    }

    /// Calls a method by its name, and gives its result as it is.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub fn request_raw(&self, method: &str, mut params: JsonObject) -> Call<Box<RawValue>> {
        let mut request = Request::new(method);
        if let Some(serde_json::Value::Object(meta)) = params.remove("_meta") {
            request.meta = meta.into();
        }
        request.params = written(&params);
        Call::new(self.clone(), request, |given| Ok(given.raw.to_owned()))
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn ping(&self) -> Result<(), CallError> {
        let session = self.0.session(&Ping::NAME.into()).await?;
        let method = if session.info.revision.has(Feature::Ping) {
            Ping::NAME
        } else {
            Discover::NAME
        };
        let mut request = Request::new(method);
        request.is_repeatable = true;
        Call::new(self.clone(), request, |_| Ok(())).await
    }

    /// Sets the least severe level of log messages that the server sends: for the session, or
    /// since 2026-07-28 for every call that is made from now on.
    ///
    /// # Errors
    ///
    /// [`CallError`]; none since 2026-07-28.
    pub async fn set_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let session = self.0.session(&SetLevel::NAME.into()).await?;
        if session.info.revision.has(Feature::RequestLogLevel) {
            self.0.set_log_level(level);
            return Ok(());
        }
        let mut request = Request::new(SetLevel::NAME);
        request.params = written(&serde_json::json!({ "level": level }));
        request.is_repeatable = true;
        Call::new(self.clone(), request, |_| Ok(())).await
    }

    /// Listens to changes: of lists, and of resources by URI.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future, or the subscription, ends the listening: the server is told.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, CallError> {
        listen(self, filter).await
    }

    /// Listens to changes of one resource.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn subscribe(&self, uri: &str) -> Result<Subscription, CallError> {
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = Some(vec![uri.to_owned()]);
        self.listen(filter).await
    }

    /// Changes the roots, and tells the server where it can be told.
    ///
    /// # Errors
    ///
    /// [`CallError::InvalidParams`] when the client was made without roots, or when one is no folder.
    pub fn set_roots(&self, roots: Vec<Root>) -> Result<(), CallError> {
        let invalid = |reason| CallError::InvalidParams {
            method: RootsChanged::NAME.into(),
            reason,
        };
        roots.iter().try_for_each(check_root).map_err(invalid)?;
        let kept = self.0.handlers.roots.as_ref();
        let kept = kept.ok_or_else(|| invalid("the client was made without roots".to_owned()))?;
        kept.set(roots);
        let session = self.0.current();
        let Some(session) = session else {
            return Ok(());
        };
        if session.info.revision.has(Feature::RootsListChanged) {
            // A conversation that is over will ask for the roots anew.
            let _ = session
                .peer
                .with_engine_mut(|engine| engine.notify(RootsChanged::NAME, None));
        }
        Ok(())
    }

    fn about(&self, method: &str, name: &str) -> Request {
        let mut request = Request::new(method);
        if self.0.connect.binding() == Binding::Http {
            request.routing = Some(Box::new(Routing::new(name)));
        }
        request
    }
}

/// The parameters of a call that names something, in one buffer.
struct NamedParams {
    text: Vec<u8>,
    /// Where the arguments begin; at the end if there are none.
    arguments: usize,
}

impl NamedParams {
    /// Writes the arguments of `name`; none if they are written as `null`.
    fn write(name: &str, arguments: &impl Serialize) -> Result<Self, String> {
        const MEMBER: &[u8] = b",\"arguments\":";
        let mut text = Vec::with_capacity(128);
        text.extend_from_slice(b"{\"name\":");
        written_to(&mut text, &name)?;
        let end = text.len();
        text.extend_from_slice(MEMBER);
        let arguments_at = text.len();
        written_to(&mut text, arguments)?;
        let arguments_at = match &text[arguments_at..] {
            b"null" => {
                text.truncate(end);
                end
            }
            [b'{', ..] => arguments_at,
            _ => return Err(NO_OBJECT.to_owned()),
        };
        text.push(b'}');
        Ok(Self {
            text,
            arguments: arguments_at,
        })
    }

    /// The arguments, as text; empty if there are none.
    fn arguments(&self) -> &[u8] {
        &self.text[self.arguments..self.text.len() - 1]
    }

    fn into_bytes(self) -> Bytes {
        self.text.into()
    }
}

const NO_OBJECT: &str = "the parameters are not written as an object";

fn written_to(text: &mut Vec<u8>, value: &impl Serialize) -> Result<(), String> {
    serde_json::to_writer(text, value).map_err(|error| error.to_string())
}

fn written(params: &impl Serialize) -> Result<Bytes, String> {
    serde_json::to_vec(params)
        .map(Bytes::from)
        .map_err(|error| error.to_string())
}

/// An object as text; none for what is written as `null`.
fn written_object(value: &impl Serialize) -> Result<Option<Box<RawValue>>, String> {
    let raw = serde_json::value::to_raw_value(value).map_err(|error| error.to_string())?;
    match raw.get() {
        "null" => Ok(None),
        text if text.starts_with('{') => Ok(Some(raw)),
        _ => Err(NO_OBJECT.to_owned()),
    }
}

/// Takes `_meta` out of parameters: the engine writes it.
fn split_meta(params: &RawValue, meta: &mut pintle_model::Meta) -> Result<Bytes, String> {
    if !params.get().contains("\"_meta\"") {
        return Ok(Bytes::copy_from_slice(params.get().as_bytes()));
    }
    let mut members: JsonObject =
        serde_json::from_str(params.get()).map_err(|error| error.to_string())?;
    if let Some(serde_json::Value::Object(own)) = members.remove("_meta") {
        *meta = own.into();
    }
    written(&members)
}
