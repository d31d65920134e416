//! One conversation with a server: the task of its driver, its handlers, and the server's
//! description of itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pintle_model::method::{CreateMessage, Elicit, ListRoots, Method};
use pintle_model::{
    Error, Feature, Fit, Implementation, InputRequest, InputResponse, Meta, NoParams, Revision,
    ServerCapabilities, TaskMetadata,
};
use pintle_proto::{
    Event, IncomingRequest, Rendered, Reply, RequestKey, Terms, Ticket, Timeouts, TransportError,
};
use pintle_runtime::{Peer, Transport, drive};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::client_tasks::{ClientTaskHandle, ClientTasks, written};
use crate::dispatch::Dispatcher;
use crate::error::QuestionError;
use crate::handlers::Handlers;
use crate::turns::Turns;

/// A server's description of itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The revision of the conversation.
    pub revision: Revision,
    /// The capabilities of the server.
    pub capabilities: Arc<ServerCapabilities>,
    /// The identity of the server, unverified: for display and logs, never for decisions.
    pub identity: Option<Arc<Implementation>>,
    /// The server's instructions for the model.
    pub instructions: Option<String>,
    /// The revisions that the server supports; empty if it reported only one.
    pub supported: Vec<String>,
}

pub(crate) struct Conversation {
    pub(crate) peer: Peer,
    pub(crate) info: ServerInfo,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) end: watch::Receiver<Option<End>>,
    pub(crate) fault: Arc<OnceLock<TransportError>>,
    pub(crate) is_watched: AtomicBool,
    /// Whether the description of the server is from the cache, and not from this conversation.
    pub(crate) is_remembered: bool,
    /// The turns of messages about resources.
    pub(crate) turns: Turns,
    /// The timeouts of a call that does not set its own.
    pub(crate) timeouts: Timeouts,
}

/// How a conversation ended.
pub(crate) type End = Result<(), TransportError>;

impl Conversation {
    /// Returns true if no call can be sent any more.
    pub(crate) fn is_over(&self) -> bool {
        self.peer.with_engine(pintle_proto::Connection::is_closed)
    }

    /// Returns true if no task watches the cache of this conversation yet. Marks it as watched.
    pub(crate) fn begin_watch(&self) -> bool {
        !self.is_watched.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn terms(&self) -> Option<Arc<Terms>> {
        self.peer
            .with_engine(|engine| engine.session_terms().cloned())
    }
}

/// A conversation that a task of its own drives, before its first message.
pub(crate) struct Raw {
    pub(crate) peer: Peer,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) end: watch::Receiver<Option<End>>,
    /// The error with which this client ended the conversation.
    pub(crate) fault: Arc<OnceLock<TransportError>>,
    pub(crate) server: Arc<OnceLock<Arc<Implementation>>>,
    pub(crate) guard: CloseOnDrop,
}

/// Closes a conversation that could not be opened.
pub(crate) struct CloseOnDrop(Option<Peer>);

impl CloseOnDrop {
    /// Keeps the conversation open.
    pub(crate) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(peer) = &self.0 {
            peer.close();
        }
    }
}

/// Starts a conversation.
pub(crate) fn start(
    peer: Peer,
    transport: impl Transport,
    handlers: Handlers,
    dispatcher: Dispatcher,
    client_tasks: ClientTasks,
) -> Raw {
    let (end_sender, end) = watch::channel(None);
    let dispatcher = Arc::new(dispatcher);
    let server = Arc::new(OnceLock::new());
    let mut handler = EventHandler {
        peer: peer.clone(),
        handlers,
        dispatcher: Arc::clone(&dispatcher),
        server: Arc::clone(&server),
        client_tasks,
        answering: HashMap::new(),
    };
    let driven = peer.clone();
    let fault = Arc::new(OnceLock::new());
    let found = Arc::clone(&fault);
    tokio::spawn(async move {
        let ended = drive(driven, transport, |event| handler.handle(event)).await;
        let ended = ended.and_then(|()| found.get().cloned().map_or(Ok(()), Err));
        tracing::debug!(?ended, "a conversation ended");
        handler.dispatcher.lost();
        end_sender.send_replace(Some(ended));
    });
    Raw {
        guard: CloseOnDrop(Some(peer.clone())),
        peer,
        dispatcher,
        end,
        fault,
        server,
    }
}

