//! Hooks of a server.

use std::future::Future;
use std::time::Duration;

use super::Server;
use crate::failure::BoxError;

impl Server {
    /// Adds a hook that runs before the first request: it opens a pool of connections, for example. The hooks
    /// run once and in the order in which they were added, those of mounted servers after them.
    ///
    /// If a hook fails, the server does not serve, and `run()` returns the error. Later hooks and those of the
    /// stop do not run then. In another web framework call `HttpService::start`.
    ///
    /// ```
    /// use pintle_server::Server;
    ///
    /// let server = Server::new("notes", "1.0.0").on_start(|| async {
    ///     std::fs::create_dir_all("notes")?;
    ///     Ok(())
    /// });
    /// # drop(server);
    /// ```
    #[must_use]
    pub fn on_start<F, Fut>(mut self, hook: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        self.hooks.on_start(hook);
        self
    }

    /// Adds a hook that runs after the last request, when every transport of the server has ended. The hooks
    /// run once and in the order in which they were added, within [`Server::stop_timeout`].
    ///
    /// They do not run if the process is killed, or if a signal ends it while it serves standard streams.
    #[must_use]
    pub fn on_stop<F, Fut>(mut self, hook: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.hooks.on_stop(hook);
        self
    }

    /// Sets how long all hooks of the stop may take in total; default 10 s. Hooks that have not ended then are
    /// dropped.
    #[must_use]
    pub fn stop_timeout(mut self, timeout: Duration) -> Self {
        self.stop_timeout = timeout;
        self
    }
}
