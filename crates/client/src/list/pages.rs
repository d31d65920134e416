//! The pages of a list as a stream.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::List;
use super::item::Item;
use super::page::{Page, RawPage};
use super::walk::Walk;
use crate::error::CallError;

/// The pages of a list, one after the other. After an error there is nothing more. When the server
/// refuses a cursor, the cached pages are dropped, and another list begins at the first page.
///
/// # Errors
///
/// Those of the calls; [`Misbehavior::RepeatedCursor`](crate::Misbehavior::RepeatedCursor) when a cursor comes twice,
/// [`Misbehavior::EndlessList`](crate::Misbehavior::EndlessList) past the client's bounds.
#[must_use = "pages are asked for when they are taken"]
pub struct Pages<T> {
    walk: Walk,
    item: PhantomData<fn() -> T>,
}

impl<T: Item> Pages<T> {
    pub(super) fn new(list: List<T>) -> Self {
        Self {
            walk: Walk::new(list.client, list.waiting, T::METHOD, RawPage::of::<T>),
            item: PhantomData,
        }
    }

    /// Waits for the next page; none after the last.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Page<T>, CallError>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// The same pages; after a cursor that the server refuses they begin again, once.
    pub(super) fn restarting(mut self) -> Self {
        self.walk = self.walk.restarting();
        self
    }

    /// Whether the pages began again with the page that came last.
    pub(super) fn has_restarted(&mut self) -> bool {
        self.walk.has_restarted()
    }
}

impl<T: Item> Stream for Pages<T> {
    type Item = Result<Page<T>, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let walk = &mut self.walk;
        let next = ready!(walk.poll_next(task));
        Poll::Ready(next.map(|page| {
            let page = page?;
            let items = walk.items(&page)?;
            Ok(page.read(&items, &walk.client().0))
        }))
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}
