//! One connection to the server, and its messages to the clients that use it.

use std::collections::{BTreeSet, HashMap};
use std::future::poll_fn;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use pintle::client::{CallError, Client, ClientBuilder, ConnectError};
use pintle::model::method::{ElicitationComplete, LogMessage, Notice};
use pintle::model::{
    ClientCapabilities, ElicitationCompleteParams, Error, Feature, InputRequest, InputResponse,
    JsonObject, LogMessageParams, LoggingLevel, Revision,
};
use pintle::proto::{Change, IncomingNotice, Lane, NewCall};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{Context, EngineHandle};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::error::internal;
use crate::open_calls::OpenCalls;
use crate::questions::{Answered, Questions};
use crate::subscriptions::Subscriptions;
use crate::task_form::related_task;
use crate::upstream::{Connect, Upstream};

/// One connection to the server.
pub(crate) struct Link {
    client: OnceLock<Client>,
    /// Unset while the first connection opens: its server is not known yet.
    upstream: OnceLock<Weak<Upstream>>,
    /// The session that the connection belongs to.
    session: OnceLock<Weak<dyn EngineHandle>>,
    pub(crate) questions: Questions,
    /// The questions of tasks that a client of another form of tasks follows.
    routes: Mutex<HashMap<String, Weak<Questions>>>,
    pub(crate) open: Arc<OpenCalls>,
    /// One permit: of calls without a session, only one at a time may be asked, because the server does not name
    /// the call of its question.
    pub(crate) asked: Arc<Semaphore>,
    pub(crate) subscriptions: Subscriptions,
    /// The capabilities that the connection declares.
    pub(crate) capabilities: ClientCapabilities,
    level: tokio::sync::Mutex<Option<LoggingLevel>>,
    used: Mutex<Instant>,
    made: Instant,
    /// The last attempt to replace the connection for its age.
    attempted: Mutex<Option<Instant>>,
}

impl Link {
    /// Returns a connection that opens with its first call.
    ///
    /// # Errors
    ///
    /// As `connect_lazily` of the client.
    pub(crate) fn new(
        upstream: &Arc<Upstream>,
        session: Option<Weak<dyn EngineHandle>>,
        capabilities: ClientCapabilities,
    ) -> Result<Arc<Self>, ConnectError> {
        let link = Self::build(&*upstream.connect, upstream.client(), capabilities)?;
        link.join(upstream, session);
        Ok(link)
    }

    /// Returns a connection that belongs to no clients yet: see [`Link::join`].
    ///
    /// # Errors
    ///
    /// As `connect_lazily` of the client.
    pub(crate) fn build(
        connect: &Connect,
        builder: ClientBuilder,
        capabilities: ClientCapabilities,
    ) -> Result<Arc<Self>, ConnectError> {
        let link = Arc::new(Self {
            client: OnceLock::new(),
            upstream: OnceLock::new(),
            session: OnceLock::new(),
            questions: Questions::default(),
            routes: Mutex::default(),
            open: Arc::default(),
            asked: Arc::new(Semaphore::new(1)),
            subscriptions: Subscriptions::default(),
            capabilities: capabilities.clone(),
            level: tokio::sync::Mutex::default(),
            used: Mutex::new(Instant::now()),
            made: Instant::now(),
            attempted: Mutex::default(),
        });
        let client = connect(link.handlers(builder, capabilities))?;
        let _ = link.client.set(client);
        Ok(link)
    }

    /// Gives the connection to clients, once: to a session, or to all that the upstream has.
    pub(crate) fn join(&self, upstream: &Arc<Upstream>, session: Option<Weak<dyn EngineHandle>>) {
        let _ = self.upstream.set(Arc::downgrade(upstream));
        if let Some(session) = session {
            let _ = self.session.set(session);
        }
        self.touch();
    }

    /// Continues the subscriptions and the log level of the session after an earlier connection.
    pub(crate) fn succeed(self: &Arc<Self>, earlier: &Arc<Self>) {
        self.subscriptions.succeed(&earlier.subscriptions);
        self.follow();
        let (link, earlier) = (Arc::downgrade(self), Arc::downgrade(earlier));
        tokio::spawn(async move {
            let level = match earlier.upgrade() {
                Some(earlier) => earlier.level.lock().await.clone(),
                None => None,
            };
            if let (Some(level), Some(link)) = (level, link.upgrade())
                && let Err(error) = link.ensure_level(&level).await
            {
                tracing::warn!(%error, "the log level of a session is not set");
            }
        });
    }

    fn upstream(&self) -> Option<Arc<Upstream>> {
        self.upstream.get()?.upgrade()
    }

