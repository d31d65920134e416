//! Lists without an end.

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_client::Misbehavior;
use pintle_testkit::HostileServer;
use serde_json::json;

use crate::hostile::{GROUNDS, both, meet, misbehavior, within};

// hardening: H-165
#[tokio::test(start_paused = true)]
async fn a_cursor_that_comes_twice_ends_a_list() {
    for ground in GROUNDS {
        for server in both(|out, message| {
            // The cursors alternate, so that no two consecutive ones are equal.
            let next = match message["params"]["cursor"].as_str() {
                None => "a",
                Some("a") => "b",
                Some(_) => "a",
            };
            out.reply(
                message,
                json!({ "resultType": "complete", "tools": [], "nextCursor": next }),
            );
        }) {
            let client = meet(&server, ground).await;
            let error = within(client.list_tools()).await.unwrap_err();
            assert!(matches!(misbehavior(error), Misbehavior::RepeatedCursor));
            assert_eq!(server.count("tools/list"), 3, "{ground:?}");
        }
    }
}

// hardening: H-165
#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_left_after_a_thousand_pages() {
    for ground in GROUNDS {
        let next = AtomicUsize::new(0);
        let server = HostileServer::legacy(move |out, message| {
            let cursor = next.fetch_add(1, Ordering::SeqCst).to_string();
            out.reply(message, json!({ "resources": [], "nextCursor": cursor }));
        });
        let client = meet(&server, ground).await;
        let error = within(client.list_resources()).await.unwrap_err();
        let found = misbehavior(error);
        assert!(matches!(
            found,
            Misbehavior::EndlessList {
                limit: 1_000,
                unit: "pages"
            }
        ));
        assert_eq!(server.count("resources/list"), 1_000, "{ground:?}");
    }
}

// hardening: H-162
#[tokio::test(start_paused = true)]
async fn an_invalid_list_is_a_typed_error_and_a_bad_item_is_left_out() {
    for ground in GROUNDS {
        for result in [
            json!({}),
            json!({ "tools": 5 }),
            json!({ "tools": [], "nextCursor": 5 }),
        ] {
            let server =
                HostileServer::legacy(move |out, message| out.reply(message, result.clone()));
            let client = meet(&server, ground).await;
            let error = within(client.list_tools()).await.unwrap_err();
            assert!(matches!(misbehavior(error), Misbehavior::NoList(_)));
        }
        let server = HostileServer::modern(|out, message| {
            let tools = json!([{ "name": "good", "inputSchema": {} }, 5, { "inputSchema": {} }]);
            out.reply(message, json!({ "resultType": "complete", "tools": tools }));
        });
        let client = meet(&server, ground).await;
        let tools = within(client.list_tools()).await.expect("a list");
        assert_eq!((tools.len(), tools.spoiled.len()), (1, 2));
    }
}
