//! Tasks of the proxy: calls of clients of 2025-11-25 at a server of the extension.
//!
//! The server alone decides whether a call becomes a task. So the proxy answers the call with a task of its own. It runs
//! the call in that task: as a plain call, or as the task that the server makes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use pintle::model::{CallToolResult, Error, InputRequest, Task, TaskHandle, TaskStatus, Timestamp};
use pintle::proto::RequestKey;
use pintle::runtime::sync::Mutex;
use pintle::runtime::{BoxFuture, Context, EngineHandle};
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Tasks;
use super::follow::{AskClient, Round, stated, to_end};
use crate::connections::Lease;
use crate::error::internal;
use crate::options::ProxyOptions;
use crate::owner::Owner;
use crate::questions::{Answered, Questions};
use crate::sink::Sink;
use crate::task_form as form;
use crate::upstream::Upstream;

/// Suggested pause between two polls.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A task of the proxy.
pub(crate) struct OwnTask {
    id: String,
    owner: Owner,
    created: (Timestamp, Instant),
    ttl: Duration,
    state: Mutex<State>,
    questions: Questions,
    /// The number of questions without an answer.
    asked: AtomicUsize,
    /// Changes with the end.
    ended: watch::Sender<bool>,
    limits: (usize, Duration),
}

#[derive(Default)]
struct State {
    message: Option<String>,
    updated: Option<Timestamp>,
    end: Option<End>,
    run: Option<AbortHandle>,
}

/// The end of a task.
#[derive(Clone)]
pub(crate) enum End {
    Result(Arc<RawValue>, bool),
    Error(Error),
    Cancelled,
}

impl Tasks {
    /// Adds a task.
    ///
    /// # Errors
    ///
    /// -32603 at the limit.
    pub(crate) fn add(&self, task: &Arc<OwnTask>, most: usize) -> Result<(), Error> {
        let mut all = self.own.lock();
        if all.len() >= most {
            return Err(internal("the proxy has too many tasks"));
        }
        all.insert(task.id.clone(), Arc::clone(task));
        Ok(())
    }

    /// Returns a task of a client.
    ///
    /// # Errors
    ///
    /// -32602 if the client has no such task.
    pub(crate) fn own(&self, cx: &Context, id: &str) -> Result<Arc<OwnTask>, Error> {
        let all = self.own.lock();
        let task = all.get(id).filter(|task| task.owner == Owner::of(cx));
        task.cloned().ok_or_else(form::unknown_task)
    }

    /// Returns the tasks of a client, oldest first.
    pub(crate) fn all_own(&self, cx: &Context) -> Vec<Task> {
        let owner = Owner::of(cx);
        let all = self.own.lock();
        let own = all.values().filter(|task| task.owner == owner);
        let mut own: Vec<_> = own.map(|task| (task.created.1, task.record())).collect();
        drop(all);
        own.sort_by_key(|(created, _)| *created);
        own.into_iter().map(|(_, record)| record).collect()
    }

    /// Returns the size of all stored results.
    fn stored_bytes(&self) -> usize {
        let all = self.own.lock();
        all.values().map(|task| task.bytes()).sum()
    }
}

