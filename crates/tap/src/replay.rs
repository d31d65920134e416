//! A server that answers from a recording.

use pintle_model::{
    CallToolResult, CompleteResult, Error, GetPromptResult, InputRequest, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LogMessageParams, Outcome,
    ReadResourceResult, ServerCapabilities,
};
use pintle_runtime::Context;
use pintle_server::{
    CompleteRequest, ListRequest, PromptReply, PromptRequest, Provider, ReadReply, ReadRequest,
    Server, ToolReply, ToolRequest,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::exchanges::{RecordedExchange, RecordedStep};
use crate::matcher::{Matcher, Miss};
use crate::recording::Recording;

/// Begin of the names in `_meta` that belong to the protocol. The engine adds them.
const OF_PROTOCOL: &str = "io.modelcontextprotocol/";

/// Answers the requests of clients from a recording, in the revision of each client.
///
/// A request is matched by its method and its parameters without `_meta`. Equal requests get their answers in the
/// recorded order, and then the last one again. Progress, log messages and questions that precede an answer are
/// repeated in their order, without pauses. Any answer to a question is accepted. The server itself answers requests
/// for the handshake, pings, log levels and subscriptions. Tasks are not replayed.
#[derive(Debug)]
pub struct Replay {
    matcher: Matcher,
    capabilities: ServerCapabilities,
    misses: watch::Sender<Option<Miss>>,
}

/// Reports requests without a recorded answer.
#[derive(Debug, Clone)]
pub struct ReplayMisses(watch::Receiver<Option<Miss>>);

impl ReplayMisses {
    /// Returns the first miss, if there was one.
    pub fn first_so_far(&self) -> Option<Miss> {
        self.0.borrow().clone()
    }

    /// Waits for the first miss.
    pub async fn first(&mut self) -> Miss {
        let first = self.0.wait_for(Option::is_some).await;
        if let Some(miss) = first.ok().and_then(|miss| miss.clone()) {
            return miss;
        }
        // The server is gone, so that no request can miss.
        std::future::pending().await
    }
}

impl Replay {
    /// Creates a server that answers from a recording, and the report of its misses.
    pub fn server(recording: &Recording) -> (Server, ReplayMisses) {
        let described = recording.server();
        let (misses, missed) = watch::channel(None);
        let matcher = Matcher::new(recording.exchanges());
        let stated = described
            .as_ref()
            .map(|server| read::<ServerCapabilities>(server.capabilities.clone()));
        let stated = stated.and_then(Result::ok).unwrap_or_default();
        let text = |name: &str| {
            let text = described
                .as_ref()
                .and_then(|server| server.identity.get(name)?.as_str());
            text.map(str::to_owned)
        };
        let name = text("name").unwrap_or_else(|| "replay".to_owned());
        let version = text("version").unwrap_or_else(|| "0".to_owned());
        let mut server = Server::new(name, version);
        if let Some(title) = text("title") {
            server = server.title(title);
        }
        if let Some(instructions) = described
            .as_ref()
            .and_then(|server| server.instructions.clone())
        {
            server = server.instructions(instructions);
        }
        if stated.logging.is_some() || has_logs(&matcher) {
            server = server.logging();
        }
        if stated
            .resources
            .as_ref()
            .is_some_and(|resources| resources.subscribe == Some(true))
        {
            server = server.resource_updates();
        }
        let capabilities = capabilities(&stated, &matcher);
        let replay = Self {
            matcher,
            capabilities,
            misses,
        };
        (server.provider(replay), ReplayMisses(missed))
    }

    /// Repeats the recorded messages of a request, and returns its result.
    async fn play<R: DeserializeOwned>(
        &self,
        cx: &Context,
        method: &str,
        params: Value,
    ) -> Result<R, Error> {
        // A retry with answers to questions continues the same exchange.
        let found = async {
            self.matcher
                .next(method, &params)
                .map_err(|miss| self.miss(miss))
        };
        let index: Result<usize, String> = cx.once("pintle/replay", found).await;
        let index = index.map_err(Error::invalid_params)?;
        let Some(exchange) = self.matcher.exchange(index) else {
            return Err(Error::internal());
        };
        repeat(cx, exchange).await?;
        match &exchange.answer {
            Ok(result) => {
                read(without_stamps(result)?).map_err(|error| unreadable(&error.to_string()))
            }
            Err(error) => {
                Err(read(error.clone()).unwrap_or_else(|_| unreadable("its error is invalid")))
            }
        }
    }

    fn miss(&self, miss: Miss) -> String {
        let text = miss.to_string();
        self.misses.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(miss);
            is_first
        });
        text
    }

    async fn list<R: DeserializeOwned>(
        &self,
        request: &ListRequest,
        method: &str,
    ) -> Result<R, Error> {
        let params = match &request.cursor {
            Some(cursor) => json!({ "cursor": cursor.as_str() }),
            None => json!({}),
        };
        self.play(&request.cx, method, params).await
    }
}

