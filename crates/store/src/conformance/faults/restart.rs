//! A restart of the engine while several writers work.

use std::pin::pin;
use std::task::Poll;

use super::crowd::Crowd;
use super::trial::Trial;
use super::{Breakable, Fault, Survival};

/// Returns the number of rounds whose outcome the store did not know.
pub(super) async fn run(subject: &dyn Breakable) -> usize {
    let trial = Trial::open(subject).await;
    let mut before = Crowd::new(&trial.far, "before");
    before.work(subject).await;
    assert_eq!(before.check(&trial.near, Survival::Everything).await, 0);

    let mut during = Crowd::new(&trial.far, "during");
    let restart = async {
        subject.begin(Fault::Restart).await;
        subject.end().await;
    };
    both(during.work(subject), restart).await;
    trial.recover().await;
    trial.recover_near().await;
    before.check(&trial.near, subject.survival()).await;
    during.check(&trial.near, subject.survival()).await
}

/// Polls two futures until both have ended.
async fn both(first: impl Future<Output = ()>, second: impl Future<Output = ()>) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut has_first, mut has_second) = (false, false);
    std::future::poll_fn(|cx| {
        has_first = has_first || first.as_mut().poll(cx).is_ready();
        has_second = has_second || second.as_mut().poll(cx).is_ready();
        if has_first && has_second {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
