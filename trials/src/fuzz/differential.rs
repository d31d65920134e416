//! Our reading of a message, compared with that of a reader that builds a JSON tree first.

use pintle::model::RequestId;
use pintle::model::jsonrpc::{Message, ParamsRef, ResponseBody};
use serde_json::Value;

/// Our reader and the tree agree about each message. The one exception is a duplicate member,
/// because a tree keeps only one of both.
///
/// # Panics
///
/// If not.
pub fn differential(data: &[u8]) {
    let ours = Message::parse(data);
    let Ok(tree) = serde_json::from_slice::<Value>(data) else {
        if ours.is_ok() {
            only_inside(data);
        }
        return;
    };
    match ours {
        Ok(message) => assert!(agrees(&message, &tree), "{message:?} beside {tree}"),
        Err(malformed) => {
            let why = malformed.error.message.to_string();
            let is_stricter = why.contains("twice") || why.contains("jsonrpc");
            assert!(is_stricter || !is_message(&tree), "{why}, of {tree}");
        }
    }
}

/// Payloads are carried unread, so they may hold JSON that no tree can hold. Examples are numbers
/// that are too large, and halves of surrogate pairs. The reader of the payload rejects them later.
fn only_inside(data: &[u8]) {
    let error = serde_json::from_slice::<Value>(data).expect_err("it was refused");
    let why = error.to_string();
    let is_known = [
        "number out of range",
        "surrogate",
        "hex escape",
        "recursion limit",
    ]
    .iter()
    .any(|known| why.contains(known));
    assert!(is_known, "we read bytes that are not JSON: {why}");
}

fn agrees(message: &Message<'_>, tree: &Value) -> bool {
    let Value::Object(members) = tree else {
        return false;
    };
    if members.get("jsonrpc") != Some(&Value::from("2.0")) {
        return false;
    }
    let answers = members.contains_key("result") || members.contains_key("error");
    match message {
        Message::Request(request) => {
            !answers
                && tree["method"] == *request.method
                && is_id(&request.id, &tree["id"])
                && carries(text_of(request.params), &tree["params"])
        }
        Message::Notification(notice) => {
            let params = &tree["params"];
            !answers
                && !members.contains_key("id")
                && tree["method"] == *notice.method
                && (carries(text_of(notice.params), params)
                    || !params.is_object() && notice.params.is_none())
        }
        Message::Response(response) => {
            let id = response.id.as_ref();
            let is_same = match &response.body {
                ResponseBody::Result(result) => carries(Some(result.get()), &tree["result"]),
                ResponseBody::Error(error) => {
                    tree["error"]["code"].as_f64() == Some(error.code.0 as f64)
                }
                ResponseBody::Contradiction => true,
            };
            let id_agrees = id.map_or(tree["id"].is_null(), |id| is_id(id, &tree["id"]));
            answers && !members.contains_key("method") && is_same && id_agrees
        }
    }
}

fn is_id(id: &RequestId, tree: &Value) -> bool {
    match id {
        RequestId::String(text) => tree.as_str() == Some(text),
        // An integer may be spelled as a float.
        RequestId::Integer(number) => {
            tree.as_i64() == Some(*number) || tree.as_f64() == Some(*number as f64)
        }
    }
}

fn text_of(params: Option<ParamsRef<'_>>) -> Option<&str> {
    params.map(|params| params.get())
}

fn carries(json: Option<&str>, tree: &Value) -> bool {
    match json {
        Some(json) => serde_json::from_str::<Value>(json).is_ok_and(|value| value == *tree),
        None => tree.is_null(),
    }
}

/// Returns true if a tree is a message by JSON-RPC.
fn is_message(tree: &Value) -> bool {
    let Value::Object(members) = tree else {
        return false;
    };
    let has = |name: &str| members.contains_key(name);
    let id = match members.get("id") {
        None => true,
        Some(Value::String(_)) => true,
        Some(Value::Number(number)) => number.is_i64(),
        Some(_) => false,
    };
    let params = members.get("params").is_none_or(Value::is_object);
    let asks =
        members.get("method").is_some_and(Value::is_string) && !has("result") && !has("error");
    let answers = !has("method") && (has("result") || has("error"));
    members.get("jsonrpc") == Some(&Value::from("2.0"))
        && id
        && (asks && params || answers)
        && depth(tree) <= 128
}

fn depth(tree: &Value) -> usize {
    match tree {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
