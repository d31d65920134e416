//! Changes of the server, told to clients of every era.

use std::time::Duration;

use pintle::client::Client;
use pintle::model::SubscriptionFilter;
use pintle::proto::Change;

use crate::server::{chain, pairs};

#[tokio::test(start_paused = true)]
async fn list_changes_and_resource_updates_pass_through() {
    for pair in pairs() {
        let chain = chain(Client::builder(), pair).await;
        chain.client.list_tools().await.expect("a list");
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        filter.resource_subscriptions = Some(vec!["memo:///a".to_owned()]);
        let mut subscription = chain.client.listen(filter).await.expect("a subscription");
        // The proxy subscribes after its client.
        tokio::time::sleep(Duration::from_millis(100)).await;
        chain.handle.changes().tools();
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next());
        assert_eq!(
            next.await.unwrap_or_else(|_| panic!("tools {pair:?}")),
            Some(Change::Tools)
        );
        chain.handle.changes().resource("memo:///a");
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next());
        let updated = Change::Resource("memo:///a".to_owned());
        assert_eq!(
            next.await.unwrap_or_else(|_| panic!("resource {pair:?}")),
            Some(updated)
        );
    }
}
