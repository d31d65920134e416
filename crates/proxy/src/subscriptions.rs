//! The changes that one connection subscribes to.

use std::collections::BTreeSet;

use pintle::client::{CallError, Client, Subscription};
use pintle::model::SubscriptionFilter;
use pintle::runtime::sync::Mutex;

/// The subscription of one connection, and its content.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// The resources that the session has subscribed to.
    session: Mutex<BTreeSet<String>>,
    current: tokio::sync::Mutex<Option<Current>>,
}

struct Current {
    uris: BTreeSet<String>,
    subscription: Subscription,
}

impl Current {
    fn is_open(&self) -> bool {
        self.subscription.failure().is_none()
    }
}

impl Subscriptions {
    /// Adds a resource of the session. Returns true if it is new.
    pub(crate) fn add(&self, uri: &str) -> bool {
        self.session.lock().insert(uri.to_owned())
    }

    /// Adds the resources of an earlier connection of the session.
    pub(crate) fn succeed(&self, earlier: &Self) {
        let uris = earlier.session.lock().clone();
        self.session.lock().extend(uris);
    }

    /// Ends the subscription, because another connection has its resources.
    pub(crate) async fn end(&self) {
        *self.current.lock().await = None;
    }

    /// Removes a resource of the session.
    pub(crate) fn remove(&self, uri: &str) {
        self.session.lock().remove(uri);
    }

    /// Makes the subscription equal to the resources of the session and `listened`, and to the changes of lists.
    ///
    /// # Errors
    ///
    /// [`CallError`]; the earlier subscription stays then.
    pub(crate) async fn renew(
        &self,
        client: &Client,
        listened: BTreeSet<String>,
    ) -> Result<(), CallError> {
        let mut current = self.current.lock().await;
        let mut uris = listened;
        uris.extend(self.session.lock().iter().cloned());
        let is_same = current
            .as_ref()
            .is_some_and(|current| current.is_open() && current.uris == uris)
            && client.is_connected();
        if is_same {
            return Ok(());
        }
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        filter.prompts_list_changed = Some(true);
        filter.resources_list_changed = Some(true);
        if !uris.is_empty() {
            filter.resource_subscriptions = Some(uris.iter().cloned().collect());
        }
        let subscription = client.listen(filter).await?;
        *current = Some(Current { uris, subscription });
        Ok(())
    }
}
