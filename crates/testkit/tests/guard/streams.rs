//! A change is sent to clients that subscribed to the resource and may read it.

use pintle_http::ServeHttp as _;
use pintle_server::{Resource, Server};
use pintle_testkit::issuer::Issuer;
use serde_json::{Value, json};
use tower_layer::Layer as _;

use crate::guard::ask::{Ask, Stream, call, legacy, modern, verb};
use crate::guard::isolation::opened;
use crate::guard::site::{HERE, METADATA, Site, layer};

fn listen(uris: &[&str]) -> Ask {
    let filter = json!({ "resourceSubscriptions": uris });
    modern("subscriptions/listen", json!({ "notifications": filter }))
}

fn subscribe(uri: &str) -> Ask {
    legacy("resources/subscribe", json!({ "uri": uri }))
}

// The fact that a resource changes is a part of its content.
//
// spec: 2025-11-25 AUTH-68, AUTH-69
// spec: 2026-07-28 N-AUTH-39
// hardening: H-24, H-69
#[tokio::test]
async fn a_resource_that_may_not_be_read_may_not_be_followed() {
    let site = Site::new().await;
    let token = site.token().scopes("books:read").sign();
    let session = opened(&site, &token).await;
    let asks = [
        listen(&["bank://safe"]),
        listen(&["bank://hours", "bank://safe"]),
        subscribe("bank://safe").with("mcp-session-id", &session),
    ];
    for ask in asks {
        let came = ask.clone().bearer(&token).of(site.address).await;
        assert_eq!(came.status, 403, "{came:?}");
        assert_eq!(came.says("error").as_deref(), Some("insufficient_scope"));
        assert_eq!(came.says("scope").as_deref(), Some("safe"));
        assert_eq!(came.says("resource_metadata").as_deref(), Some(METADATA));
    }
    let hours = subscribe("bank://hours").with("mcp-session-id", &session);
    let came = hours.bearer(&token).of(site.address).await;
    assert_eq!(came.json()["result"], json!({}));
    let better = site.token().scopes("safe").sign();
    let came = subscribe("bank://safe").with("mcp-session-id", &session);
    let came = came.bearer(&better).of(site.address).await;
    assert_eq!(came.json()["result"], json!({}));
}

// spec: 2025-11-25 RES-20
// hardening: H-24
#[tokio::test]
async fn updates_are_sent_only_to_the_principal_that_follows() {
    let site = Site::new().await;
    let token = |subject: &str| site.token().subject(subject).scopes("safe").sign();
    let [ada, eve] = ["ada", "eve"].map(token);
    let hers = listen(&["bank://safe"]).bearer(&ada);
    let mut hers = Stream::of(hers.open(site.address).await);
    hers.until("acknowledged").await;
    let others = listen(&["bank://hours"]).bearer(&eve);
    let mut others = Stream::of(others.open(site.address).await);
    others.until("acknowledged").await;
    let (one, two) = (opened(&site, &ada).await, opened(&site, &eve).await);
    let follow = subscribe("bank://safe").with("mcp-session-id", &one);
    assert_eq!(follow.bearer(&ada).of(site.address).await.status, 200);
    let get = async |session: &str, token: &str| {
        let get = verb("GET", "/mcp").with("accept", "text/event-stream");
        let get = get.with("mcp-session-id", session).bearer(token);
        Stream::of(get.open(site.address).await)
    };
    let (mut in_hers, in_others) = (get(&one, &ada).await, get(&two, &eve).await);
    assert_eq!(
        call("ring").bearer(&ada).of(site.address).await.text(),
        "rung"
    );
    hers.until("bank://safe").await;
    in_hers.until("bank://safe").await;
    others.until("bank://hours").await;
    assert!(
        !others.received.contains("bank://safe"),
        "{}",
        others.received
    );
    let end = verb("DELETE", "/mcp").with("mcp-session-id", &two);
    assert_eq!(end.bearer(&eve).of(site.address).await.status, 200);
    assert!(!in_others.end().await.contains("bank://"));
}

// A cursor is a place in a list, not a permission: its sender sees only permitted items.
//
// hardening: H-21, H-24
#[tokio::test]
async fn the_cursor_of_one_shows_another_nothing_of_theirs() {
    let issuer = Issuer::new("https://issuer.test");
    let server = Server::new("bank", "1")
        .page_size(1)
        .add_resource(Resource::text("bank://a", "a", "open"))
        .add_resource(Resource::text("bank://b", "b", "closed").scopes(["safe"]))
        .add_resource(Resource::text("bank://c", "c", "closed").scopes(["safe"]));
    let service = layer(&issuer, |all| all).layer(server.into_http().expect("starts"));
    let page = async |scopes: &str, cursor: &Value| {
        let token = issuer.token(HERE).subject(scopes).scopes(scopes).sign();
        let params = match cursor {
            Value::Null => json!({}),
            cursor => json!({ "cursor": cursor }),
        };
        let came = modern("resources/list", params).bearer(&token);
        let came = came.through(&service).await.json();
        let uri = came["result"]["resources"][0]["uri"].clone();
        (uri, came["result"]["nextCursor"].clone())
    };
    let (first, next) = page("safe", &Value::Null).await;
    assert_eq!(first, "bank://a");
    let (second, last) = page("safe", &next).await;
    assert_eq!(second, "bank://b");
    for cursor in [&next, &last] {
        assert_eq!(page("other", cursor).await, (Value::Null, Value::Null));
    }
    assert_eq!(page("other", &Value::Null).await, (first, Value::Null));
    assert_eq!(page("safe", &last).await, (json!("bank://c"), Value::Null));
}