/// Handles the events of one conversation.
struct EventHandler {
    peer: Peer,
    handlers: Handlers,
    dispatcher: Arc<Dispatcher>,
    server: Arc<OnceLock<Arc<Implementation>>>,
    client_tasks: ClientTasks,
    answering: HashMap<RequestKey, AbortHandle>,
}

impl EventHandler {
    fn handle(&mut self, event: Event) {
        match event {
            Event::Request(ticket, incoming) => self.answer(ticket, incoming),
            Event::Cancelled(key) => {
                if let Some(task) = self.answering.remove(&key) {
                    task.abort();
                }
            }
            Event::Notification(notified) => {
                let terms = notified.terms.as_ref();
                let revision = terms.map_or(Revision::LATEST_LEGACY, |terms| terms.revision);
                self.dispatcher.notified(*notified, revision);
            }
            Event::Settled(call, outcome) => self.dispatcher.settled(call, outcome.map(drop)),
            _ => {}
        }
    }

    fn answer(&mut self, ticket: Ticket, incoming: Box<IncomingRequest>) {
        self.answering.retain(|_, task| !task.is_finished());
        let key = ticket.key();
        let owed_answer = OwedAnswer {
            peer: self.peer.clone(),
            ticket: Some(ticket),
        };
        let context = AnswerContext {
            handlers: self.handlers.clone(),
            dispatcher: Arc::clone(&self.dispatcher),
            server: self.server.get().cloned(),
            client_tasks: self.client_tasks.handle(),
        };
        let task = tokio::spawn(async move {
            owed_answer.send(context.reply_to(incoming).await);
        });
        self.answering.insert(key, task.abort_handle());
    }
}

impl Drop for EventHandler {
    fn drop(&mut self) {
        self.answering.values().for_each(AbortHandle::abort);
    }
}

/// A pending answer. Dropping it sends an internal error, so that a panic of a handler is answered,
/// too.
struct OwedAnswer {
    peer: Peer,
    ticket: Option<Ticket>,
}

impl OwedAnswer {
    fn send(mut self, reply: Result<Reply, Error>) {
        if let Some(ticket) = self.ticket.take() {
            self.peer
                .with_engine_mut(|engine| engine.answer(ticket, reply));
        }
    }
}

impl Drop for OwedAnswer {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.peer
                .with_engine_mut(|engine| engine.answer(ticket, Err(Error::internal())));
        }
    }
}

/// The values that answering a request needs.
struct AnswerContext {
    handlers: Handlers,
    dispatcher: Arc<Dispatcher>,
    server: Option<Arc<Implementation>>,
    client_tasks: ClientTaskHandle,
}

impl AnswerContext {
    async fn reply_to(self, incoming: Box<IncomingRequest>) -> Result<Reply, Error> {
        check_declared(&incoming)?;
        let (method, revision) = (incoming.method.clone(), incoming.terms.revision);
        if let Some(can) = &incoming.terms.capabilities.tasks
            && revision.has(Feature::CoreTasks)
        {
            if let Some(served) = self.client_tasks.serve(&incoming).await {
                return served;
            }
            if can.has_request(method.as_str())
                && let Some(wish) = wish_of(&incoming)?
            {
                let question = question_of(method.as_str(), &incoming)?;
                let client_tasks = self.client_tasks.clone();
                let work = self.answer(question, incoming);
                return client_tasks.begin(&wish, revision, work);
            }
        }
        let question = question_of(method.as_str(), &incoming)?;
        let related = related_of(&incoming);
        let answer = self.answer(question, incoming).await?;
        render(answer, related.as_deref())
    }

