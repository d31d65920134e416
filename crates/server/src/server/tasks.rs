//! The setting of tasks.

use super::Server;
use crate::tasks::TaskOptions;

impl Server {
    /// Sets how tasks are run and stored. Also offers tasks while no tool can run as one, because
    /// such a tool may be added while the server runs.
    #[must_use]
    pub fn tasks(mut self, options: TaskOptions) -> Self {
        self.tasks = Some(Box::new(options));
        self
    }
}
