//! The parts of a request that a line shows.

use std::borrow::Cow;

use http::request::Parts;
use pintle_model::Meta;
use pintle_model::jsonrpc::Member;
use pintle_model::method::{CallTool, GetPrompt, Method as _};
use pintle_proto::IncomingRequest;
use pintle_runtime::Context;
use serde::Deserialize;

use crate::digest;

/// Returns the name of the tool or the prompt, or the URI of the resource.
pub(crate) fn name(request: &IncomingRequest) -> Option<Cow<'_, str>> {
    let member = match request.method.as_str() {
        CallTool::NAME | GetPrompt::NAME => Member::Name,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Member::Uri,
        _ => return None,
    };
    request.params.members()?.get(member)?.as_text()
}

/// Returns the JSON text of the arguments of a tool or a prompt.
pub(crate) fn arguments(request: &IncomingRequest) -> Option<&str> {
    match request.method.as_str() {
        CallTool::NAME | GetPrompt::NAME => {
            let arguments = request.params.members()?.get(Member::Arguments)?;
            Some(arguments.get())
        }
        _ => None,
    }
}

pub(crate) fn is_tool_call(request: &IncomingRequest) -> bool {
    request.method.as_str() == CallTool::NAME
}

/// Returns the digest of the session id.
pub(crate) fn session(cx: &Context) -> Option<String> {
    let parts = cx.extension::<Parts>()?;
    let id = parts.headers.get("mcp-session-id")?;
    Some(digest::of_session(id.as_bytes()))
}

/// Returns the trace id that the client sent.
///
/// In the modern era the terms have the trace. In the legacy era the terms are those of the session, so the trace
/// is read from the parameters.
pub(crate) fn trace_id(request: &IncomingRequest) -> Option<String> {
    if let Some(trace) = &request.terms.trace {
        return trace_id_in(trace.parent.as_deref()?);
    }
    #[derive(Deserialize)]
    struct Tagged {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    let text = request.params.text();
    if !text.contains("traceparent") {
        return None;
    }
    let tagged: Tagged = serde_json::from_str(text).ok()?;
    trace_id_in(tagged.meta.get_str("traceparent")?)
}

/// The second field of a `traceparent`: 32 hexadecimal digits.
fn trace_id_in(parent: &str) -> Option<String> {
    let id = parent.split('-').nth(1)?;
    let is_valid = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_valid.then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_id_is_32_hexadecimal_digits_or_absent() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        let parent = format!("00-{id}-b7ad6b7169203331-01");
        assert_eq!(trace_id_in(&parent).as_deref(), Some(id));
        for invalid in ["", "00", "00-0af7-b7ad6b7169203331-01", &parent[4..]] {
            assert_eq!(trace_id_in(invalid), None, "{invalid}");
        }
    }
}
