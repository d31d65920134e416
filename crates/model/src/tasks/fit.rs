//! Tasks, fitted to a revision: each of the two forms exists in one revision only.

use super::{
    CreateTaskResult, DetailedTask, ListTasksResult, Task, TaskHandle, TaskIdParams,
    UpdateTaskParams,
};
use crate::{Feature, Fit, FitError, Revision, TaskMetadata};

/// Declares the types of one form.
macro_rules! only_with {
    ($feature:ident: $($name:ty),+ $(,)?) => {$(
        impl Fit for $name {
            fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
                FitError::unless(revision, Feature::$feature)
            }
        }
    )+};
}

only_with!(CoreTasks: Task, TaskMetadata, CreateTaskResult, ListTasksResult);
only_with!(TasksExtension: TaskHandle, UpdateTaskParams);

impl Fit for DetailedTask {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.handle.fit(revision)?;
        self.input_requests.fit(revision)
    }
}

impl Fit for TaskIdParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        if revision.has(Feature::CoreTasks) {
            return Ok(());
        }
        FitError::unless(revision, Feature::TasksExtension)
    }
}
