//! Taking over tasks of replicas that are gone.

use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle_runtime::random_bytes;
use pintle_store::{Page, TypedStoreError};
use tokio::time::sleep;

use super::{PAGE, PAUSE, Taken, unread};
use crate::core::Core;
use crate::tasks::{HeldTask, Tasks, holder_of, task_of};

/// Longest wait before this replica takes over the tasks of another one, in milliseconds, so that the
/// replicas do not write at the same moment.
const MAX_WAIT: u64 = 1_000;
/// Interval of the checks for holders that are gone, because the news of one may be lost.
const SWEEP: Duration = Duration::from_secs(60);

/// Takes over the tasks of other replicas for as long as the server lives.
pub(super) async fn look_after(server: &Weak<Core>, tasks: &Arc<Tasks>) {
    while let Some(core) = server.upgrade() {
        let adopted = core.adopt_orphans(tasks).await;
        drop(core);
        match adopted {
            Ok(()) => break,
            Err(error) => unread(&error),
        }
        sleep(PAUSE).await;
    }
    follow(server, tasks).await;
}

impl Core {
    /// Takes over the tasks of all holders that are gone.
    async fn adopt_orphans(&self, tasks: &Arc<Tasks>) -> Result<(), TypedStoreError> {
        let mut page = Page::first(PAGE);
        loop {
            let Some(listed) = tasks.holders(page).await? else {
                return Ok(());
            };
            for (mark, _) in &listed.items {
                let holder = holder_of(mark);
                let is_other = holder != tasks.replicas().name();
                if is_other && !tasks.replicas().is_present(holder).await? {
                    self.adopt_group(tasks, holder).await?;
                }
            }
            let Some(next) = listed.next else {
                return Ok(());
            };
            page = Page::after(next, PAGE);
        }
    }

    /// Takes over the tasks of a replica that is gone, and removes its mark if it has none any more.
    async fn adopt_group(&self, tasks: &Arc<Tasks>, gone: &str) -> Result<(), TypedStoreError> {
        sleep(wait()).await;
        // Before its tasks are read, because it may return and hold more.
        let mark = tasks.mark_of(gone).await?;
        let (mut page, mut is_empty) = (Page::first(PAGE), true);
        while let Some(listed) = tasks.held_by(gone, page).await? {
            for (entry, item) in &listed.items {
                let taken = self.adopt(tasks, gone, task_of(entry), &item.value).await?;
                match taken {
                    Taken::Done => tasks.forget_held(entry, item.version).await,
                    Taken::Elsewhere => is_empty = false,
                }
            }
            let Some(next) = listed.next else {
                break;
            };
            page = Page::after(next, PAGE);
        }
        if let Some(mark) = mark.filter(|_| is_empty) {
            tasks.forget_holder(gone, mark).await;
        }
        Ok(())
    }

    /// Takes over one task of a replica that is gone, unless another replica is first.
    async fn adopt(
        &self,
        tasks: &Arc<Tasks>,
        gone: &str,
        id: &str,
        held: &HeldTask,
    ) -> Result<Taken, TypedStoreError> {
        if tasks.is_at_work(id) {
            let item = tasks.records.get(tasks.now(), &held.record).await?;
            let own = tasks.replicas().name();
            let is_own = item.is_some_and(|item| item.value.holder == own);
            return Ok(if is_own {
                Taken::Done
            } else {
                Taken::Elsewhere
            });
        }
        // Before the index, so that a pause after it is noticed.
        let term = tasks.replicas().term();
        tasks.hold(&held.record, id).await?;
        let taken = match tasks.records.get(tasks.now(), &held.record).await? {
            Some(item) => self.take(tasks, item.into(), gone, term).await?,
            None => Taken::Done,
        };
        if !tasks.is_at_work(id) {
            tasks.unhold(id).await;
        }
        Ok(taken)
    }
}

/// Takes over the tasks of each replica that is gone from now on.
async fn follow(server: &Weak<Core>, tasks: &Arc<Tasks>) {
    loop {
        let gone = tokio::select! {
            () = tasks.released() => return,
            gone = tasks.replicas().gone() => Some(gone),
            () = sleep(SWEEP) => None,
        };
        let Some(core) = server.upgrade() else {
            return;
        };
        let adopted = match gone {
            Some(gone) => core.adopt_group(tasks, &gone).await,
            None => core.adopt_orphans(tasks).await,
        };
        if let Err(error) = adopted {
            tracing::error!(%error, "tasks of another replica cannot be taken over");
        }
    }
}

/// A random time below [`MAX_WAIT`].
fn wait() -> Duration {
    let random = u64::from_le_bytes(random_bytes().unwrap_or_default());
    Duration::from_millis(random % MAX_WAIT)
}