    async fn answer(
        self,
        question: InputRequest,
        incoming: Box<IncomingRequest>,
    ) -> Result<InputResponse, Error> {
        let method = incoming.method.as_str();
        let visit = visit_of(&question);
        let terms = &incoming.terms;
        let answer = self.handlers.answer(question, terms, self.server).await;
        let answer = answer.map_err(|unanswered| {
            if let QuestionError::Failed(reason) = &unanswered {
                tracing::warn!(method, reason, "a question could not be answered");
            }
            unanswered.to_error(method)
        })?;
        if let (Some(id), InputResponse::Elicit(result)) = (visit, &answer)
            && result.action == pintle_model::ElicitAction::Accept
        {
            self.dispatcher.expect_visit(id);
        }
        fitted(answer, terms.revision)
    }
}

/// Returns the parameters of the task that the server requests for its question; none without such
/// a request.
fn wish_of(incoming: &IncomingRequest) -> Result<Option<TaskMetadata>, Error> {
    #[derive(Deserialize)]
    struct Augmented {
        #[serde(default)]
        task: Option<TaskMetadata>,
    }
    let augmented: Augmented = incoming.params.decode()?;
    Ok(augmented.task)
}

/// Returns the id of the server's task that a question belongs to. The answer carries the same id.
fn related_of(incoming: &IncomingRequest) -> Option<String> {
    #[derive(Deserialize)]
    struct Tagged {
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    if !incoming.terms.has(Feature::CoreTasks) {
        return None;
    }
    let tagged: Tagged = incoming.params.decode().ok()?;
    Some(tagged.meta?.related_task()?.to_owned())
}

/// Rejects a question whose capability this client has not declared at all. A mode that is missing
/// in a declared capability is found later, and is an invalid parameter.
fn check_declared(incoming: &IncomingRequest) -> Result<(), Error> {
    let (method, terms) = (incoming.method.as_str(), &incoming.terms);
    let declared = &terms.capabilities;
    let is_declared = match method {
        Elicit::NAME => terms.has(Feature::Elicitation) && declared.elicitation.is_some(),
        CreateMessage::NAME => declared.sampling.is_some(),
        ListRoots::NAME => declared.roots.is_some(),
        _ => true,
    };
    match is_declared {
        true => Ok(()),
        false => Err(Error::method_not_found(method)),
    }
}

fn question_of(method: &str, incoming: &IncomingRequest) -> Result<InputRequest, Error> {
    match method {
        Elicit::NAME => Ok(InputRequest::Elicit(Box::new(incoming.params.decode()?))),
        CreateMessage::NAME => Ok(InputRequest::CreateMessage(Box::new(
            incoming.params.decode()?,
        ))),
        ListRoots::NAME => Ok(InputRequest::ListRoots(
            incoming.params.decode::<NoParams>()?,
        )),
        _ => Err(Error::method_not_found(method)),
    }
}

fn visit_of(question: &InputRequest) -> Option<String> {
    let InputRequest::Elicit(params) = question else {
        return None;
    };
    match &**params {
        pintle_model::ElicitParams::Url(url) => url.elicitation_id.clone(),
        _ => None,
    }
}

fn render(answer: InputResponse, related: Option<&str>) -> Result<Reply, Error> {
    let (json, mut meta) = written(answer)?;
    if let Some(task) = related {
        meta.set_related_task(task);
    }
    let meta = Some(meta).filter(|meta| !meta.is_empty());
    Ok(Reply::Complete(Rendered::from_object(json, meta)))
}

/// Converts an answer into the form that a revision knows.
pub(crate) fn fitted(
    mut answer: InputResponse,
    revision: Revision,
) -> Result<InputResponse, Error> {
    let fits = match &mut answer {
        InputResponse::CreateMessage(message) => message.fit(revision),
        InputResponse::ListRoots(roots) => roots.fit(revision),
        InputResponse::Elicit(result) => result.fit(revision),
        _ => Ok(()),
    };
    fits.map_err(|unfit| {
        tracing::warn!(%unfit, "an answer cannot be said in this revision");
        Error::internal()
    })?;
    Ok(answer)
}
