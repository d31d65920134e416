//! The changes that the members of a group report, in one stream.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use pintle_model::SubscriptionFilter;
use pintle_proto::Change;
use tokio::sync::watch;
use tokio::time::sleep;

use super::member::Member;
use super::{Group, Roll};
use crate::error::CallError;
use crate::listen::Subscription;

/// Something changed at a member.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberChange {
    /// Name of the member.
    pub member: Arc<str>,
    /// The list that changed.
    pub change: Change,
}

/// The changes of lists that all present and later members report. The stream reconnects to a lost
/// member with growing pauses, and reports its lists as changed. Dropping the stream ends the
/// listening.
#[must_use = "changes are listened to as they are taken"]
pub struct GroupChanges {
    roll: Pin<Box<dyn Future<Output = watch::Receiver<Roll>> + Send>>,
    followers: Vec<(Arc<Member>, Step)>,
}

type Step = Pin<Box<dyn Future<Output = (Follower, Change)> + Send>>;

impl GroupChanges {
    pub(super) fn new(group: &Group) -> Self {
        let mut roll = group.0.roll.subscribe();
        // The members of this moment are news.
        roll.mark_changed();
        Self {
            roll: Box::pin(next_roll(roll)),
            followers: Vec::new(),
        }
    }

    /// Waits for the next change; none when the group has been closed.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<MemberChange> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Follows the members that there are now, and no others. Whether the group is still open.
    fn call_roll(&mut self, roll: watch::Receiver<Roll>) -> bool {
        let (members, is_closed) = {
            let now = roll.borrow();
            let members: Vec<_> = now.members.values().cloned().collect();
            (members, now.is_closed)
        };
        self.roll = Box::pin(next_roll(roll));
        let is_member =
            |followed: &Arc<Member>| members.iter().any(|one| Arc::ptr_eq(one, followed));
        self.followers.retain(|(followed, _)| is_member(followed));
        for member in members {
            let is_followed = self
                .followers
                .iter()
                .any(|(one, _)| Arc::ptr_eq(one, &member));
            if !is_followed {
                let follower = Follower::new(&member);
                self.followers.push((member, Box::pin(follower.step())));
            }
        }
        !is_closed
    }
}

async fn next_roll(mut roll: watch::Receiver<Roll>) -> watch::Receiver<Roll> {
    if roll.changed().await.is_err() {
        // The group is gone; its members are not.
        std::future::pending::<()>().await;
    }
    roll
}

impl Stream for GroupChanges {
    type Item = MemberChange;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<MemberChange>> {
        while let Poll::Ready(roll) = self.roll.as_mut().poll(task) {
            if !self.call_roll(roll) {
                return Poll::Ready(None);
            }
        }
        for at in 0..self.followers.len() {
            let (member, step) = &mut self.followers[at];
            if let Poll::Ready((follower, change)) = step.as_mut().poll(task) {
                *step = Box::pin(follower.step());
                let member = Arc::clone(&member.name);
                // The member that just reported is polled last.
                self.followers[at..].rotate_left(1);
                return Poll::Ready(Some(MemberChange { member, change }));
            }
        }
        Poll::Pending
    }
}

impl fmt::Debug for GroupChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.followers.iter().map(|(member, _)| &member.name);
        f.debug_list().entries(members).finish()
    }
}

/// Listens to one member, again and again.
struct Follower {
    member: Arc<Member>,
    subscription: Option<Subscription>,
    /// The lists that may have changed while the stream did not listen.
    pending: VecDeque<Change>,
    has_gap: bool,
    failures: u32,
}

impl Follower {
    fn new(member: &Arc<Member>) -> Self {
        Self {
            member: Arc::clone(member),
            subscription: None,
            pending: VecDeque::new(),
            has_gap: false,
            failures: 0,
        }
    }

    /// Waits for the next change, however long that takes.
    async fn step(mut self) -> (Self, Change) {
        loop {
            if let Some(change) = self.pending.pop_front() {
                return (self, change);
            }
            let Some(subscription) = &mut self.subscription else {
                self.listen().await;
                continue;
            };
            if let Some(change) = subscription.next().await {
                self.failures = 0;
                return (self, change);
            }
            self.subscription = None;
            self.rest().await;
        }
    }

    async fn listen(&mut self) {
        match self.member.client.listen(lists()).await {
            Ok(subscription) => {
                if std::mem::take(&mut self.has_gap) {
                    self.pending.extend(changes_of(subscription.granted()));
                }
                self.subscription = Some(subscription);
            }
            // The client was closed, because the member is being removed.
            Err(CallError::Closed { .. }) => std::future::pending().await,
            Err(error) => {
                tracing::debug!(member = &*self.member.name, %error, "a member is not listened to");
                self.rest().await;
            }
        }
    }

    async fn rest(&mut self) {
        self.has_gap = true;
        self.failures += 1;
        let options = &self.member.client.0.options;
        sleep(options.reconnect_delay_after(self.failures)).await;
    }
}

fn lists() -> SubscriptionFilter {
    let mut lists = SubscriptionFilter::new();
    lists.tools_list_changed = Some(true);
    lists.prompts_list_changed = Some(true);
    lists.resources_list_changed = Some(true);
    lists
}

fn changes_of(granted: &SubscriptionFilter) -> impl Iterator<Item = Change> {
    let lists = [
        (granted.wants_tools(), Change::Tools),
        (granted.wants_prompts(), Change::Prompts),
        (granted.wants_resources(), Change::Resources),
    ];
    lists
        .into_iter()
        .filter(|(is_granted, _)| *is_granted)
        .map(|(_, change)| change)
}
