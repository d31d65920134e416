//! Arguments that headers repeat, if the lists of the client and the server differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle::client::{CallError, Client};
use serde_json::{Value, json};

use crate::address::{Origin, Said};

/// Counts of the requests to a server; its lists and answers depend on them.
struct Tools {
    lists: AtomicUsize,
    calls: AtomicUsize,
}

/// A page of one tool whose argument `place` belongs in the header of this name.
fn page(tool: &str, header: Option<&str>, next: Option<&str>) -> Value {
    let mut place = json!({ "type": "string" });
    if let Some(header) = header {
        place["x-mcp-header"] = json!(header);
    }
    let schema = json!({ "type": "object", "properties": { "place": place } });
    let mut page = json!({ "resultType": "complete", "tools": [{ "name": tool, "inputSchema": schema }],
        "ttlMs": 3_600_000, "cacheScope": "private" });
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    page
}

/// A server that lists the page that `list` returns for the number of the request, and accepts a call
/// only with this header.
fn origin(
    name: &'static str,
    list: impl Fn(usize, &Said) -> Value + Send + Sync + 'static,
) -> Arc<Origin> {
    let seen = Tools {
        lists: AtomicUsize::new(0),
        calls: AtomicUsize::new(0),
    };
    Origin::new(move |said| {
        if said.method() == "tools/list" {
            let number = seen.lists.fetch_add(1, Ordering::SeqCst);
            return (200, json!({ "result": list(number, said) }));
        }
        seen.calls.fetch_add(1, Ordering::SeqCst);
        match said.header(name) {
            Some("here") => {
                let content = json!([{ "type": "text", "text": "done" }]);
                (
                    200,
                    json!({ "result": { "resultType": "complete", "content": content } }),
                )
            }
            _ => (
                400,
                json!({ "error": { "code": -32020, "message": "the header does not match" } }),
            ),
        }
    })
}

async fn call(client: &Client) -> Result<(), CallError> {
    let call = client.call_tool("t", json!({ "place": "here" }));
    call.await.map(drop)
}

// spec: 2026-07-28 N-XHDR-15, N-XHDR-16
#[tokio::test(start_paused = true)]
async fn a_tool_whose_headers_have_changed_is_looked_up_and_called_once_more() {
    let origin = origin("mcp-param-new", |number, _| {
        page("t", Some(if number == 0 { "Old" } else { "New" }), None)
    });
    let client = origin.client().await;
    client.list_tools().await.expect("a list");
    call(&client).await.expect("a result");
    let calls = origin.received("tools/call");
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].header("mcp-param-old"), Some("here"));
    let again = (
        calls[1].header("mcp-param-old"),
        calls[1].header("mcp-param-new"),
    );
    assert_eq!(again, (None, Some("here")));
    assert_eq!(
        calls[0].body["params"]["arguments"],
        calls[1].body["params"]["arguments"]
    );
    assert_eq!(
        origin.received("tools/list").len(),
        2,
        "what was kept is not believed"
    );
    call(&client).await.expect("a result");
    assert_eq!(origin.received("tools/call").len(), 3, "it is remembered");
}

// spec: 2026-07-28 N-XHDR-15, N-XHDR-16
#[tokio::test(start_paused = true)]
async fn a_tool_that_was_never_listed_is_looked_up_when_its_headers_are_missed() {
    let origin = origin(
        "mcp-param-place",
        |_, said| match said.body["params"]["cursor"].as_str() {
            None => page("other", None, Some("2")),
            Some("2") => page("t", Some("Place"), Some("3")),
            cursor => panic!("{cursor:?} was not needed"),
        },
    );
    let client = origin.client().await;
    call(&client).await.expect("a result");
    assert_eq!(origin.received("tools/list").len(), 2);
    assert_eq!(origin.received("tools/call").len(), 2);
}

// spec: 2026-07-28 N-XHDR-15
#[tokio::test(start_paused = true)]
async fn a_call_is_not_repeated_with_the_same_headers() {
    let same = origin("mcp-param-other", |_, _| page("t", Some("Place"), None));
    let gone = origin("mcp-param-other", |number, _| {
        page(if number == 0 { "t" } else { "u" }, Some("Place"), None)
    });
    for origin in [same, gone] {
        let client = origin.client().await;
        client.list_tools().await.expect("a list");
        let error = call(&client).await.unwrap_err();
        assert_eq!(error.answer().expect("an answer").code.0, -32020);
        assert_eq!(origin.received("tools/call").len(), 1);
        assert_eq!(origin.received("tools/list").len(), 2);
    }
}

// spec: 2026-07-28 N-XHDR-15
#[tokio::test(start_paused = true)]
async fn a_server_that_is_never_content_is_asked_once_more_only() {
    let origin = origin("never", |number, _| {
        page("t", Some(&format!("H{number}")), None)
    });
    let client = origin.client().await;
    call(&client).await.unwrap_err();
    assert_eq!(origin.received("tools/call").len(), 2);
    assert_eq!(origin.received("tools/list").len(), 1);
}

// spec: 2026-07-28 N-XHDR-15
#[tokio::test(start_paused = true)]
async fn other_errors_and_other_methods_are_left_alone() {
    let origin = Origin::new(|_| (400, json!({ "error": { "code": -32020, "message": "no" } })));
    let client = origin.client().await;
    client.read_resource("a:1").await.unwrap_err();
    client.list_tools().await.unwrap_err();
    assert_eq!(origin.received("tools/list").len(), 1);
    let origin = Origin::new(|_| (400, json!({ "error": { "code": -32602, "message": "no" } })));
    let client = origin.client().await;
    call(&client).await.unwrap_err();
    assert_eq!(origin.received("tools/list").len(), 0);
}