    /// Adds the handlers of the connection to its client.
    fn handlers(
        self: &Arc<Self>,
        builder: ClientBuilder,
        capabilities: ClientCapabilities,
    ) -> ClientBuilder {
        let asked = Arc::downgrade(self);
        builder
            .on_question(capabilities, move |question| {
                let link = asked.upgrade();
                async move {
                    match link {
                        Some(link) => link.ask(question).await,
                        None => Err(Error::internal()),
                    }
                }
            })
            .on_log(self.with(|link, message| link.log(message)))
            .on_change(self.with(|link, change| link.change(&change)))
            .on_visit_complete(self.with(|link, id| link.visited(id)))
            .on_notice(self.with(|link, notice| link.notice(&notice)))
    }

    /// Returns a handler that acts while the connection exists.
    fn with<T>(
        self: &Arc<Self>,
        act: impl Fn(&Arc<Self>, T) + Send + Sync + 'static,
    ) -> impl Fn(T) + Send + Sync + 'static {
        let link = Arc::downgrade(self);
        move |value| {
            if let Some(link) = link.upgrade() {
                act(&link, value);
            }
        }
    }

    /// Makes the subscription of the connection equal to the subscriptions of its clients.
    pub(crate) async fn renew(&self) -> Result<(), CallError> {
        let mut uris = BTreeSet::new();
        if let Some(session) = self.session() {
            session.with(|engine| uris = engine.listened_uris());
        } else if let Some(upstream) = self.upstream().filter(|_| !self.has_session()) {
            for handle in upstream.attached() {
                handle.engine(&mut |engine| uris.extend(engine.subscribed_uris()));
            }
        }
        uris.retain(|uri| self.shows(uri));
        self.subscriptions.renew(self.client(), uris).await
    }

    /// Renews the subscription in a task of its own.
    pub(crate) fn follow(self: &Arc<Self>) {
        let link = Arc::downgrade(self);
        tokio::spawn(async move {
            let Some(link) = link.upgrade() else {
                return;
            };
            if let Err(error) = link.renew().await {
                tracing::warn!(%error, "the proxy receives no changes of the server");
            }
        });
    }

    pub(crate) fn client(&self) -> &Client {
        self.client.get().expect("a link has its client")
    }

    pub(crate) fn revision(&self) -> Option<Revision> {
        self.client.get()?.revision()
    }

    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    pub(crate) fn used(&self) -> Instant {
        *self.used.lock()
    }

    /// Returns true if the connection is older than `most`, and no attempt to replace it was made for `pause`.
    pub(crate) fn is_aged(&self, most: Duration, pause: Duration) -> bool {
        let attempted = *self.attempted.lock();
        self.made.elapsed() >= most && attempted.is_none_or(|last| last.elapsed() >= pause)
    }

    /// Records an attempt to replace the connection for its age.
    pub(crate) fn attempt(&self) {
        *self.attempted.lock() = Some(Instant::now());
    }

    /// Whether the connection belongs to a session that has ended.
    pub(crate) fn is_orphan(&self) -> bool {
        self.session
            .get()
            .is_some_and(|session| session.strong_count() == 0)
    }

    pub(crate) fn has_session(&self) -> bool {
        self.session.get().is_some()
    }

    pub(crate) fn session(&self) -> Option<Arc<dyn EngineHandle>> {
        self.session.get()?.upgrade()
    }

    /// Makes sure that the server sends log messages of a level, where the connection has one level.
    pub(crate) async fn ensure_level(&self, level: &LoggingLevel) -> Result<(), CallError> {
        let mut current = self.level.lock().await;
        if current.as_ref() != Some(level) {
            self.client().set_level(level.clone()).await?;
            *current = Some(level.clone());
        }
        Ok(())
    }

    /// Passes a question of the server to a client.
    pub(crate) async fn ask(&self, request: InputRequest) -> Answered {
        let Some(options) = self.upstream().map(|upstream| upstream.options.clone()) else {
            return Err(Error::internal());
        };
        if let Some(questions) = self.questions_of_task(&request) {
            let (most, timeout) = (options.max_questions, options.question_timeout);
            return questions.ask(request, most, timeout).await;
        }
        let accepts = |cx: &Context| cx.terms().has(Feature::ServerRequests);
        if let Some(cx) = self.open.newest(accepts) {
            return cx
                .ask(request)
                .await
                .map_err(|error| error_of_question(&error));
        }
        if let Some(session) = self.session()
            && session.with(|engine| {
                engine
                    .session_terms()
                    .is_some_and(|terms| terms.has(Feature::ServerRequests))
            })
        {
            return ask_session(&*session, &request).await;
        }
        self.questions
            .ask(request, options.max_questions, options.question_timeout)
            .await
    }

    /// Passes the questions of a task to this place from now on, while it exists.
    pub(crate) fn route(&self, task: &str, questions: &Arc<Questions>) {
        let mut routes = self.routes.lock();
        routes.retain(|_, questions| questions.strong_count() > 0);
        routes.insert(task.to_owned(), Arc::downgrade(questions));
    }

    fn questions_of_task(&self, request: &InputRequest) -> Option<Arc<Questions>> {
        let task = related_task(request)?;
        self.routes.lock().get(task)?.upgrade()
    }

    /// Passes a log message on, to the client of the only open call, or to the session.
    pub(crate) fn log(&self, message: LogMessageParams) {
        if let Some(cx) = self.open.logged(self.has_session()) {
            cx.log(message.level, message.logger.as_deref(), message.data);
            return;
        }
        let Some(session) = self.session() else {
            return;
        };
        session.with(|engine| {
            let terms = engine.session_terms();
            let least = terms.and_then(|terms| terms.log_level.clone());
            if least.is_some_and(|least| message.level >= least) {
                notify(engine, LogMessage::NAME, &message);
            }
        });
    }

    /// Passes a change on: to the session of the connection, or to all clients.
    pub(crate) fn change(self: &Arc<Self>, change: &Change) {
        if *change == Change::Tools {
            self.list_tools();
        }
        if let Change::Resource(uri) = change
            && !self.shows(uri)
        {
            return;
        }
        if self.has_session() {
            if let Some(session) = self.session() {
                session.with(|engine| engine.publish(change));
            }
            return;
        }
        if let Some(upstream) = self.upstream() {
            upstream.publish(change);
        }
    }

    /// Whether clients see the resource at a URI.
    fn shows(&self, uri: &str) -> bool {
        let upstream = self.upstream();
        upstream.is_some_and(|upstream| upstream.filter.resources.permits(uri))
    }

    /// Lists the tools of the server again, in a task of its own.
    fn list_tools(self: &Arc<Self>) {
        let link = Arc::downgrade(self);
        tokio::spawn(async move {
            let Some(link) = link.upgrade() else {
                return;
            };
            if let Some(upstream) = link.upstream() {
                upstream.tools.forget_tasks();
                upstream.list_tools(link.client()).await;
            }
        });
    }

    /// Passes the end of a visit on to the session.
    pub(crate) fn visited(&self, id: String) {
        if let Some(session) = self.session() {
            let params = ElicitationCompleteParams::new(id);
            session.with(|engine| notify(engine, ElicitationComplete::NAME, &params));
        }
    }

    /// Passes a notification that the client does not know on to the session.
    pub(crate) fn notice(&self, notice: &IncomingNotice) {
        let (Some(session), Ok(params)) = (self.session(), notice.params.decode::<JsonObject>())
        else {
            return;
        };
        session.with(|engine| notify(engine, notice.method.as_str(), &params));
    }
}

