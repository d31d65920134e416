//! One typed method per method of the protocol.

use std::sync::Arc;

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
use pintle_proto::lifecycle::Binding;
use pintle_proto::{Routing, SendError};
use pintle_runtime::{BoxFuture, Connect};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::call::Call;
use crate::client::Client;
use crate::conversation::{Conversation, ServerInfo};
use crate::error::CallError;
use crate::forwarded::Forwarded;
use crate::handlers::check_root;
use crate::list::List;
use crate::listen::Subscription;
use crate::recovery::arguments_of;
use crate::request::Request;
use crate::result::{Reading, complete, tool_result};
use crate::subscribe::listen;

impl Client {
    /// Lists the tools. Awaiting the list returns all of them.
    ///
    /// # Errors
    ///
    /// [`CallError`]. A malformed tool is not an error: see
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
    /// [`CallError`]; [`CallError::NotSent`] if the server cannot list tasks, as in all revisions
    /// since 2026-07-28.
    pub fn list_tasks(&self) -> List<Task> {
        List::new(self.clone())
    }

    /// Calls a tool. The arguments are any value that serializes as a JSON object, or `()`.
    ///
    /// The client's handlers answer the server's questions during the call. The call fails after
    /// [`Limits::max_rounds`](pintle_proto::Limits::max_rounds) rounds of them (default: 10).
    ///
    /// The server may turn the call into a task, and some tools run only as a task. Then the client
    /// follows the task to its end, within the call's [total timeout](Call::total_timeout).
    /// [`Call::as_task`] instead returns the task and lets it run.
    ///
    /// # Errors
    ///
    /// - [`CallError::Answered`] if the server rejected the call itself. A tool that ran and failed
    ///   is not an error here: see [`CallToolResult::has_failed`].
    /// - [`CallError::Misbehaved`] if the result is malformed or violates the tool's output schema:
    ///   see [`CallError::unfit_output`].
    /// - [`CallError::UnusableOutputSchema`] if the tool's output schema is invalid.
    /// - [`CallError::TimedOut`] if a timeout elapsed; the client has cancelled the call.
    /// - [`CallError::TaskCancelled`] if it became a task, and the task was cancelled.
    ///
    /// # Cancellation
    ///
    /// Dropping the call's future cancels the call at the server, with the task that it has become.
    ///
    /// Spec: [2026-07-28, Tools, Calling tools][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
    pub fn call_tool(&self, name: &str, arguments: impl Serialize) -> Call<CallToolResult> {
        let written = NamedParams::write(name, &arguments);
        let mut request = Request::new(CallTool::NAME);
        if self.0.connect.binding() == Binding::Http {
            let mut routing = Routing::new(name);
            if let (Some(tool), Ok(written)) = (self.0.tool_cache.get(name), &written) {
                routing.params = tool.repeated(written.arguments());
            }
            request.routing = Some(Arc::new(routing));
        }
        request.params = written.map(NamedParams::into_bytes);
        request.tool = Some(name.into());
        Call::new(self.clone(), request, tool_result)
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// [`CallError`]; [`CallError::Answered`] with -32602 or -32002 if the resource does not exist.
    pub fn read_resource(&self, uri: &str) -> Call<ReadResourceResult> {
        let mut request = self.about(ReadResource::NAME, uri);
        request.params = written(&serde_json::json!({ "uri": uri }));
        request.is_repeatable = true;
        Call::new(self.clone(), request, complete)
    }

    /// Gets a prompt. The arguments are any value that serializes as an object of strings, or `()`.
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

    /// Calls any method: for methods without a typed function here.
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

    /// Calls a method by its name and returns its result without decoding it.
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

    /// Sends a request, and returns its result whatever it is: questions and tasks are results, too. For
    /// proxies. The client caches nothing, checks no output, and makes no visits for it.
    ///
    /// `params` is the text of a JSON object. The client adds the envelope to its `_meta`, and replaces the
    /// progress token.
    ///
    /// # Errors
    ///
    /// [`CallError`]; [`CallError::Answered`] has the server's error with its data.
    pub fn forward(&self, method: &str, params: &str) -> Call<Box<RawValue>> {
        let (mut call, _) = self.raw_call(method, params);
        call.request.is_forwarded = true;
        call.read = Reading::Text(|raw| raw);
        call
    }

    /// Caches a tool that a forwarded `tools/list` returned, so that forwarded calls repeat its arguments in headers.
    /// For proxies.
    ///
    /// # Errors
    ///
    /// The reason why this transport cannot call the tool. A client that lists tools omits it.
    pub fn learn_tool(&self, tool: &Tool) -> Result<(), String> {
        crate::list::admit(tool, &self.0)
    }

    /// Opens the conversation if it is not open, and returns the server's description of itself.
    ///
    /// # Errors
    ///
    /// [`CallError::NotConnected`], and [`CallError::Closed`] after [`Client::close`].
    pub async fn open(&self) -> Result<ServerInfo, CallError> {
        let session = self.session(Discover::NAME).await?;
        Ok(session.info.clone())
    }

    /// Sends a notification to the server, if the conversation is open. For methods without a typed function
    /// here.
    ///
    /// # Errors
    ///
    /// [`SendError`]: the server reads too slowly, or the notification is too large.
    pub fn notify(&self, method: &str, params: Option<&JsonObject>) -> Result<(), SendError> {
        let Some(session) = self.0.current() else {
            return Ok(());
        };
        session
            .peer
            .with_engine_mut(|engine| engine.notify(method, params))
    }

    /// Checks that the server answers.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn ping(&self) -> Result<(), CallError> {
        let session = self.session(Ping::NAME).await?;
        let method = if session.info.revision.has(Feature::Ping) {
            Ping::NAME
        } else {
            Discover::NAME
        };
        let mut request = Request::new(method);
        request.is_repeatable = true;
        Call::new(self.clone(), request, |_| Ok(())).await
    }