impl OwnTask {
    /// Waits for the end. Questions of the task are passed to the function meanwhile.
    pub(crate) async fn ended<F: Future<Output = Answered>>(
        &self,
        ask: impl Fn(InputRequest) -> F,
    ) -> Result<End, Error> {
        let mut ended = self.ended.subscribe();
        while !*ended.borrow_and_update() {
            tokio::select! {
                changed = ended.changed() => changed.map_err(|_| form::unknown_task())?,
                questions = self.questions.take() => {
                    for question in questions {
                        let request = form::related(question.request.clone(), Some(&self.id));
                        let answer = ask(request).await;
                        question.answer(answer);
                    }
                }
            }
        }
        self.state.lock().end.clone().ok_or_else(Error::internal)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn new(
        id: String,
        cx: &Context,
        ttl: Option<Duration>,
        options: &ProxyOptions,
    ) -> Self {
        let most = options.max_task_ttl;
        Self {
            id,
            owner: Owner::of(cx),
            created: (SystemTime::now().into(), Instant::now()),
            ttl: ttl.map_or(most, |ttl| ttl.min(most)),
            state: Mutex::default(),
            questions: Questions::default(),
            asked: AtomicUsize::new(0),
            ended: watch::Sender::new(false),
            limits: (options.max_questions, options.question_timeout),
        }
    }

    /// Returns the task as its client receives it.
    pub(crate) fn record(&self) -> Task {
        let state = self.state.lock();
        let mut record = Task::new(&*self.id, self.created.0.clone());
        record.status = match &state.end {
            Some(End::Result(_, false)) => TaskStatus::Completed,
            Some(End::Result(_, true) | End::Error(_)) => TaskStatus::Failed,
            Some(End::Cancelled) => TaskStatus::Cancelled,
            None if self.asked.load(Ordering::SeqCst) > 0 => TaskStatus::InputRequired,
            None => TaskStatus::Working,
        };
        record.status_message.clone_from(&state.message);
        if let Some(updated) = &state.updated {
            record.last_updated_at = updated.clone();
        }
        (record.ttl, record.poll_interval) = (Some(self.ttl), Some(POLL_INTERVAL));
        record
    }

    /// Ends the task. Returns false if it has ended already.
    pub(crate) fn end(&self, end: End) -> bool {
        let mut state = self.state.lock();
        if state.end.is_some() {
            return false;
        }
        if let End::Error(error) = &end {
            state.message = Some(error.message.to_string());
        }
        state.updated = Some(SystemTime::now().into());
        state.end = Some(end);
        drop(state);
        self.ended.send_replace(true);
        true
    }

    fn bytes(&self) -> usize {
        match &self.state.lock().end {
            Some(End::Result(raw, _)) => raw.get().len(),
            _ => 0,
        }
    }

    /// Whether the time of the task is not over. It is aborted afterwards.
    pub(super) fn is_fresh(&self) -> bool {
        let is_fresh = self.created.1.elapsed() < self.ttl;
        if !is_fresh {
            self.end(End::Cancelled);
            self.abort();
        }
        is_fresh
    }

    /// Stops the call.
    pub(crate) fn abort(&self) {
        if let Some(run) = self.state.lock().run.take() {
            run.abort();
        }
    }
}

/// The questions of an own task wait for a request for its result.
impl AskClient for OwnTask {
    fn ask(&self, question: InputRequest) -> BoxFuture<'_, Answered> {
        struct Asked<'a>(&'a AtomicUsize);
        impl Drop for Asked<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let _asked = Asked(&self.asked);
            let (most, timeout) = self.limits;
            self.questions.insist(question, most, timeout).await
        })
    }

    fn note(&self, task: &TaskHandle) {
        let mut state = self.state.lock();
        state.message.clone_from(&task.status_message);
        state.updated = Some(SystemTime::now().into());
    }
}

/// The call of an own task.
pub(crate) struct OwnCall {
    upstream: Arc<Upstream>,
    tasks: Arc<Tasks>,
    task: Arc<OwnTask>,
    cx: Context,
    params: String,
    lease: Lease,
    _end: EndOfTask,
}

/// The progress of the call belongs to its request until this value is dropped.
struct EndOfTask {
    handle: Arc<dyn EngineHandle>,
    key: RequestKey,
}

impl Drop for EndOfTask {
    fn drop(&mut self) {
        self.handle.with(|engine| engine.end_task(self.key));
    }
}

impl OwnCall {
    /// Begins a call, whose progress belongs to its task from now on.
    pub(crate) fn begin(
        (upstream, tasks): (&Arc<Upstream>, &Arc<Tasks>),
        task: &Arc<OwnTask>,
        cx: &Context,
        params: String,
        lease: Lease,
    ) {
        let (handle, key) = (cx.engine_handle(), cx.key());
        handle.with(|engine| engine.begin_task(key, &task.id));
        let call = Self {
            upstream: Arc::clone(upstream),
            tasks: Arc::clone(tasks),
            task: Arc::clone(task),
            cx: cx.clone(),
            params,
            lease,
            _end: EndOfTask { handle, key },
        };
        let run = tokio::spawn(call.run()).abort_handle();
        task.state.lock().run = Some(run);
    }

    async fn run(self) {
        let sink = Sink::of(self.cx.request());
        let _progress = sink.attach(&self.cx);
        let round = Round {
            upstream: &self.upstream,
            link: &self.lease.link,
            cx: &self.cx,
            sink: &sink,
            params: &self.params,
            capabilities: Some(stated(&self.cx.terms().capabilities)),
        };
        let end = match to_end(&round, &*self.task).await {
            Ok(raw) => self.end_of(raw),
            Err(error) => End::Error(error),
        };
        self.task.end(end);
    }

    fn end_of(&self, raw: Box<RawValue>) -> End {
        let most = self.upstream.options.max_task_bytes;
        if self.tasks.stored_bytes() + raw.get().len() > most {
            return End::Error(internal("the proxy has no room for the result of the task"));
        }
        let result = serde_json::from_str::<CallToolResult>(raw.get());
        let has_failed = result.is_ok_and(|result| result.has_failed());
        End::Result(raw.into(), has_failed)
    }
}
