//! Subscriptions in both eras.

use pintle::client::{Client, in_process};
use pintle::model::SubscriptionFilter;
use pintle::prelude::*;
use pintle::proto::Change;

use crate::client::help_desk::{modes, server, within};

// spec: 2026-07-28 N-SUBS-01, N-SUBS-06, N-SUBS-08, N-SUBS-10, N-VER-09 (client subscriptions)
#[tokio::test(start_paused = true)]
async fn changes_arrive_in_every_revision() {
    for mode in modes() {
        let server = server();
        let handle = server.handle();
        let target = in_process(server).expect("a server");
        let client = Client::builder()
            .mode(mode)
            .connect(target)
            .await
            .expect("a server");
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        filter.resource_subscriptions = Some(vec!["desk://hours".to_owned()]);
        let mut subscription = within(client.listen(filter)).await.expect("a subscription");
        assert!(
            subscription.granted().wants_tools()
                && subscription.granted().wants_resource("desk://hours")
        );
        handle
            .add_tool(Tool::new("late").handler(async || "better"))
            .expect("a tool");
        assert_eq!(
            within(subscription.next()).await,
            Some(Change::Tools),
            "{mode:?}"
        );
        handle.changes().resource("desk://hours");
        let change = Change::Resource("desk://hours".to_owned());
        assert_eq!(within(subscription.next()).await, Some(change.clone()));

        let mut second = within(client.subscribe("desk://hours"))
            .await
            .expect("another");
        drop(subscription);
        handle.changes().resource("desk://hours");
        assert_eq!(within(second.next()).await, Some(change));
        drop(second);
        within(client.ping()).await.expect("it is still there");
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_ends_with_its_client() {
    for mode in modes() {
        let target = in_process(server()).expect("a server");
        let client = Client::builder()
            .mode(mode)
            .connect(target)
            .await
            .expect("a server");
        let mut subscription = within(client.subscribe("desk://hours")).await.expect("one");
        within(client.close()).await;
        assert_eq!(within(subscription.next()).await, None);
        assert!(subscription.failure().is_some());
    }
}
