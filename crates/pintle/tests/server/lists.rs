//! Lists: pages, order, and cache lifetimes.

use std::time::Duration;

use pintle::model::Freshness;
use pintle::prelude::*;
use serde_json::{Value, json};

use crate::server::help_desk::server;
use crate::server::peer::{Peer, REVISIONS};

fn tool(number: usize) -> Tool {
    Tool::new(format!("tool_{number:02}")).handler(async || "done")
}

fn prompt(number: usize) -> Prompt {
    Prompt::new(format!("prompt_{number}")).handler(async || "hello")
}

fn resources(number: usize) -> [Resource; 2] {
    let uri = format!("crowd://{number}");
    let template = Resource::new(format!("{uri}/{{rest}}"), "t");
    [
        Resource::text(&uri, &uri, "text"),
        template.reader(async |rest: String| rest),
    ]
}

fn crowd() -> Server {
    // The tools are not added in the order of their names.
    let numbers = (0..10).rev();
    Server::new("crowd", "1")
        .page_size(4)
        .add_tools(numbers.clone().map(tool))
        .add_prompts(numbers.clone().map(prompt))
        .add_resources(numbers.flat_map(resources))
}

// spec: 2025-11-25 PAGE-01, PAGE-03, TOOL-03, PROM-02, RES-02, AMB-52
// spec: 2026-07-28 N-PAGE-01, N-TOOL-04
#[tokio::test]
async fn every_list_is_paged_in_the_order_of_registration() {
    for revision in REVISIONS {
        let mut peer = Peer::of(crowd(), revision).await;
        for (method, member, key) in [
            ("tools/list", "tools", "name"),
            ("prompts/list", "prompts", "name"),
            ("resources/list", "resources", "uri"),
            (
                "resources/templates/list",
                "resourceTemplates",
                "uriTemplate",
            ),
        ] {
            let pages = pages(&mut peer, method, member).await;
            assert_eq!(
                pages.iter().map(Vec::len).collect::<Vec<_>>(),
                [4, 4, 2],
                "{revision}: {method}"
            );
            let keys: Vec<_> = pages
                .into_iter()
                .flatten()
                .map(|item| item[key].to_string())
                .collect();
            assert!(
                keys.is_sorted_by(|left, right| left > right),
                "{revision}: {keys:?}"
            );
        }
    }
}

// spec: 2025-11-25 PAGE-04, PAGE-08
// spec: 2026-07-28 N-PAGE-05
#[tokio::test]
async fn a_cursor_that_is_not_ours_is_refused() {
    for revision in REVISIONS {
        let mut peer = Peer::of(crowd(), revision).await;
        for cursor in ["", "2", "AAAA", "../../etc/passwd"] {
            let error = peer.error("tools/list", json!({ "cursor": cursor })).await;
            assert_eq!(error["code"], -32602, "{revision}: {cursor}");
        }
        assert_eq!(
            peer.error("tools/list", json!({ "cursor": 2 })).await["code"],
            -32602,
            "{revision}"
        );
    }
}

// spec: 2025-11-25 PAGE-04
// spec: 2026-07-28 N-PAGE-05
#[tokio::test]
async fn a_cursor_outlives_its_item() {
    for revision in REVISIONS {
        let server = crowd();
        let handle = server.handle();
        let mut peer = Peer::of(server, revision).await;
        let first = peer.result("tools/list", json!({})).await;
        assert_eq!(first["tools"][3]["name"], "tool_06");
        assert!(handle.remove_tool("tool_06") && handle.remove_tool("tool_09"));
        handle.add_tool(tool(99)).expect("added");
        let second = peer
            .result("tools/list", json!({ "cursor": first["nextCursor"] }))
            .await;
        assert_eq!(second["tools"][0]["name"], "tool_05", "{revision}");
    }
}

// spec: 2026-07-28 N-CACHE-01, N-CACHE-06, N-CACHE-17, N-DISC-08
#[tokio::test]
async fn only_the_modern_revision_states_a_cache_lifetime() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let mut results = vec![peer.welcome.clone()];
        for method in [
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
        ] {
            results.push(peer.result(method, json!({})).await);
        }
        results.push(
            peer.result("resources/read", json!({ "uri": "desk://hours" }))
                .await,
        );
        for result in results {
            let expected = if peer.is_modern() {
                (json!(0), json!("private"))
            } else {
                (Value::Null, Value::Null)
            };
            assert_eq!(
                (result["ttlMs"].clone(), result["cacheScope"].clone()),
                expected,
                "{revision}: {result}"
            );
        }
    }
}

// spec: 2026-07-28 N-CACHE-01, N-CACHE-13
#[tokio::test]
async fn an_author_sets_the_cache_lifetime_of_lists_and_resources() {
    let minute = Duration::from_secs(60);
    let freshness = Freshness::public(minute);
    let resource = Resource::text("crowd://kept", "kept", "text").ttl(minute);
    let mut peer = Peer::of(
        crowd().list_freshness(freshness).add_resource(resource),
        "2026-07-28",
    )
    .await;
    let mut cursor = None;
    for _ in 0..3 {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let page = peer.result("tools/list", params).await;
        assert_eq!(
            (&page["ttlMs"], &page["cacheScope"]),
            (&json!(60_000), &json!("public"))
        );
        cursor = Some(page["nextCursor"].clone());
    }
    let read = peer
        .result("resources/read", json!({ "uri": "crowd://kept" }))
        .await;
    assert_eq!(
        (&read["ttlMs"], &read["cacheScope"]),
        (&json!(60_000), &json!("private"))
    );
}

async fn pages(peer: &mut Peer, method: &str, member: &str) -> Vec<Vec<Value>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let page = peer.result(method, params).await;
        pages.push(page[member].as_array().expect("a list").clone());
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return pages,
        }
    }
}