/// Sends the recorded messages of an exchange, in their order.
async fn repeat(cx: &Context, exchange: &RecordedExchange) -> Result<(), Error> {
    let is_retry = !cx.input_responses().is_empty();
    let first_question = exchange
        .steps
        .iter()
        .position(|step| matches!(step, RecordedStep::Question { .. }));
    // The first request of a retry has sent them already.
    let sent = first_question.filter(|_| is_retry).unwrap_or(0);
    for step in &exchange.steps[sent..] {
        match step {
            RecordedStep::Notice { method, params } => notify(cx, method, params).await,
            RecordedStep::Question { method, params, .. } => {
                let question = json!({ "method": method, "params": params });
                let question: InputRequest =
                    read(question).map_err(|error| unreadable(&error.to_string()))?;
                cx.ask(question).await.map_err(|error| error.to_error())?;
            }
        }
    }
    Ok(())
}

async fn notify(cx: &Context, method: &str, params: &Value) {
    match method {
        "notifications/progress" => {
            let progress = params["progress"].as_f64().unwrap_or_default();
            let total = params["total"].as_f64();
            match params["message"].as_str() {
                Some(message) => cx.progress(progress, total, message).await,
                None => cx.progress(progress, total, ()).await,
            }
        }
        "notifications/message" => {
            if let Ok(LogMessageParams {
                level,
                logger,
                data,
                ..
            }) = read(params.clone())
            {
                cx.log(level, logger.as_deref(), data);
            }
        }
        // Changes of lists would only make clients list the same again.
        _ => {}
    }
}

/// Returns the capabilities that the recording can serve.
fn capabilities(stated: &ServerCapabilities, matcher: &Matcher) -> ServerCapabilities {
    let has = |is_stated: bool, methods: &[&str]| {
        is_stated || methods.iter().any(|method| matcher.has_method(method))
    };
    let mut capabilities = ServerCapabilities::default();
    if has(stated.tools.is_some(), &["tools/list", "tools/call"]) {
        capabilities = capabilities.with_tools();
    }
    if has(
        stated.resources.is_some(),
        &[
            "resources/list",
            "resources/read",
            "resources/templates/list",
        ],
    ) {
        capabilities = capabilities.with_resources();
    }
    if has(stated.prompts.is_some(), &["prompts/list", "prompts/get"]) {
        capabilities = capabilities.with_prompts();
    }
    if has(stated.completions.is_some(), &["completion/complete"]) {
        capabilities = capabilities.with_completions();
    }
    capabilities
}

fn has_logs(matcher: &Matcher) -> bool {
    let is_log = |step: &RecordedStep| matches!(step, RecordedStep::Notice { method, .. } if method == "notifications/message");
    let mut exchanges = (0..).map_while(|index| matcher.exchange(index));
    exchanges.any(|exchange| exchange.steps.iter().any(is_log))
}

/// Returns a result without the members that the engine adds.
fn without_stamps(result: &Value) -> Result<Value, Error> {
    let mut result = result.clone();
    if result["resultType"] == "task"
        || (result.get("task").is_some() && result.get("content").is_none())
    {
        return Err(unreadable("it is a task, and tasks are not replayed"));
    }
    if let Some(members) = result.as_object_mut() {
        members.remove("resultType");
        if let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.retain(|name, _| !name.starts_with(OF_PROTOCOL));
        }
        if members
            .get("_meta")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        {
            members.remove("_meta");
        }
    }
    Ok(result)
}

fn unreadable(reason: &str) -> Error {
    Error::invalid_params(format!("the recorded answer cannot be used: {reason}"))
}

fn read<T: DeserializeOwned>(value: Value) -> serde_json::Result<T> {
    serde_json::from_value(value)
}

impl Provider for Replay {
    fn capabilities(&self) -> ServerCapabilities {
        self.capabilities.clone()
    }

    async fn list_tools(&self, request: ListRequest) -> Result<ListToolsResult, Error> {
        self.list(&request, "tools/list").await
    }

    async fn list_resources(&self, request: ListRequest) -> Result<ListResourcesResult, Error> {
        self.list(&request, "resources/list").await
    }

    async fn list_resource_templates(
        &self,
        request: ListRequest,
    ) -> Result<ListResourceTemplatesResult, Error> {
        self.list(&request, "resources/templates/list").await
    }

    async fn list_prompts(&self, request: ListRequest) -> Result<ListPromptsResult, Error> {
        self.list(&request, "prompts/list").await
    }

    async fn call_tool(&self, request: ToolRequest) -> ToolReply {
        let arguments = request.arguments.as_ref();
        let arguments: Value = arguments
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        let params = json!({ "name": request.name, "arguments": arguments });
        let result: CallToolResult = self.play(&request.cx, "tools/call", params).await?;
        Ok(Outcome::Complete(result))
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadReply {
        let params = json!({ "uri": request.uri });
        let result: ReadResourceResult = self.play(&request.cx, "resources/read", params).await?;
        Ok(Outcome::Complete(result))
    }

    async fn get_prompt(&self, request: PromptRequest) -> PromptReply {
        let params = json!({ "name": request.name, "arguments": request.arguments });
        let result: GetPromptResult = self.play(&request.cx, "prompts/get", params).await?;
        Ok(Outcome::Complete(result))
    }

    async fn complete(&self, request: CompleteRequest) -> Result<CompleteResult, Error> {
        let params = serde_json::to_value(&request.params).unwrap_or_default();
        self.play(&request.cx, "completion/complete", params).await
    }
}
