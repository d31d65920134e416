//! From a call to a task.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pintle_model::RawJson;
use pintle_model::{CreateTaskResult, Error, Feature};
use pintle_proto::{Rendered, Reply};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{Context, EngineHandle, Principal};
use serde_json::value::RawValue;

use crate::core::{Core, TaskOrOutcome};
use crate::entry::Entry;
use crate::input::{RequestIdentity, RetryParams, Rounds};
use crate::log::WithRequest;
use crate::operation::call_tool;
use crate::tasks::{
    ActivePermit, BegunTask, Owner, Runner, Running, TaskEngineHandle, TaskOrigin, TaskRecord,
    Tasks, drive, too_many,
};
use crate::tool::{Tool, ToolReply};

/// A call that becomes a task, or may.
pub(crate) struct TaskCandidate<'a> {
    pub(crate) core: &'a Core,
    pub(crate) tasks: &'a Arc<Tasks>,
    pub(crate) cx: &'a Context,
    pub(crate) entry: &'a Arc<Entry<Tool>>,
    pub(crate) arguments: Option<RawJson<'a>>,
}

/// Why the handler of a call is no longer polled by its request.
enum Stop {
    Ended(Box<ToolReply>),
    /// The handler asked: the request ends with the questions.
    Suspended,
    /// The handler continues as a task.
    Task,
}

impl TaskCandidate<'_> {
    /// Begins a task of the core, before anything runs.
    ///
    /// # Errors
    ///
    /// -32603 if there is no room for it, or the store cannot.
    pub(crate) async fn begin(self, wish: Option<Duration>) -> Result<Reply, Error> {
        let place = self.place()?;
        let engine_handle = self.engine_handle();
        let cx = self
            .cx
            .with_engine(Arc::clone(&engine_handle) as Arc<dyn EngineHandle>);
        let record = self.record(wish).await?;
        let created =
            CreateTaskResult::new(record.core_task(&self.tasks.options, record.created()));
        let reply = Rendered::new(created, cx.terms().revision)?;
        let id = record.id.clone();
        let begun = self.tasks.create(record).await?;
        engine_handle.with_request(|engine| engine.begin_task(cx.key(), &id));
        let launch = self.launch(&cx);
        let handler = launch.run();
        self.go_on(begun, launch, handler, engine_handle, place);
        Ok(Reply::Task(reply))
    }

    /// Runs the handler until it ends, asks, or has run so long that the rest becomes a task of
    /// the extension. Without room for a task it is a call as any other.
    ///
    /// # Errors
    ///
    /// As for a plain call; -32603 if the store cannot.
    pub(crate) async fn begin_in_time(
        self,
        retry: RetryParams<'_>,
        origin: RequestIdentity<'_>,
        place: ActivePermit,
    ) -> Result<TaskOrOutcome, Error> {
        let engine_handle = self.engine_handle();
        let cx = self
            .cx
            .with_engine(Arc::clone(&engine_handle) as Arc<dyn EngineHandle>);
        let rounds = Rounds {
            seal: &*self.core.seal,
            memory: &self.core.memory,
            cx: &cx,
            origin,
            ask_code: None,
        };
        rounds.take_up(retry).await?;
        cx.questions().allow_task();
        let launch = self.launch(&cx);
        let mut handler = launch.run();
        match stop(&cx, handler.as_mut(), self.tasks.options.task_delay).await {
            Stop::Ended(reply) => rounds
                .conclude(Some(*reply), cx.questions().take())
                .await
                .map(TaskOrOutcome::Plain),
            Stop::Suspended => {
                // Before its questions are taken, so that its guards can read why it is dropped.
                drop(handler);
                rounds
                    .conclude(None, cx.questions().take())
                    .await
                    .map(TaskOrOutcome::Plain)
            }
            Stop::Task => {
                let mut record = self.record(None).await?;
                record.take_over(cx.questions());
                let handle = record.handle(&self.tasks.options, record.created());
                let reply = Rendered::new(handle, cx.terms().revision)?;
                let begun = self.tasks.create(record).await?;
                self.go_on(begun, launch, handler, engine_handle, place);
                Ok(TaskOrOutcome::Task(Reply::Task(reply)))
            }
        }
    }

    /// Takes a place among the tasks at work.
    ///
    /// # Errors
    ///
    /// -32603 if there is no room.
    pub(crate) fn place(&self) -> Result<ActivePermit, Error> {
        let (tasks, owner) = (self.tasks, self.cx.principal().map(Principal::id));
        let admitted = tasks.ledger.admit(owner, tasks.now(), &tasks.options);
        admitted.map_err(|_| too_many())
    }

    fn engine_handle(&self) -> Arc<TaskEngineHandle> {
        let engine_handle = self.cx.engine_handle();
        let profile = &self.tasks.profile;
        Arc::new(TaskEngineHandle::of_request(
            engine_handle,
            profile,
            self.cx.terms(),
        ))
    }

    async fn record(&self, wish: Option<Duration>) -> Result<TaskRecord, Error> {
        self.tasks.join().await?;
        let now = self.tasks.now();
        let mut record = TaskRecord::new(
            self.tasks.ids.next(now)?,
            self.cx.principal().map(Owner::new),
            now,
            self.tasks.options.granted(wish),
            TaskOrigin::new(self.entry.item.name(), self.arguments, self.cx.terms()),
            self.tasks.replicas().name().to_owned(),
        );
        record.is_ttl_requested = wish.is_some();
        record.lag = self.tasks.lag_millis();
        Ok(record)
    }

    fn launch(&self, cx: &Context) -> Launch {
        Launch {
            entry: Arc::clone(self.entry),
            arguments: self.arguments.map(RawJson::to_raw_value),
            cx: cx.clone(),
            forwards_events: self.core.forwards_events,
        }
    }

    /// Lets the handler run on without its request.
    fn go_on(
        &self,
        begun: BegunTask,
        launch: Launch,
        handler: Running,
        engine_handle: Arc<TaskEngineHandle>,
        place: ActivePermit,
    ) {
        let is_core = self.cx.terms().has(Feature::CoreTasks);
        if is_core && let Some(record) = begun.record() {
            self.tasks.sessions.remember(&record.id, &engine_handle);
        }
        engine_handle.detach(is_core);
        launch.start(self.tasks, begun, handler, engine_handle, place);
    }
}

