//! A recipient that records its messages.

use std::sync::{Arc, Weak};

use pintle_runtime::BoxFuture;
use pintle_runtime::fleet::{Fleet, Recipient, ReplicaId, ReplicaMessage, ReplicaReply};
use pintle_runtime::sync::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::seconds;

/// Records numbers, and replies with each number plus 100. Holds odd numbers while it is closed.
#[derive(Default)]
pub(super) struct Recorder {
    received: Mutex<Vec<u32>>,
    arrived: Notify,
    is_closed: bool,
}

impl Recorder {
    pub(super) fn at(fleet: &Fleet) -> Arc<Self> {
        Self::default().serve(fleet)
    }

    pub(super) fn closed_at(fleet: &Fleet) -> Arc<Self> {
        let is_closed = true;
        let recorder = Self {
            is_closed,
            ..Self::default()
        };
        recorder.serve(fleet)
    }

    fn serve(self, fleet: &Fleet) -> Arc<Self> {
        let recorder = Arc::new(self);
        fleet.set_recipient("number", Arc::downgrade(&recorder) as Weak<dyn Recipient>);
        recorder
    }

    pub(super) fn received(&self) -> Vec<u32> {
        self.received.lock().clone()
    }

    /// Waits until that many messages have arrived.
    pub(super) async fn wait_for(&self, count: usize) -> Vec<u32> {
        let arrived = async {
            while self.received.lock().len() < count {
                self.arrived.notified().await;
            }
        };
        let all = timeout(seconds(600), arrived).await;
        all.expect("the messages arrive");
        self.received()
    }
}

impl Recipient for Recorder {
    fn receive(&self, _: ReplicaId, message: ReplicaMessage) -> BoxFuture<'_, ReplicaReply> {
        Box::pin(async move {
            let Ok(number) = message.read::<u32>() else {
                return ReplicaReply::NotFound;
            };
            self.received.lock().push(number);
            self.arrived.notify_one();
            if self.is_closed && number % 2 == 1 {
                std::future::pending::<()>().await;
            }
            ReplicaReply::data(&(number + 100)).expect("JSON")
        })
    }
}

pub(super) fn number(number: u32) -> ReplicaMessage {
    ReplicaMessage::new("number", &number).expect("JSON")
}
