//! Clean-up of work that a handler began and did not finish.

use std::fmt;

use super::Context;

/// Guard that runs a function when it is dropped, unless it is disarmed: see [`Context::undo`].
#[must_use = "a guard that is dropped at once undoes at once; write `let undo = …`"]
pub struct Undo<F: FnOnce()> {
    cx: Context,
    // None after `disarm`, and once the function has run.
    run: Option<F>,
}

impl<F: FnOnce()> Undo<F> {
    /// Ends the guard, because the work is done. The function does not run.
    pub fn disarm(mut self) {
        self.run = None;
    }
}

impl<F: FnOnce()> Drop for Undo<F> {
    fn drop(&mut self) {
        if let Some(run) = self.run.take().filter(|_| !self.cx.is_suspended()) {
            run();
        }
    }
}

impl<F: FnOnce()> fmt::Debug for Undo<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undo")
            .field("is_armed", &self.run.is_some())
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Returns a guard that runs `undo` if the handler ends before [`Undo::disarm`]: by an error, a panic, a cancellation
    /// or a time limit.
    ///
    /// The function does not run while a question suspends the handler (since 2026-07-28). The handler runs again with the
    /// answer, and makes a new guard. A client that never answers never causes the function to run. So begin
    /// what must be undone below the last question.
    ///
    /// The function runs in a `drop`: it must not block, wait or panic. Start a task for longer work.
    ///
    /// ```
    /// # use pintle_runtime::Context;
    /// # async fn step() {}
    /// async fn deploy(ctx: Context) {
    ///     let undo = ctx.undo(|| eprintln!("the deployment is removed"));
    ///     step().await;
    ///     undo.disarm();
    /// }
    /// ```
    pub fn undo<F: FnOnce()>(&self, undo: F) -> Undo<F> {
        Undo {
            cx: self.clone(),
            run: Some(undo),
        }
    }
}
