//! One module per command.

mod serve;

use crate::exit::Failure;
use crate::plan::{Plan, Task};

/// Does what was meant.
pub(crate) async fn run(plan: Plan) -> Result<(), Failure> {
    match plan.task {
        Task::Serve(serving) => serve::run(serving).await,
    }
}
