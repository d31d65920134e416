//! Tools that run as tasks.

use pintle_model::TaskSupport;

use super::Tool;
use crate::task_code::TaskCode;

impl Tool {
    /// Sets whether the tool can run as a task, which continues after the call is answered.
    ///
    /// - In 2025-11-25 the client decides, call by call; of a tool that is always a task, or never,
    ///   it must know that.
    /// - Since 2026-07-28 the server decides, for clients that know the extension: a call that has
    ///   not ended within [`TaskOptions::task_delay`](crate::TaskOptions::task_delay) becomes a task, or
    ///   when its handler calls [`Context::begin_task`](pintle_runtime::Context::begin_task).
    ///   Other clients wait for an optional task as for any call, and are refused a required one.
    /// - Before, an optional task is a call, and a tool that is always a task is not there.
    ///
    /// The handler is the same. As a task it is polled even while no client waits, and its
    /// questions wait in the task. When its process ends, another process that shares
    /// [`Server::store`](crate::Server::store) runs the handler again. The second run gets the
    /// recorded answers and the results of [`Context::once`](pintle_runtime::Context::once).
    #[must_use]
    pub fn task(mut self, support: TaskSupport) -> Self {
        self.definition.execution = Some(support.into());
        self.task_code = Some(TaskCode::LINKED);
        self
    }
}
