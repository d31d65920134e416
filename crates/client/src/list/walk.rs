//! The way through the pages of a list, with its bounds. It does not depend on the type of the items, so that other
//! crates do not compile it again for each of them.

use std::collections::HashSet;
use std::future::{Future, IntoFuture};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pintle_model::{Cursor, ErrorCode};
use serde_json::value::RawValue;

use super::page::RawPage;
use super::request;
use crate::call::{Call, CallFuture};
use crate::client::Client;
use crate::error::{CallError, Misbehavior};
use crate::request::CallTimeouts;
use crate::result::Reader;

pub(super) struct Walk {
    client: Client,
    waiting: CallTimeouts,
    method: &'static str,
    read: Reader<RawPage>,
    step: Step,
    /// Hashes of the cursors, which detect a repeated one.
    seen: HashSet<u64>,
    items: usize,
    may_restart: bool,
    has_restarted: bool,
}

enum Step {
    At(Option<Cursor>),
    Asking(CallFuture<RawPage>),
    Done,
}

impl Walk {
    pub(super) fn new(
        client: Client,
        waiting: CallTimeouts,
        method: &'static str,
        read: Reader<RawPage>,
    ) -> Self {
        Self {
            client,
            waiting,
            method,
            read,
            step: Step::At(None),
            seen: HashSet::new(),
            items: 0,
            may_restart: false,
            has_restarted: false,
        }
    }

    /// The same pages; after a cursor that the server refuses they begin again, once.
    pub(super) fn restarting(mut self) -> Self {
        self.may_restart = true;
        self
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the pages began again with the page that came last.
    pub(super) fn has_restarted(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
    }

    /// Returns the next page. [`Walk::items`] reads it, and goes on.
    pub(super) fn poll_next(
        &mut self,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<RawPage, CallError>>> {
        loop {
            match &mut self.step {
                Step::Done => return Poll::Ready(None),
                Step::At(cursor) => {
                    let cursor = cursor.take();
                    self.step = Step::Asking(self.page(cursor).into_future());
                }
                Step::Asking(call) => {
                    let page = ready!(Pin::new(call).poll(task));
                    self.step = Step::Done;
                    let page = match page {
                        Ok(page) => page,
                        Err(error) if self.restart_after(&error) => continue,
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    };
                    return Poll::Ready(Some(Ok(page)));
                }
            }
        }
    }

    fn page(&self, cursor: Option<Cursor>) -> Call<RawPage> {
        let request = request(self.method, self.waiting, cursor);
        Call::new(self.client.clone(), request, self.read)
    }

    /// Begins again if the server refused the cursor of a page: it may be that of an earlier list,
    /// whose cached pages were dropped with this error.
    fn restart_after(&mut self, error: &CallError) -> bool {
        let is_refused = matches!(error,
            CallError::Answered { error, .. } if error.code == ErrorCode::INVALID_PARAMS);
        let restarts = is_refused && self.may_restart && !self.seen.is_empty();
        if restarts {
            self.seen.clear();
            (self.step, self.items) = (Step::At(None), 0);
            (self.may_restart, self.has_restarted) = (false, true);
        }
        restarts
    }

    /// Returns the items of a page, and chooses the step after it.
    ///
    /// # Errors
    ///
    /// [`CallError::Misbehaved`]; there are no pages after it.
    pub(super) fn items<'p>(&mut self, page: &'p RawPage) -> Result<Vec<&'p RawValue>, CallError> {
        let read = page.items().and_then(|items| {
            self.step = self.after(items.len(), page.next.as_ref())?;
            Ok(items)
        });
        read.map_err(|source| CallError::Misbehaved {
            method: self.method.into(),
            source,
        })
    }

    fn after(&mut self, count: usize, next: Option<&Cursor>) -> Result<Step, Misbehavior> {
        let options = &self.client.0.options;
        let (pages, items) = (options.max_list_pages, options.max_list_items);
        self.items += count;
        if self.items > items {
            return Err(endless(items, "items"));
        }
        let Some(next) = next else {
            return Ok(Step::Done);
        };
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return Err(Misbehavior::RepeatedCursor);
        }
        if self.seen.len() >= pages {
            return Err(endless(pages, "pages"));
        }
        Ok(Step::At(Some(next.clone())))
    }
}

fn endless(limit: usize, unit: &'static str) -> Misbehavior {
    Misbehavior::EndlessList { limit, unit }
}
