//! Tasks of the peer that we follow: the latest status that the peer sent of each.

use std::task::{Poll, Waker};

use pintle_model::Task;

use super::Connection;
use crate::error::SendError;
use crate::io::Params;

/// The tasks that are followed.
#[derive(Debug, Default)]
pub(super) struct FollowedTasks(Vec<Followed>);

#[derive(Debug)]
struct Followed {
    id: Box<str>,
    status: Option<Box<Task>>,
    waker: Option<Waker>,
}

impl Connection {
    /// Stores the latest status that the peer sends of one of its tasks, until
    /// [`Connection::unfollow_task`].
    ///
    /// # Errors
    ///
    /// [`SendError::TooManyCalls`] at [`Limits::max_calls`](crate::Limits::max_calls).
    pub fn follow_task(&mut self, id: &str) -> Result<(), SendError> {
        let FollowedTasks(followed) = &mut self.followed;
        if followed.len() >= self.limits.max_calls {
            return Err(SendError::TooManyCalls {
                limit: self.limits.max_calls,
            });
        }
        followed.push(Followed {
            id: id.into(),
            status: None,
            waker: None,
        });
        Ok(())
    }

    /// Stops following a task and drops its status.
    pub fn unfollow_task(&mut self, id: &str) {
        let FollowedTasks(followed) = &mut self.followed;
        if let Some(at) = followed.iter().position(|followed| *followed.id == *id) {
            followed.swap_remove(at);
        }
    }

    /// Takes the latest status of a followed task; `waker` is woken when the next one arrives.
    pub fn poll_followed(&mut self, id: &str, waker: &Waker) -> Poll<Task> {
        let FollowedTasks(followed) = &mut self.followed;
        let Some(followed) = followed.iter_mut().find(|followed| *followed.id == *id) else {
            return Poll::Pending;
        };
        if let Some(status) = followed.status.take() {
            return Poll::Ready(*status);
        }
        followed.waker = Some(waker.clone());
        Poll::Pending
    }

    /// Stores the status of a followed task. Returns true if the task is followed: then no event is
    /// needed.
    pub(super) fn note_task(&mut self, params: &Params) -> bool {
        let FollowedTasks(followed) = &mut self.followed;
        if followed.is_empty() {
            return false;
        }
        let Ok(task) = params.read::<Task>() else {
            return false;
        };
        let mut is_followed = false;
        for followed in followed
            .iter_mut()
            .filter(|followed| *followed.id == *task.task_id)
        {
            followed.status = Some(Box::new(task.clone()));
            followed.waker.take().into_iter().for_each(Waker::wake);
            is_followed = true;
        }
        is_followed
    }
}
