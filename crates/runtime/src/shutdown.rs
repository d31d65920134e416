//! Stop accepting, drain, then cut.

use tokio::sync::watch;

/// Tells drivers to come to an end. Cloning gives another handle to the same end.
#[derive(Debug, Clone)]
pub struct ShutdownHandle(watch::Sender<bool>);

/// Hears of the end.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

impl ShutdownHandle {
    /// A pair of who tells and who hears.
    pub fn new() -> (Self, Shutdown) {
        let (tell, hear) = watch::channel(false);
        (Self(tell), Shutdown(hear))
    }

    /// Begins the end: nothing new is accepted, what runs may finish within its grace.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// An end that never comes.
    pub fn never() -> Self {
        let (tell, hear) = watch::channel(false);
        drop(tell);
        Self(hear)
    }

    /// Whether the end has begun.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the end to begin; for ever if nobody is left to begin it.
    pub async fn begun(&mut self) {
        if self.0.wait_for(|begun| *begun).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
