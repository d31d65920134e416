//! Headers that repeat the body, in a revision without a handshake.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::{Entry, Head, Kind, Talk};
use super::super::script::claimed;
use super::super::seen::{Seen, fault_of, is_request, name, not_seen};
use super::http::judged;
use crate::check::{must, robust};
use crate::checks::MODERN;
use crate::finding::{Judgement, observed};
use crate::value::Fault;

const HEADERS: &str = "Streamable HTTP: Standard request headers";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-header-version",
        "`MCP-Protocol-Version` is the revision of the metadata.",
        HEADERS,
        &[must(MODERN, &["N-HDR-01", "N-HTTP-07", "N-TRAN-02"]).http()],
        |seen| {
            requests(seen, |head, message| {
                let claimed = claimed(message.get("params")?);
                mirror(head, "mcp-protocol-version", claimed)
            })
        },
    ),
    ClientCheck::new(
        "client-header-method",
        "`Mcp-Method` is the method of the body.",
        HEADERS,
        &[must(MODERN, &["N-HDR-03", "N-HDR-08"]).http()],
        |seen| {
            requests(seen, |head, message| {
                mirror(head, "mcp-method", name(message))
            })
        },
    ),
    ClientCheck::new(
        "client-header-name",
        "`Mcp-Name` is the name or URI of the body, and is encoded if a header cannot carry it.",
        HEADERS,
        &[must(MODERN, &["N-HDR-04"]).http()],
        |seen| named(seen, |_| true),
    ),
    ClientCheck::new(
        "client-header-name-encoded",
        "A name that a header cannot carry is encoded.",
        "Streamable HTTP: Value encoding",
        &[must(MODERN, &["N-HDR-05"]).http()],
        |seen| named(seen, |name| !is_plain(name)),
    ),
    ClientCheck::new(
        "client-header-param",
        "An argument with `x-mcp-header` is repeated in its header.",
        "Streamable HTTP: Custom headers",
        &[must(
            MODERN,
            &["N-XHDR-02", "N-XHDR-08", "N-XHDR-09", "N-XHDR-10"],
        )
        .http()],
        param,
    ),
    ClientCheck::new(
        "client-header-param-invalid",
        "A tool with an invalid `x-mcp-header` is not called.",
        "Streamable HTTP: Custom headers",
        &[must(MODERN, &["N-XHDR-07"]).http()],
        invalid_param,
    ),
    ClientCheck::new(
        "client-post-only",
        "Only POST is used: no GET, no DELETE, no `Last-Event-ID` and no session id.",
        "Streamable HTTP",
        &[
            must(MODERN, &["N-HTTP-28", "N-HTTP-18"]).http(),
            robust(MODERN, &["H-55"]).http(),
        ],
        post_only,
    ),
];

/// Judges each POST with a request.
fn requests(seen: &Seen<'_>, fault: impl Fn(&Head, &Value) -> Fault) -> Judgement {
    let posts = seen
        .messages()
        .filter(|(_, message)| is_request(message) && name(message) != Some("initialize"));
    let posts = posts.filter_map(|(entry, message)| Some((entry.head()?, message)));
    judged(posts, "no request", fault)
}

fn mirror(head: &Head, header: &str, value: Option<&str>) -> Fault {
    let found = head.get(header);
    (found != value).then(|| format!("`{header}` is {found:?}, and the body has {value:?}"))
}

fn param_name(message: &Value) -> Option<&str> {
    let params = message.get("params")?;
    match name(message)? {
        "tools/call" | "prompts/get" => params.get("name")?.as_str(),
        "resources/read" => params.get("uri")?.as_str(),
        _ => None,
    }
}

/// Returns true if a text is its own header value.
fn is_plain(text: &str) -> bool {
    let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    printable && text.trim() == text && !(text.starts_with("=?base64?") && text.ends_with("?="))
}

/// Decodes a header value.
fn decoded(value: &str) -> Option<String> {
    match value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        None => Some(value.to_owned()),
        Some(data) => String::from_utf8(STANDARD.decode(data).ok()?).ok(),
    }
}

fn named(seen: &Seen<'_>, is_judged: impl Fn(&str) -> bool) -> Judgement {
    let posts = seen
        .messages()
        .filter_map(|(entry, message)| Some((entry.head()?, message)));
    let posts = posts
        .filter(|(_, message)| is_request(message) && param_name(message).is_some_and(&is_judged));
    judged(posts, "no request with such a name", |head, message| {
        let found = head.get("mcp-name");
        let own = param_name(message)?;
        (found.and_then(decoded).as_deref() != Some(own))
            .then(|| format!("`Mcp-Name` is {found:?}"))
    })
}

fn calls<'r>(seen: &Seen<'r>, tool: &'static str) -> impl Iterator<Item = (&'r Head, &'r Value)> {
    let calls = seen
        .requests("tools/call")
        .filter(move |(_, message)| param_name(message) == Some(tool));
    calls.filter_map(|(entry, message)| Some((entry.head()?, message)))
}

/// Returns the calls of the tool `region` after its definition. The client may be unable to read unusual answers.
fn calls_after_list(talk: &Talk) -> Vec<(&Head, &Value)> {
    let is_usual = |entry: &&Entry| !matches!(entry.kind, Kind::Unusual(_));
    let mut is_listed = false;
    let mut calls = Vec::new();
    for entry in talk.entries.iter().take_while(is_usual) {
        let definition = |sent: &Value| sent.to_string().contains("x-mcp-header");
        is_listed |= entry.sent().is_some_and(definition);
        let call = entry.came().filter(|message| {
            name(message) == Some("tools/call") && param_name(message) == Some("region")
        });
        if let (true, Some(message), Some(head)) = (is_listed, call, entry.head()) {
            calls.push((head, message));
        }
    }
    calls
}

fn param(seen: &Seen<'_>) -> Judgement {
    judged(
        seen.talks().flat_map(calls_after_list),
        "the tool `region` was not called after the page with it",
        |head, message| {
            let found = head.get("mcp-param-region");
            let region = message
                .get("params")?
                .get("arguments")
                .and_then(|all| all.get("region"))
                .and_then(Value::as_str);
            (found.and_then(decoded).as_deref() != region)
                .then(|| format!("`Mcp-Param-Region` is {found:?}"))
        },
    )
}

fn invalid_param(seen: &Seen<'_>) -> Judgement {
    if let Some((_, message)) = calls(seen, "measure").next() {
        return Err(fault_of(
            message,
            "a number cannot be a header, so that the tool is invalid",
        ));
    }
    let mut sent = seen
        .talks()
        .flat_map(|talk| &talk.entries)
        .filter_map(Entry::sent);
    match sent.any(|sent| sent.to_string().contains("\"measure\"")) {
        true => Ok(()),
        false => Err(not_seen(
            "the client has not read the page with the tool `measure`",
        )),
    }
}

fn post_only(seen: &Seen<'_>) -> Judgement {
    for entry in seen.talks().flat_map(|talk| &talk.entries) {
        let Some(head) = entry.head() else { continue };
        if matches!(head.method.as_str(), "GET" | "DELETE") {
            return Err(observed(format!("a request with {}", head.method)));
        }
        let mut names = ["last-event-id", "mcp-session-id"].into_iter();
        if let Some(name) = names.find(|name| head.get(name).is_some()) {
            return Err(observed(format!(
                "a request with `{name}`: {}",
                entry.text()
            )));
        }
    }
    Ok(())
}
