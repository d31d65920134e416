//! The transport of 2024-11-05 behind tokens.

use serde_json::{Value, json};

use crate::guard::ask::{Ask, Stream, legacy, post, verb};
use crate::guard::site::{METADATA, Site};

/// An open stream, and the URL for its POST requests.
async fn session(site: &Site, token: &str) -> (Stream, String) {
    let open = verb("GET", "/sse").with("accept", "text/event-stream");
    let mut stream = Stream::of(open.bearer(token).open(site.address).await);
    stream.until("\n\n").await;
    let place = stream
        .received
        .lines()
        .find_map(|line| line.strip_prefix("data: "));
    let place = place.expect("where to post").to_owned();
    let client = json!({ "name": "test", "version": "0" });
    let params =
        json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client });
    let welcome = legacy("initialize", params).at(&place).bearer(token);
    assert_eq!(welcome.of(site.address).await.status, 202);
    stream.until("protocolVersion").await;
    let ready = post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let ready = ready.at(&place).bearer(token).of(site.address).await;
    assert_eq!(ready.status, 202);
    (stream, place)
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn open(id: u64) -> Value {
    request(id, "tools/call", json!({ "name": "open", "arguments": {} }))
}

// spec: 2025-11-25 D1105-02, AUTH-02, AUTH-68
// hardening: H-66, H-69, H-71
#[tokio::test]
async fn scopes_are_asked_for_where_messages_are_posted() {
    let site = Site::new().await;
    let little = site.token().scopes("books:read").sign();
    let (mut stream, place) = session(&site, &little).await;
    let follow = json!({ "uri": "bank://safe" });
    let bodies = [
        open(2),
        request(3, "resources/read", follow.clone()),
        request(4, "resources/subscribe", follow),
        json!([request(5, "tools/list", json!({})), open(6)]),
    ];
    for body in &bodies {
        let came = post(body).at(&place).bearer(&little).of(site.address).await;
        assert_eq!(came.status, 403, "{body}: {came:?}");
        assert_eq!(came.says("error").as_deref(), Some("insufficient_scope"));
        assert_eq!(came.says("scope").as_deref(), Some("safe"));
        assert_eq!(came.says("resource_metadata").as_deref(), Some(METADATA));
    }
    let enough = site.token().scopes("safe").sign();
    let came = post(&open(7))
        .at(&place)
        .bearer(&enough)
        .of(site.address)
        .await;
    assert_eq!(came.status, 202, "{came:?}");
    stream.until("opened").await;
    for id in 2..=6 {
        let id = format!("\"id\":{id}");
        assert!(!stream.received.contains(&id), "{}", stream.received);
    }
}

// spec: 2025-11-25 AUTH-02, SEC-16, SEC-19
// hardening: H-18, H-20, H-66, H-71
#[tokio::test]
async fn a_session_of_the_older_transport_is_its_owners_too() {
    let site = Site::new().await;
    let [ada, eve] = ["ada", "eve"].map(|subject| site.token().subject(subject).sign());
    let nobody = verb("GET", "/sse").with("accept", "text/event-stream");
    assert_eq!(nobody.of(site.address).await.status, 401);
    let (mut stream, place) = session(&site, &ada).await;
    let forged = "/messages?session_id=0123456789abcdef0123456789abcdef";
    let whoami = request(
        2,
        "tools/call",
        json!({ "name": "whoami", "arguments": {} }),
    );
    let whoami = |place: &str| -> Ask { post(&whoami).at(place) };
    assert_eq!(whoami(&place).of(site.address).await.status, 401);
    let foreign = whoami(&place).bearer(&eve).of(site.address).await;
    let unknown = whoami(forged).bearer(&eve).of(site.address).await;
    assert_eq!((foreign.status, &foreign.body), (404, &unknown.body));
    assert_eq!(site.runs(), 0);
    let own = whoami(&place).bearer(&ada).of(site.address).await;
    assert_eq!(own.status, 202, "{own:?}");
    stream.until("ada").await;
}
