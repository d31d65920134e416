//! An extension from outside: its methods, notices and resources, in every revision.

use std::sync::Arc;
use std::time::Duration;

use pintle::model::method::{Method, Notice};
use pintle::model::{Error, Feature, Freshness, Meta};
use pintle::prelude::*;
use pintle::server::{ExtensionMethod, ProtocolExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::server::peer::{LEGACY, MODERN, Peer, REVISIONS};

const ID: &str = "com.example/tides";

/// The method `tides/get`.
enum GetTide {}

#[derive(Serialize, Deserialize)]
struct Asked {
    harbour: String,
}

#[derive(Serialize, Deserialize)]
struct Tide {
    metres: i64,
    by: String,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

impl Method for GetTide {
    const NAME: &'static str = "tides/get";
    type Params = Asked;
    type Result = Tide;
}

/// The method `tides/reset`, which only the newest revision has.
enum Reset {}

impl Method for Reset {
    const NAME: &'static str = "tides/reset";
    type Params = pintle::model::NoParams;
    type Result = pintle::model::EmptyResult;
}

/// The water has risen.
enum Risen {}

#[derive(Serialize, Deserialize)]
struct Level {
    metres: i64,
}

impl Notice for Risen {
    const NAME: &'static str = "notifications/tides/risen";
    type Params = Level;
}

async fn tide(
    asked: Asked,
    unit: State<i64>,
    who: Option<Principal>,
    cx: Context,
) -> Result<Tide, pintle::Error> {
    if asked.harbour == "sunk" {
        return Err("the gauge is under water".into());
    }
    if asked.harbour != "hoek" {
        return Err(Error::invalid_params("no such harbour").into());
    }
    cx.progress(1.0, None, "read").await;
    let mut meta = Meta::new();
    meta.insert("com.example/gauge", 3);
    Ok(Tide {
        metres: 2 * *unit,
        by: who.map_or("anybody".to_owned(), |who| who.id().to_owned()),
        meta: Some(meta),
    })
}

fn tides() -> ProtocolExtension {
    let hint = Freshness::public(Duration::from_secs(60));
    ProtocolExtension::new(ID)
        .setting("unit", "m")
        .state(1i64)
        .add_method(ExtensionMethod::new::<GetTide, _>(tide).freshness(hint))
        .notice::<Risen>("tidesRisen")
        .resource(Resource::text("tides://table", "table", "hoek 2"))
}

fn server() -> Server {
    let newest = ProtocolExtension::new("com.example/resets")
        .needs(Feature::Envelope)
        .mutual()
        .method::<Reset, _>(async || Ok::<_, Error>(Default::default()));
    Server::new("pilot", "1").extend(tides()).extend(newest)
}

fn speaking(ids: &[&str]) -> Value {
    let declared: Value = ids.iter().map(|id| (id.to_string(), json!({}))).collect();
    json!({ "extensions": declared })
}

// spec: 2026-07-28 N-EXT-01, N-EXT-03, N-EXT-06 (server)
#[tokio::test]
async fn it_is_advertised_where_revisions_have_it() {
    for revision in REVISIONS {
        let peer = Peer::of(server(), revision).await;
        let advertised = &peer.welcome["capabilities"]["extensions"];
        let expected = match revision {
            MODERN => json!({ ID: { "unit": "m" }, "com.example/resets": {} }),
            LEGACY => json!({ ID: { "unit": "m" } }),
            _ => Value::Null,
        };
        assert_eq!(*advertised, expected, "{revision}");
        let bare = Peer::of(Server::new("s", "1"), revision).await;
        assert_eq!(
            bare.welcome["capabilities"].get("extensions"),
            None,
            "{revision}"
        );
    }
}

// spec: 2026-07-28 N-EXT-14, N-CACHE-12, N-EXT-11
#[tokio::test]
async fn its_methods_answer_where_revisions_have_it() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let asked = json!({ "harbour": "hoek", "_meta": { "progressToken": "p" } });
        if !peer.is_since(LEGACY) {
            assert_eq!(
                peer.error("tides/get", asked).await["code"],
                -32601,
                "{revision}"
            );
            continue;
        }
        let mut tide = peer.result("tides/get", asked).await;
        assert_eq!(tide["_meta"]["com.example/gauge"], 3, "{revision}");
        let names_server = tide["_meta"].get("io.modelcontextprotocol/serverInfo");
        assert_eq!(names_server.is_some(), peer.is_modern(), "{revision}");
        assert_eq!(
            peer.receive_method("notifications/progress").await["params"]["message"],
            "read"
        );
        let members = tide.as_object_mut().expect("an object");
        members.remove("_meta");
        members.remove("resultType");
        let mut expected = json!({ "metres": 2, "by": "anybody" });
        if peer.is_modern() {
            expected["ttlMs"] = json!(60_000);
            expected["cacheScope"] = json!("public");
        }
        assert_eq!(tide, expected, "{revision}");
        for (harbour, code) in [
            (json!("aden"), -32602),
            (json!(1), -32602),
            (json!("sunk"), -32603),
        ] {
            let error = peer.error("tides/get", json!({ "harbour": harbour })).await;
            assert_eq!(error["code"], code, "{revision} {harbour}");
            assert!(!error.to_string().contains("gauge"), "{error}");
        }
    }
}

