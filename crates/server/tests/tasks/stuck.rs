//! A store that does not answer for a while.

use std::sync::Arc;
use std::time::Duration;

use pintle_store::Store;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::tasks::peer::{CORE, MODERN, Peer, call, id_of};
use crate::tasks::remote::Remote;
use crate::tasks::tools::{Seen, server};

// hardening: H-180, H-194
#[tokio::test(start_paused = true)]
async fn requests_fail_in_time_until_the_store_is_available_again() {
    for revision in [CORE, MODERN] {
        let store = Arc::new(Remote::default());
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let mut peer = Peer::connect(server(&Seen::default()).store(shared), revision).await;
        let task = peer.start("wait", json!({ "seconds": 60 })).await;

        store.set_away(true);
        let mut new = call("must", json!({}));
        if revision == CORE {
            new["task"] = json!({});
        }
        for (method, params) in [
            ("tasks/get", id_of(&task)),
            ("tasks/cancel", id_of(&task)),
            ("tools/call", new.clone()),
        ] {
            let began = Instant::now();
            let error = peer.error(method, params).await;
            assert_eq!(error["code"], -32603, "{revision} {method}");
            assert!(began.elapsed() <= Duration::from_secs(5), "{method}");
        }
        let began = Instant::now();
        let plain = peer.request("tools/list", json!({})).await;
        assert!(plain["result"].is_object(), "{plain}");
        assert_eq!(began.elapsed(), Duration::ZERO);

        store.set_away(false);
        // The next try of the store is after a second at most.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let status = |task: &Value| task["status"].clone();
        assert_eq!(status(&peer.look(&task).await), "working", "{revision}");
        assert_eq!(status(&peer.ended(&task).await), "completed", "{revision}");
        peer.start("must", json!({})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_task_of_a_server_asks_for_a_retry_while_the_store_is_away() {
    for revision in [CORE, MODERN] {
        let store = Arc::new(Remote::default());
        store.set_away(true);
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let mut peer = Peer::connect(server(&Seen::default()).store(shared), revision).await;
        let mut new = call("must", json!({}));
        if revision == CORE {
            new["task"] = json!({});
        }
        let error = peer.error("tools/call", new).await;
        let text = "the store of tasks does not answer; send the request again later";
        assert_eq!(error["message"], text, "{revision}");
    }
}
