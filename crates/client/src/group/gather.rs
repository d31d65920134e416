//! Asking all members at once, and what came of it.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::error::CallError;
use crate::list::InvalidItem;

/// What the members of a group list, together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupList<T> {
    /// What could be read: by the names of members, then in each server's order.
    pub items: Vec<MemberItem<T>>,
    /// What could not be read, or cannot be offered; beside it, whose it is.
    pub spoiled: Vec<(Arc<str>, InvalidItem)>,
    /// The members that gave no list, and why. What they offer is not in `items`.
    pub failures: Vec<MemberError>,
}

/// Something that a member of a group offers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MemberItem<T> {
    /// Who offers it.
    pub member: Arc<str>,
    /// Its name, or its URI, as the member knows it.
    pub own: String,
    /// It, under the name that the group gives: tools and prompts are renamed, resources and
    /// templates keep their URIs.
    pub item: T,
}

/// A member that did not do what all were asked to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberError {
    /// Who.
    pub member: Arc<str>,
    /// Why not.
    pub error: CallError,
}

/// Waits for all of them at once.
pub(super) async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut rows: Vec<Row<F>> = futures
        .map(|future| Row::Waiting(Box::pin(future)))
        .collect();
    poll_fn(|task| {
        let mut is_pending = false;
        for row in &mut rows {
            if let Row::Waiting(future) = row {
                match future.as_mut().poll(task) {
                    Poll::Ready(output) => *row = Row::Done(output),
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
        Row::Done(output) => Some(output),
        Row::Waiting(_) => None,
    });
    outputs.collect()
}

enum Row<F: Future> {
    Waiting(Pin<Box<F>>),
    Done(F::Output),
}
