//! The pages of a list as a stream.

use std::collections::HashSet;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use pintle_model::{Cursor, ErrorCode};

use super::List;
use super::item::Item;
use super::page::Page;
use crate::error::{CallError, Misbehavior};

/// The pages of a list, one after the other. After an error there is nothing more. When the server
/// refuses a cursor, the cached pages are dropped, and another list begins at the first page.
///
/// # Errors
///
/// Those of the calls; [`Misbehavior::RepeatedCursor`] when a cursor comes twice,
/// [`Misbehavior::EndlessList`] past the client's bounds.
#[must_use = "pages are asked for when they are taken"]
pub struct Pages<T> {
    list: List<T>,
    step: Step<T>,
    /// Hashes of the cursors, which detect a repeated one.
    seen: HashSet<u64>,
    items: usize,
    bounds: (usize, usize),
    may_restart: bool,
    has_restarted: bool,
}

enum Step<T> {
    At(Option<Cursor>),
    Asking(Pin<Box<dyn Future<Output = Result<Page<T>, CallError>> + Send>>),
    Done,
}

impl<T: Item> Pages<T> {
    pub(super) fn new(list: List<T>) -> Self {
        let limits = &list.client.0.options;
        Self {
            bounds: (limits.max_list_pages, limits.max_list_items),
            list,
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

    /// Waits for the next page; none after the last.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Page<T>, CallError>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Whether the pages began again with the page that came last.
    pub(super) fn has_restarted(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
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

    /// Returns the step after a page.
    fn after(&mut self, page: &Page<T>) -> Result<Step<T>, Misbehavior> {
        let (pages, items) = self.bounds;
        self.items += page.items.len() + page.spoiled.len();
        if self.items > items {
            return Err(endless(items, "items"));
        }
        let Some(next) = &page.next else {
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

impl<T: Item> Stream for Pages<T> {
    type Item = Result<Page<T>, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match &mut this.step {
                Step::Done => return Poll::Ready(None),
                Step::At(cursor) => {
                    let call = this.list.page(cursor.take());
                    this.step = Step::Asking(call.into_future());
                }
                Step::Asking(call) => {
                    let page = ready!(call.as_mut().poll(task));
                    this.step = Step::Done;
                    let page = match page {
                        Ok(page) => page,
                        Err(error) if this.restart_after(&error) => continue,
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    };
                    match this.after(&page) {
                        Ok(step) => this.step = step,
                        Err(source) => {
                            return Poll::Ready(Some(Err(CallError::Misbehaved {
                                method: T::METHOD.into(),
                                source,
                            })));
                        }
                    }
                    return Poll::Ready(Some(Ok(page)));
                }
            }
        }
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}
