//! Visits to URLs that the user agreed to, while a call waits for their end.
//!
//! A call that failed with -32042 is made again after one of three events. The server reports the
//! end of the visit, the user presses Enter, or a time limit passes. Meanwhile a note explains the
//! wait.

use std::convert::Infallible;

use pintle::client::Client;
use pintle::runtime::sync::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

use super::typing::reader;
use crate::live::Live;
use crate::text;

/// Maximum number of visits whose end the user can report together; a client asks for fewer.
const MOST: usize = 64;

/// The visits of one conversation.
#[derive(Debug, Default)]
pub(super) struct PendingVisits {
    /// The server's ids of visits that have begun.
    ids: Mutex<Vec<String>>,
    /// Notified when a visit has begun.
    started: Notify,
    /// Notified when the server reports the end of the last visit.
    over: Notify,
    /// Number of open questions, which use the terminal.
    questions: watch::Sender<usize>,
}

/// An open question. Dropping it closes the question.
pub(super) struct Question<'v>(&'v PendingVisits);

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.0.questions.send_modify(|open| *open -= 1);
    }
}

impl PendingVisits {
    /// Begins a question, which uses the terminal.
    pub(super) fn question(&self) -> Question<'_> {
        self.questions.send_modify(|open| *open += 1);
        Question(self)
    }

    /// Records a visit that the user agreed to.
    pub(super) fn begin(&self, id: String) {
        let mut ids = self.lock();
        if ids.len() < MOST {
            ids.push(id);
        }
        self.started.notify_one();
    }

    /// Removes a visit whose end the server reports.
    pub(super) fn end(&self, id: &str) {
        let mut ids = self.lock();
        ids.retain(|pending| pending != id);
        if ids.is_empty() {
            self.over.notify_waiters();
        }
    }

    /// Shows a note while calls wait for visits, and ends the visits when the user presses Enter.
    /// The future never completes: drop it at the end of the call.
    pub(super) async fn follow(
        &self,
        live: &Live,
        is_interactive: bool,
        client: &Client,
    ) -> Infallible {
        let mut questions = self.questions.subscribe();
        loop {
            self.started.notified().await;
            // An error is impossible, because `self` owns the sender.
            let _ = questions.wait_for(|open| *open == 0).await;
            let over = self.over.notified();
            if self.lock().is_empty() {
                continue;
            }
            tokio::select! {
                () = waited(live, is_interactive) => {
                    for id in std::mem::take(&mut *self.lock()) {
                        client.complete_visit(&id);
                    }
                }
                () = over => {}
                _ = questions.wait_for(|open| *open > 0) => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.ids.lock()
    }
}

/// Shows a note, and returns when the user presses Enter. Without a terminal it never returns.
async fn waited(live: &Live, is_interactive: bool) {
    let note = "waiting until the server reports that the visit is over";
    if !is_interactive {
        live.note(&text::line(&format!("{note}; --timeout bounds the wait")));
        return std::future::pending().await;
    }
    live.note(&text::line(&format!("{note}; Enter tries again at once")));
    // Dropping the guard stops the reader, also when this future is cancelled.
    let (reader, _guard) = reader();
    let typed = spawn_blocking(move || reader.line());
    if !matches!(typed.await, Ok(Some(_))) {
        std::future::pending().await
    }
}