fn notify(engine: &mut pintle::proto::Connection, method: &str, params: &impl Serialize) {
    let params = serde_json::to_value(params).ok();
    let params = params.as_ref().and_then(|params| params.as_object());
    if let Err(error) = engine.notify(method, params) {
        tracing::debug!(%error, method, "a notification was not passed on");
    }
}

/// Asks the client of a session outside of its requests.
async fn ask_session(session: &dyn EngineHandle, request: &InputRequest) -> Answered {
    let kind = request
        .kind()
        .ok_or_else(|| internal("the kind of the question is unknown"))?;
    let written = serde_json::to_value(request).map_err(|_| Error::internal())?;
    let params = written
        .get("params")
        .and_then(|params| params.as_object().cloned());
    let mut call = NewCall::new(kind.method(), params.unwrap_or_default());
    call.lane = Lane::Session;
    let now = Instant::now().into_std();
    let made = session.with(|engine| engine.call_polled(now, call));
    let call = made.map_err(|error| internal(&error.to_string()))?;
    let forget = Forget { session, call };
    let settled = poll_fn(|task| session.with(|engine| engine.poll_call(call, task))).await;
    drop(forget);
    let answer = settled.map_err(|failure| match failure {
        pintle::proto::PeerCallError::Answered(error) => error,
        failure => internal(&failure.to_string()),
    })?;
    let answer: JsonObject = serde_json::from_str(answer.get()).map_err(|_| Error::internal())?;
    InputResponse::decode(kind, &answer).map_err(|error| internal(&error.to_string()))
}

/// Cancels a question to a session when it is dropped.
struct Forget<'a> {
    session: &'a dyn EngineHandle,
    call: pintle::proto::CallId,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.session.with(|engine| engine.forget_call(self.call));
    }
}

/// The error that the server receives for its question.
pub(crate) fn error_of_question(error: &pintle::runtime::AskError) -> Error {
    match error {
        pintle::runtime::AskError::Failed(pintle::proto::PeerCallError::Answered(error)) => {
            error.clone()
        }
        error => internal(&error.to_string()),
    }
}
