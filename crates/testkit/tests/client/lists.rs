//! Lists without an end, and lists with bad items.

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_client::{Client, ClientOptions, Misbehavior};
use pintle_model::{CompleteParams, CompletionReference};
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use crate::client::{connect, misbehavior, within};

// spec: 2026-07-28 N-PAGE-06
// hardening: H-165
#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_left() {
    for cursor in ["", "again"] {
        let server = HostileServer::modern(move |out, message| {
            out.reply(
                message,
                json!({ "resultType": "complete", "tools": [], "nextCursor": cursor }),
            );
        });
        let client = connect(&server).await;
        let error = within(client.list_tools()).await.unwrap_err();
        assert!(matches!(misbehavior(error), Misbehavior::RepeatedCursor));
        assert_eq!(server.count("tools/list"), 2);
    }
    let next = AtomicUsize::new(0);
    let server = HostileServer::legacy(move |out, message| {
        let cursor = next.fetch_add(1, Ordering::SeqCst).to_string();
        out.reply(message, json!({ "tools": [], "nextCursor": cursor }));
    });
    let client = connect(&server).await;
    let error = within(client.list_tools()).await.unwrap_err();
    assert!(matches!(
        misbehavior(error),
        Misbehavior::EndlessList {
            limit: 1_000,
            unit: "pages"
        }
    ));
    assert_eq!(server.count("tools/list"), 1_000);
}

// hardening: H-165
#[tokio::test(start_paused = true)]
async fn a_list_with_too_many_items_is_left() {
    let server = HostileServer::modern(|out, message| {
        let tools: Vec<_> = (0..11)
            .map(|at| json!({ "name": at.to_string(), "inputSchema": {} }))
            .collect();
        out.reply(message, json!({ "resultType": "complete", "tools": tools }));
    });
    let mut options = ClientOptions::default();
    for (items, fits) in [(11, true), (10, false)] {
        options.max_list_items = items;
        let builder = Client::builder().options(options.clone());
        let client = within(builder.connect(server.clone()))
            .await
            .expect("it opens");
        assert_eq!(within(client.list_tools()).await.is_ok(), fits);
    }
}

// spec: 2025-11-25 COMP-07 (missing and partial values)
#[tokio::test(start_paused = true)]
async fn a_completion_may_lack_values_and_be_a_part() {
    let server = HostileServer::modern(|out, message| {
        let values = match message["params"]["argument"]["value"].as_str() {
            Some("many") => json!({ "values": ["a"], "hasMore": true }),
            Some("none") => json!({ "values": [] }),
            _ => return out.fail(message, -32603, "no"),
        };
        out.reply(
            message,
            json!({ "resultType": "complete", "completion": values }),
        );
    });
    let client = connect(&server).await;
    let complete = |value: &str| {
        let prompt = CompletionReference::prompt("p");
        within(client.complete(CompleteParams::new(prompt, "x", value)))
    };
    let many = complete("many").await.expect("values").completion;
    assert_eq!(
        (many.values.len(), many.total, many.has_more),
        (1, None, Some(true))
    );
    let none = complete("none").await.expect("values").completion;
    assert_eq!((none.values.len(), none.has_more), (0, None));
    assert!(complete("").await.unwrap_err().answer().is_some());
}

// spec: 2026-07-28 N-PAGE-02, N-PAGE-03, N-PAGE-04
// spec: 2025-11-25 PAGE-02, PAGE-05, PAGE-06, PAGE-07, PROM-10, PAGE-03
#[tokio::test(start_paused = true)]
async fn pages_of_any_size_are_followed_by_their_cursors() {
    let server = HostileServer::modern(|out, message| {
        let tool = |name: &str| json!({ "name": name, "inputSchema": {} });
        let (tools, next) = match message["params"]["cursor"].as_str() {
            None => (json!([tool("a")]), json!("")),
            Some("") => (json!([]), json!("/+?\u{0}")),
            Some("/+?\u{0}") => (json!([tool("b"), tool("c")]), Value::Null),
            other => panic!("{other:?}"),
        };
        let mut page = json!({ "resultType": "complete", "tools": tools, "prompts": tools });
        if !next.is_null() {
            page["nextCursor"] = next;
        }
        out.reply(message, page);
    });
    let client = connect(&server).await;
    let tools = within(client.list_tools()).await.expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let prompts = within(client.list_prompts()).await.expect("a list");
    let names: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let mut pages = client.list_tools().pages();
    let mut sizes = Vec::new();
    while let Some(page) = within(pages.next()).await {
        sizes.push(page.expect("a page").items.len());
    }
    assert_eq!(sizes, [1, 0, 2]);
}

// hardening: H-77, H-162
#[tokio::test(start_paused = true)]
async fn one_bad_item_does_not_lose_the_list() {
    let server = HostileServer::modern(|out, message| {
        let tools = json!([
            { "name": "good", "inputSchema": { "type": "object" } },
            { "name": "bad", "inputSchema": {}, "annotations": "none" },
            5,
            { "inputSchema": {} },
            { "name": "good", "description": "an impostor", "inputSchema": {} },
            { "name": "strange", "inputSchema": true, "x": 1 },
        ]);
        out.reply(message, json!({ "resultType": "complete", "tools": tools }));
    });
    let client = connect(&server).await;
    let tools = within(client.list_tools()).await.expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["good", "strange"]);
    assert_eq!(tools[0].description, None, "the first of a name stays");
    let spoiled: Vec<_> = tools
        .spoiled
        .iter()
        .map(|spoiled| spoiled.name.as_deref())
        .collect();
    assert_eq!(spoiled, [Some("bad"), None, None, Some("good")]);

    let raw = client.list_raw("tools/list").expect("a list");
    let raw = within(raw).await.expect("a list");
    let texts: Vec<_> = raw.items.iter().map(|item| item.get()).collect();
    let strange = "{\"name\":\"strange\",\"inputSchema\":true,\"x\":1}";
    assert_eq!((texts.len(), texts[1]), (2, strange), "{texts:?}");
    let names: Vec<_> = raw
        .spoiled
        .iter()
        .map(|item| item.name.as_deref())
        .collect();
    assert_eq!(names, [Some("bad"), None, None, Some("good")]);
    assert!(client.list_raw("tools/call").is_none());
}

// hardening: H-162
#[tokio::test(start_paused = true)]
async fn an_invalid_list_is_a_typed_error() {
    for result in [
        json!({}),
        json!({ "tools": 5 }),
        json!({ "tools": [], "nextCursor": 5 }),
        json!([]),
    ] {
        let kept = result.clone();
        let server = HostileServer::legacy(move |out, message| out.reply(message, kept.clone()));
        let client = connect(&server).await;
        let error = within(client.list_tools()).await.unwrap_err();
        assert!(
            matches!(misbehavior(error), Misbehavior::NoList(_)),
            "{result}"
        );
    }
}
