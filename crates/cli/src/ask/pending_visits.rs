//! Visits to URLs that the user agreed to, while a call waits for their end.
//!
//! A call that failed with -32042 is made again when the server reports that the visit is over, or when the
//! user reports it with Enter, or after a bound. Meanwhile this shows what is waited for.

use std::convert::Infallible;

use pintle::client::Client;
use pintle::runtime::sync::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

use super::typing::reader;
use crate::live::Live;
use crate::text;

/// Largest number of visits whose end the user can report together; a client asks for fewer.
const MOST: usize = 64;

/// The visits of one conversation.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// The server's ids of visits that have begun.
    ids: Mutex<Vec<String>>,
    /// A visit has begun.
    begun: Notify,
    /// The server reports that a visit is over.
    over: Notify,
    /// Number of questions that are open: they need the terminal.
    questions: watch::Sender<usize>,
}

/// A question that is open, until this is dropped.
pub(super) struct Question<'v>(&'v Visits);

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.0.questions.send_modify(|open| *open -= 1);
    }
}

impl Visits {
    /// A question begins, which needs the terminal.
    pub(super) fn question(&self) -> Question<'_> {
        self.questions.send_modify(|open| *open += 1);
        Question(self)
    }

    /// The user agreed to a visit.
    pub(super) fn begin(&self, id: String) {
        let mut ids = self.lock();
        if ids.len() < MOST {
            ids.push(id);
        }
        self.begun.notify_one();
    }

    /// The server reports the end of a visit.
    pub(super) fn end(&self, id: &str) {
        let mut ids = self.lock();
        ids.retain(|begun| begun != id);
        if ids.is_empty() {
            self.over.notify_waiters();
        }
    }

    /// Shows what a call waits for once a visit has begun, and ends the visits when the user presses Enter.
    /// This never ends; the call does.
    pub(super) async fn follow(
        &self,
        live: &Live,
        is_somebody_there: bool,
        client: &Client,
    ) -> Infallible {
        let mut questions = self.questions.subscribe();
        loop {
            self.begun.notified().await;
            // The sender is a part of this, so it is never gone.
            let _ = questions.wait_for(|open| *open == 0).await;
            let over = self.over.notified();
            if self.lock().is_empty() {
                continue;
            }
            tokio::select! {
                () = waited(live, is_somebody_there) => {
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

/// Shows what is waited for, until the user presses Enter; without a terminal, without an end.
async fn waited(live: &Live, is_somebody_there: bool) {
    let what = "waiting until the server reports that the visit is over";
    if !is_somebody_there {
        live.note(&text::line(&format!("{what}; --timeout bounds the wait")));
        return std::future::pending().await;
    }
    live.note(&text::line(&format!("{what}; Enter tries again at once")));
    // Dropped at the end, however this ends: then the terminal is read no more.
    let (reader, _waiting) = reader();
    let typed = spawn_blocking(move || reader.line());
    if !matches!(typed.await, Ok(Some(_))) {
        std::future::pending().await
    }
}
