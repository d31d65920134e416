//! One message of a peer.

use pintle::model::jsonrpc::{
    InvalidMessage, Message, ParamsRef, ResponseBody, write_error, write_notification,
    write_request, write_response,
};
use serde_json::Value;
use serde_json::value::RawValue;

/// A message that is read and written again is the same. A rejected one has one of three reasons.
///
/// # Panics
///
/// If not.
pub fn message(data: &[u8]) {
    match Message::parse(data) {
        Ok(message) => {
            let written = written(&message);
            let again = Message::parse(&written).expect("what we write is a message");
            assert_eq!(content(&message), content(&again));
        }
        Err(InvalidMessage { error, .. }) => {
            assert!(
                [-32700, -32600, -32602].contains(&error.code.0),
                "{error:?}"
            );
        }
    }
}

fn written(message: &Message<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match message {
        Message::Request(request) => {
            write_request(
                &mut out,
                &request.id,
                &request.method,
                raw_params(request.params).as_ref(),
            );
        }
        Message::Notification(notification) => {
            write_notification(
                &mut out,
                &notification.method,
                raw_params(notification.params).as_ref(),
            );
        }
        Message::Response(response) => match (&response.body, &response.id) {
            (ResponseBody::Result(result), Some(id)) => write_response(&mut out, id, result),
            (ResponseBody::Error(error), id) => write_error(&mut out, id.as_ref(), error),
            // No writer produces these.
            _ => out.extend_from_slice(br#"{"jsonrpc":"2.0","result":{},"error":{}}"#),
        },
    }
    out
}

fn raw_params(params: Option<ParamsRef<'_>>) -> Option<&RawValue> {
    params.map(|params| serde_json::from_str(params.get()).expect("parameters are JSON"))
}

/// A message as values that can be compared.
fn content(
    message: &Message<'_>,
) -> (Option<String>, Option<String>, Option<Value>, Option<Value>) {
    let raw = |raw: Option<&str>| raw.and_then(|raw| serde_json::from_str(raw).ok());
    let params = |params: Option<ParamsRef<'_>>| raw(params.map(|params| params.get()));
    match message {
        Message::Request(request) => (
            Some(format!("{:?}", request.id)),
            Some(request.method.to_string()),
            params(request.params),
            None,
        ),
        Message::Notification(notification) => (
            None,
            Some(notification.method.to_string()),
            params(notification.params),
            None,
        ),
        Message::Response(response) => match &response.body {
            ResponseBody::Result(result) if response.id.is_some() => (
                Some(format!("{:?}", response.id)),
                None,
                None,
                raw(Some(result.get())),
            ),
            ResponseBody::Error(error) => (
                Some(format!("{:?}", response.id)),
                None,
                None,
                serde_json::to_value(error).ok(),
            ),
            _ => (None, None, None, None),
        },
    }
}
