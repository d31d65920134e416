//! Requests to all members at once, and their results.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::error::CallError;
use crate::list::InvalidItem;

/// The lists of all members of a group.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupList<T> {
    /// The valid items: by the names of members, then in each server's order.
    pub items: Vec<MemberItem<T>>,
    /// The items that are malformed or cannot be offered, each with the name of its member.
    pub spoiled: Vec<(Arc<str>, InvalidItem)>,
    /// The members that returned no list, with their errors. Their items are missing in `items`.
    pub failures: Vec<MemberError>,
}

/// Something that a member of a group offers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MemberItem<T> {
    /// Name of the member that offers the item.
    pub member: Arc<str>,
    /// Its name, or its URI, as the member knows it.
    pub own: String,
    /// The item under the group's name: tools and prompts are renamed, resources and templates keep
    /// their URIs.
    pub item: T,
}

/// A member whose request failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberError {
    /// Name of the member.
    pub member: Arc<str>,
    /// Error of the request.
    pub error: CallError,
}

/// Waits for all of them at once.
pub(super) async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut rows: Vec<Slot<F>> = futures
        .map(|future| Slot::Waiting(Box::pin(future)))
        .collect();
    poll_fn(|task| {
        let mut is_pending = false;
        for row in &mut rows {
            if let Slot::Waiting(future) = row {
                match future.as_mut().poll(task) {
                    Poll::Ready(output) => *row = Slot::Done(output),
                    Poll::Pending => is_pending = true,
                }
            }
        }
        if is_pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    let outputs = rows.into_iter().filter_map(|row| match row {
        Slot::Done(output) => Some(output),
        Slot::Waiting(_) => None,
    });
    outputs.collect()
}

/// One future, or its output.
enum Slot<F: Future> {
    Waiting(Pin<Box<F>>),
    Done(F::Output),
}
