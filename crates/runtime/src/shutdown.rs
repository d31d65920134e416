//! Stop accepting, drain, then cut.

use std::fmt;
use std::task::{Context, Poll, Waker};

use tokio::sync::watch;

use crate::future::BoxFuture;

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

impl Shutdown {
    /// Returns a wait for the signal, for a future that is polled often.
    pub fn wait(self) -> ShutdownWait {
        ShutdownWait {
            shutdown: self,
            registered: None,
        }
    }
}

/// A wait for the signal to end. A poll costs little while neither the signal nor the waker changes.
pub struct ShutdownWait {
    shutdown: Shutdown,
    registered: Option<Registered>,
}

/// The waker that the signal wakes.
struct Registered {
    waker: Waker,
    begun: BoxFuture<'static, ()>,
}

impl ShutdownWait {
    /// Returns `Ready` once the end has begun, and wakes the task then.
    #[inline]
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let registered = self.registered.as_ref();
        let is_registered = registered.is_some_and(|it| it.waker.will_wake(cx.waker()));
        if is_registered && !self.may_have_begun() {
            return Poll::Pending;
        }
        self.register(cx)
    }

    /// Whether the signal may have been given, also by a handle that was dropped then.
    #[inline]
    fn may_have_begun(&self) -> bool {
        let changed = self.shutdown.0.has_changed();
        changed.unwrap_or_else(|_| self.shutdown.has_begun())
    }

    fn register(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let begun = match self.registered.take() {
            Some(registered) => registered.begun,
            None => {
                let mut shutdown = self.shutdown.clone();
                Box::pin(async move { shutdown.begun().await })
            }
        };
        let waker = cx.waker().clone();
        let registered = self.registered.insert(Registered { waker, begun });
        registered.begun.as_mut().poll(cx)
    }
}

impl fmt::Debug for ShutdownWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownWait")
            .field("shutdown", &self.shutdown)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_signal_wakes_the_waker_of_the_last_poll() {
        let (handle, shutdown) = ShutdownHandle::new();
        let mut wait = shutdown.wait();
        let wakes = [Arc::new(Wakes::default()), Arc::new(Wakes::default())];
        let [first, last] = wakes.clone().map(Waker::from);
        for waker in [&first, &first, &last, &last] {
            assert!(wait.poll(&mut Context::from_waker(waker)).is_pending());
        }
        handle.begin();
        assert_eq!(wakes.map(|it| it.0.load(Ordering::SeqCst)), [0, 1]);
        assert!(wait.poll(&mut Context::from_waker(&last)).is_ready());
    }

    #[test]
    fn a_signal_without_handles_never_comes() {
        let mut wait = Shutdown::never().wait();
        for _ in 0..3 {
            assert!(
                wait.poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
        }
    }

    #[test]
    fn a_signal_is_seen_after_its_handle_is_dropped() {
        let (handle, shutdown) = ShutdownHandle::new();
        let mut wait = shutdown.wait();
        let waker = Waker::from(Arc::new(Wakes::default()));
        let mut cx = Context::from_waker(&waker);
        assert!(wait.poll(&mut cx).is_pending());
        handle.begin();
        drop(handle);
        assert!(wait.poll(&mut cx).is_ready());
    }

    #[tokio::test]
    async fn a_signal_that_was_given_before_ends_the_wait_at_once() {
        let (handle, shutdown) = ShutdownHandle::new();
        handle.begin();
        let mut wait = shutdown.clone().wait();
        poll_fn(|cx| wait.poll(cx)).await;
        assert!(shutdown.has_begun());
    }
}
