//! Writing a call: the caller's parameters, and the engine's members of `_meta`.

use serde::Serialize;

use pintle_model::{
    ClientCapabilities, Fit, Implementation, JsonObject, Meta, RequestId, Revision,
};

use super::CallParams;
use crate::outbound::CallSpec;

/// The members of `_meta` that only the engine sets.
const OURS: [&str; 4] = [
    Meta::PROGRESS_TOKEN,
    Meta::PROTOCOL_VERSION,
    Meta::CLIENT_INFO,
    Meta::CLIENT_CAPABILITIES,
];

/// Writes a request; `envelope` is empty, or the members with which it states its terms.
pub(super) fn write_call(
    head: &mut Vec<u8>,
    id: &RequestId,
    about: &CallSpec,
    params: CallParams,
    mut meta: Meta,
    envelope: &[u8],
) {
    head.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    json(head, id);
    head.extend_from_slice(b",\"method\":");
    json(head, about.method.as_str());
    head.extend_from_slice(b",\"params\":");
    let start = head.len();
    match params {
        CallParams::Rendered(params) => head.extend_from_slice(&params),
        CallParams::Object(mut params) => {
            if let Some(serde_json::Value::Object(own)) = params.remove("_meta") {
                meta.extend(own);
            }
            json(head, &params);
        }
    }
    // The closing brace is written after `_meta`.
    head.pop();
    let is_empty = head.len() == start + 1;
    write_meta(head, is_empty, id, about, &meta, envelope);
    head.extend_from_slice(b"}}");
}

fn write_meta(
    head: &mut Vec<u8>,
    is_first: bool,
    id: &RequestId,
    about: &CallSpec,
    own: &Meta,
    envelope: &[u8],
) {
    let own: Vec<_> = own
        .iter()
        .filter(|(key, _)| !OURS.contains(&key.as_str()))
        .collect();
    if own.is_empty() && envelope.is_empty() && !about.wants_progress {
        return;
    }
    head.extend_from_slice(if is_first {
        b"\"_meta\":"
    } else {
        b",\"_meta\":"
    });
    let mut before: &[u8] = b"{";
    for (key, value) in own {
        head.extend_from_slice(before);
        json(head, key);
        head.push(b':');
        json(head, value);
        before = b",";
    }
    if about.wants_progress {
        head.extend_from_slice(before);
        head.extend_from_slice(b"\"progressToken\":");
        json(head, id);
        before = b",";
    }
    if !envelope.is_empty() {
        head.extend_from_slice(before);
        head.extend_from_slice(envelope);
    }
    head.push(b'}');
}

/// The members with which a client states its terms in `revision`.
pub(super) fn envelope_of(
    revision: Revision,
    client: &Implementation,
    capabilities: &ClientCapabilities,
) -> Box<[u8]> {
    let mut capabilities = capabilities.clone();
    let fits = capabilities.fit(revision).is_ok();
    debug_assert!(fits, "capabilities can be said in every revision");
    let mut meta = Meta::new();
    meta.set_protocol_version(revision.as_str());
    meta.set_client_info(client);
    meta.set_client_capabilities(&capabilities);
    let members: JsonObject = meta.into_object();
    let mut text = Vec::new();
    json(&mut text, &members);
    text[1..text.len() - 1].into()
}

fn json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("protocol types are always writable");
}
