//! Stop accepting, drain, then cut.

use tokio::sync::watch;

/// Ends drivers gracefully. Cloning returns another handle to the same signal.
#[derive(Debug, Clone)]
pub struct ShutdownHandle(watch::Sender<bool>);

/// Receives the signal to end.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

impl ShutdownHandle {
    /// A connected pair of handle and receiver.
    pub fn new() -> (Self, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Shutdown(receiver))
    }

    /// Begins the end: nothing new is accepted, what runs may finish within its grace.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// An end that never comes.
    pub fn never() -> Self {
        let (sender, receiver) = watch::channel(false);
        drop(sender);
        Self(receiver)
    }

    /// Whether the end has begun.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the signal; without limit if all handles are gone.
    pub async fn begun(&mut self) {
        if self.0.wait_for(|begun| *begun).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