// spec: 2026-07-28 N-EXT-04, N-EXT-08, N-EXT-09, N-EXT-13, N-ERR-09
#[tokio::test]
async fn the_error_names_the_capability_that_a_client_did_not_declare() {
    let mut silent = Peer::of(server(), MODERN).await;
    let error = silent.error("tides/reset", json!({})).await;
    assert_eq!(error["code"], -32021);
    let missing = json!({ "extensions": { "com.example/resets": {} } });
    assert_eq!(error["data"]["requiredCapabilities"], missing);

    let able = || speaking(&["com.example/resets"]);
    let mut speaker = Peer::able(server(), MODERN, able()).await;
    speaker.result("tides/reset", json!({})).await;
    let mut older = Peer::able(server(), LEGACY, able()).await;
    assert_eq!(older.error("tides/reset", json!({})).await["code"], -32601);
}

#[tokio::test]
async fn its_resources_are_there_in_every_revision() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let read = peer
            .result("resources/read", json!({ "uri": "tides://table" }))
            .await;
        assert_eq!(read["contents"][0]["text"], "hoek 2", "{revision}");
    }
}

// spec: 2026-07-28 N-SUBS-02, N-SUBS-04, N-EXT-04
#[tokio::test]
async fn its_notices_reach_the_listeners_that_requested_them() {
    let server = server();
    let changes = Arc::new(server.handle());
    let mut peer = Peer::able(server, MODERN, speaking(&[ID])).await;
    let some = json!({ "tidesRisen": ["hoek", 7], "moonsRisen": true, "toolsListChanged": true });
    let some = peer
        .request("subscriptions/listen", json!({ "notifications": some }))
        .await;
    let acknowledged = peer
        .receive_method("notifications/subscriptions/acknowledged")
        .await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "tidesRisen": ["hoek"] })
    );
    let all = json!({ "notifications": { "tidesRisen": true } });
    let all = peer.request("subscriptions/listen", all).await;
    peer.receive_method("notifications/subscriptions/acknowledged")
        .await;

    let changes = changes.changes();
    changes
        .notify_about::<Risen>("aden", &Level { metres: 1 })
        .expect("an object");
    changes
        .notify_about::<Risen>("hoek", &Level { metres: 2 })
        .expect("an object");
    changes
        .notify::<Risen>(&Level { metres: 3 })
        .expect("an object");
    let mut received = Vec::new();
    for _ in 0..4 {
        let params = peer.receive_method("notifications/tides/risen").await["params"].take();
        let id = params["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
        received.push((params["metres"].as_i64().expect("metres"), id));
    }
    assert_eq!(
        received,
        [(1, all.clone()), (2, some), (2, all.clone()), (3, all)]
    );
}

// spec: 2026-07-28 N-EXT-04
#[tokio::test]
async fn its_notices_reach_a_session_whose_client_declared_it() {
    for (revision, capabilities, hears) in [
        (LEGACY, speaking(&[ID]), true),
        (LEGACY, json!({}), false),
        ("2025-06-18", speaking(&[ID]), false),
    ] {
        let server = server().tool::<reef>();
        let handle = server.handle();
        let mut peer = Peer::able(server, revision, capabilities).await;
        handle
            .changes()
            .notify::<Risen>(&Level { metres: 3 })
            .expect("an object");
        handle
            .changes()
            .notify_about::<Risen>("hoek", &Level { metres: 4 })
            .expect("an object");
        handle.changes().tools();
        peer.receive_method("notifications/tools/list_changed")
            .await;
        let received: Vec<_> = peer
            .received
            .iter()
            .map(|notice| notice["params"].clone())
            .collect();
        let expected = if hears {
            vec![json!({ "metres": 3 })]
        } else {
            vec![]
        };
        assert_eq!(received, expected, "{revision}");
    }
}

/// Takes in a sail.
#[tool]
async fn reef() {}
