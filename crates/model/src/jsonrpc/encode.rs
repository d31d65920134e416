//! Writing envelopes straight into the output buffer.

use serde::Serialize;

use super::{Error, RequestId};
use crate::write::write_json as write_value;

/// Writes a request.
///
/// # Panics
///
/// If `params` cannot be written as JSON, which types of this crate always can.
pub fn write_request<P: Serialize>(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: Option<&P>,
) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    write_json(out, id);
    write_method(out, b",\"method\":", method, params);
}

/// Writes a notification.
///
/// # Panics
///
/// As [`write_request`].
pub fn write_notification<P: Serialize>(out: &mut Vec<u8>, method: &str, params: Option<&P>) {
    write_method(out, b"{\"jsonrpc\":\"2.0\",\"method\":", method, params);
}

/// Writes a response with a result.
///
/// # Panics
///
/// As [`write_request`].
pub fn write_response<R: Serialize>(out: &mut Vec<u8>, id: &RequestId, result: &R) {
    write_response_head(out, id);
    write_json(out, result);
    out.push(b'}');
}

/// Writes a response up to its result: the caller adds the result and a closing brace.
pub fn write_response_head(out: &mut Vec<u8>, id: &RequestId) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    write_json(out, id);
    out.extend_from_slice(b",\"result\":");
}

/// Writes an error response; without an id when the request's could not be read.
///
/// # Panics
///
/// As [`write_request`].
pub fn write_error(out: &mut Vec<u8>, id: Option<&RequestId>, error: &Error) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    if let Some(id) = id {
        out.extend_from_slice(b"\"id\":");
        write_json(out, id);
        out.push(b',');
    }
    out.extend_from_slice(b"\"error\":");
    write_json(out, error);
    out.push(b'}');
}

fn write_method<P: Serialize>(out: &mut Vec<u8>, head: &[u8], method: &str, params: Option<&P>) {
    out.extend_from_slice(head);
    write_json(out, method);
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        write_json(out, params);
    }
    out.push(b'}');
}

fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    write_value(out, value).expect("protocol types are always writable");
}