    /// Sets the least severe level of log messages that the server sends: for the session, or since
    /// 2026-07-28 for every later call.
    ///
    /// # Errors
    ///
    /// [`CallError`]; none since 2026-07-28.
    pub async fn set_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let session = self.session(SetLevel::NAME).await?;
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
    /// Dropping the future or the subscription ends the subscription at the server.
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

    /// Replaces the roots, and notifies the server if its revision supports that.
    ///
    /// # Errors
    ///
    /// [`CallError::InvalidParams`] if the client was configured without roots, or a root is not a
    /// valid `file://` URI.
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
            // The server of a conversation that is over asks for the roots again later.
            let _ = session
                .peer
                .with_engine_mut(|engine| engine.notify(RootsChanged::NAME, None));
        }
        Ok(())
    }

    /// Returns the call of a method whose parameters are a text, and the name or the URI that it is about.
    pub(crate) fn raw_call(
        &self,
        method: &str,
        params: &str,
    ) -> (Call<Box<RawValue>>, Option<String>) {
        let mut read = Forwarded::read(method, params);
        let subject = read.as_mut().ok().and_then(|read| read.subject.take());
        let mut request = match &subject {
            Some(subject) => self.about(method, subject),
            None => Request::new(method),
        };
        match read {
            Ok(read) => (request.params, request.meta) = (Ok(read.body), read.meta),
            Err(error) => request.params = Err(error.to_string()),
        }
        if method == CallTool::NAME
            && let Some(routing) = &mut request.routing
            && let Some(tool) = routing
                .name
                .as_deref()
                .and_then(|name| self.0.tool_cache.get(name))
        {
            Arc::make_mut(routing).params = tool.repeated(arguments_of(params.as_bytes()));
        }
        let call = Call::new(self.clone(), request, |given| Ok(given.raw.to_owned()));
        (call, subject)
    }

    // Boxed here, so that other crates do not compile it again.
    fn session(&self, method: &'static str) -> BoxFuture<'_, Result<Arc<Conversation>, CallError>> {
        Box::pin(async move { self.0.session(&method.into()).await })
    }

    fn about(&self, method: &str, name: &str) -> Request {
        let mut request = Request::new(method);
        if self.0.connect.binding() == Binding::Http {
            request.routing = Some(Arc::new(Routing::new(name)));
        }
        request
    }
}

/// The parameters of a call with a name and arguments, in one buffer.
struct NamedParams {
    text: Vec<u8>,
    /// Start of the arguments; the end of the text without arguments.
    arguments: usize,
}

impl NamedParams {
    /// Writes the arguments of `name`; none if they serialize as `null`.
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

    /// Returns the JSON text of the arguments; empty without arguments.
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

/// Serializes an object; none for a value that serializes as `null`.
fn written_object(value: &impl Serialize) -> Result<Option<Box<RawValue>>, String> {
    let raw = serde_json::value::to_raw_value(value).map_err(|error| error.to_string())?;
    match raw.get() {
        "null" => Ok(None),
        text if text.starts_with('{') => Ok(Some(raw)),
        _ => Err(NO_OBJECT.to_owned()),
    }
}

/// Removes `_meta` from parameters, because the engine writes it.
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