/// The values that run a handler, more than once if necessary.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) entry: Arc<Entry<Tool>>,
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) cx: Context,
    pub(super) forwards_events: bool,
}

impl Launch {
    pub(super) fn run(&self) -> Running {
        let Self {
            entry,
            arguments,
            cx,
            forwards_events,
        } = self.clone();
        let running = {
            let cx = cx.clone();
            async move { call_tool(&entry, arguments.as_deref().map(RawJson::from), &cx).await }
        };
        if forwards_events {
            Box::pin(WithRequest::new(cx, running))
        } else {
            Box::pin(running)
        }
    }

    /// Lets a handler run as the task of a record.
    pub(super) fn start(
        self,
        tasks: &Arc<Tasks>,
        begun: BegunTask,
        handler: Running,
        engine_handle: Arc<TaskEngineHandle>,
        place: ActivePermit,
    ) {
        let term = begun.term;
        let Some(stored) = begun.start() else {
            return;
        };
        let cx = self.cx.clone();
        cx.questions().begin_task();
        let record = &stored.record;
        tasks.begin_work(&record.id);
        let definition = self.entry.item.definition();
        let runner = Runner {
            tasks: Arc::clone(tasks),
            owner: record.owner_id().map(str::to_owned),
            id: record.id.clone(),
            deadline: record.deadline(&tasks.options),
            stored_until: record.stored_until(&tasks.options),
            term,
            known: Mutex::new(Some(stored)),
            undelivered: Mutex::default(),
            cx: cx.clone(),
            engine_handle,
            wraps: definition.wraps_output(cx.terms().revision),
            place,
        };
        runner.start(Box::pin(
            async move { drive(&cx, handler, || self.run()).await },
        ));
    }
}

/// Polls a handler for its request, for no longer than the grace.
async fn stop(
    cx: &Context,
    mut handler: Pin<&mut (dyn Future<Output = ToolReply> + Send)>,
    grace: Duration,
) -> Stop {
    let mut grace = pin!(tokio::time::sleep(grace));
    poll_fn(|task| {
        if let Poll::Ready(reply) = handler.as_mut().poll(task) {
            return Poll::Ready(Stop::Ended(Box::new(reply)));
        }
        if cx.questions().is_suspended_or_wake(task.waker()) {
            return Poll::Ready(Stop::Suspended);
        }
        if cx.questions().wants_task() || grace.as_mut().poll(task).is_ready() {
            return Poll::Ready(Stop::Task);
        }
        Poll::Pending
    })
    .await
}
