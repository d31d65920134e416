use http::HeaderMap;
use pintle_proto::lifecycle::stated_terms;

use super::*;
use crate::rules::headers;
use crate::rules::origin::HostPolicy;
use crate::rules::session_id::SessionId;

const ID: &str = "0123456789abcdef0123456789abcdef";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Headers, a body, and the expected decision.
type Row<'r> = (&'r [(&'r str, &'r str)], &'r str, Said);

/// The decision: a route, or status and code.
type Said = Result<Route, (u16, Option<i64>)>;

fn read_terms(
    envelope: &RequestEnvelope<'_>,
    revision: Revision,
) -> Result<Arc<Terms>, Box<Error>> {
    Ok(Arc::new(stated_terms(envelope, revision)?))
}

fn decide_as(legacy: LegacyMode, headers: &[(&str, &str)], body: &str) -> Said {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
        map.append(name, value.parse().expect("a value"));
    }
    let message = Message::parse(body.as_bytes()).expect("a message");
    let settings = Settings {
        access: HostPolicy::loopback(),
        legacy,
    };
    let id = id_of(&message);
    let headers = RequestHeaders::of(&map);
    let decided = preview(&message)
        .and_then(|preview| by_body(&headers, &message, &preview, &settings, &read_terms));
    match decided {
        Ok((route, _)) => Ok(route),
        Err(rejection) => {
            assert_eq!(rejection.id, id, "an error carries the id of its request");
            Err((
                rejection.status.as_u16(),
                rejection.error.map(|error| error.code.0),
            ))
        }
    }
}

fn decide(headers: &[(&str, &str)], body: &str) -> Said {
    decide_as(LegacyMode::Sessions, headers, body)
}

fn modern(method: &str, params: &str) -> String {
    claiming("2026-07-28", method, params)
}

fn claiming(version: &str, method: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"{VERSION}":"{version}","{CAPABILITIES}":{{}}}}{params}}}}}"#
    )
}

fn legacy(method: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"protocolVersion":"2025-06-18"}}}}"#
    )
}

const NEW: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const OLD: (&str, &str) = ("mcp-protocol-version", "2025-11-25");
const UNKNOWN: (&str, &str) = ("mcp-protocol-version", "9999-99-99");
const LIST: (&str, &str) = ("mcp-method", "tools/list");
const CALL: (&str, &str) = ("mcp-method", "tools/call");
const ADD: (&str, &str) = ("mcp-name", "add");
const SESSION: (&str, &str) = ("mcp-session-id", ID);

fn session() -> SessionId {
    SessionId::parse(ID).expect("an id")
}

// spec: 2026-07-28 N-HDR-01, N-HDR-02, N-HDR-03, N-HDR-04, N-HDR-06, N-HDR-08, N-HDR-11, N-COMPAT-02, N-COMPAT-03
// hardening: H-48, H-49, H-50, H-51, H-52, H-53, H-55, H-57
#[test]
fn a_claiming_request_stands_alone_when_its_headers_agree() {
    let list = modern("tools/list", "");
    let call = modern("tools/call", r#","name":"add""#);
    let nameless = modern("tools/call", "");
    let rows: [Row<'_>; 21] = [
        (&[NEW, LIST], &list, Ok(Route::Exchange)),
        (&[NEW, CALL, ADD], &call, Ok(Route::Exchange)),
        (
            &[NEW, LIST, SESSION, ("last-event-id", "7")],
            &list,
            Ok(Route::Exchange),
        ),
        (
            &[NEW, LIST, ("mcp-session-id", "forged")],
            &list,
            Ok(Route::Exchange),
        ),
        (
            &[
                ("MCP-PROTOCOL-VERSION", "2026-07-28"),
                ("MCP-METHOD", " tools/list "),
            ],
            &list,
            Ok(Route::Exchange),
        ),
        (
            &[NEW, CALL, ("mcp-name", "=?base64?YWRk?=")],
            &call,
            Ok(Route::Exchange),
        ),
        (&[NEW, CALL], &nameless, Ok(Route::Exchange)),
        (&[NEW, CALL, ADD], &nameless, Err((400, Some(-32020)))),
        (&[LIST], &list, Err((400, Some(-32020)))),
        (&[OLD, LIST], &list, Err((400, Some(-32020)))),
        (&[NEW, NEW, LIST], &list, Err((400, Some(-32020)))),
        (&[NEW], &list, Err((400, Some(-32020)))),
        (&[NEW, CALL], &list, Err((400, Some(-32020)))),
        (
            &[NEW, ("mcp-method", "TOOLS/LIST")],
            &list,
            Err((400, Some(-32020))),
        ),
        (&[NEW, LIST, LIST], &list, Err((400, Some(-32020)))),
        (&[NEW, CALL], &call, Err((400, Some(-32020)))),
        (
            &[NEW, CALL, ("mcp-name", "sub")],
            &call,
            Err((400, Some(-32020))),
        ),
        (&[NEW, CALL, ADD, ADD], &call, Err((400, Some(-32020)))),
        (
            &[NEW, CALL, ("mcp-name", "=?base64?YWR?=")],
            &call,
            Err((400, Some(-32020))),
        ),
        (
            &[NEW, LIST],
            &claiming("v999.0.0", "tools/list", ""),
            Err((400, Some(-32020))),
        ),
        (
            &[("mcp-protocol-version", "v999.0.0"), LIST],
            &claiming("v999.0.0", "tools/list", ""),
            Err((400, Some(-32022))),
        ),
    ];
    for (headers, body, expected) in rows {
        assert_eq!(decide(headers, body), expected, "{headers:?} {body}");
    }
}

// spec: 2026-07-28 N-HTTP-22, N-HTTP-23
// hardening: H-56, H-59, H-60
#[test]
fn a_request_without_a_claim_is_of_the_era_its_header_names() {
    let list = legacy("tools/list");
    let nonsense = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{"{VERSION}":1}}}}}}"#
    );
    let rows: [Row<'_>; 9] = [
        (&[NEW, LIST], &list, Err((400, Some(-32602)))),
        (&[NEW], &nonsense, Err((400, Some(-32602)))),
        (&[OLD, SESSION], &nonsense, Err((400, Some(-32602)))),
        (&[OLD, SESSION], &list, Ok(Route::Session(session()))),
        (&[SESSION], &list, Ok(Route::Session(session()))),
        (&[UNKNOWN, SESSION], &list, Err((400, Some(-32022)))),
        (&[OLD], &list, Err((400, Some(-32600)))),
        (
            &[OLD, ("mcp-session-id", "forged")],
            &list,
            Err((404, Some(-32600))),
        ),
        (&[OLD, SESSION, SESSION], &list, Err((400, Some(-32020)))),
    ];
    for (headers, body, expected) in rows {
        assert_eq!(decide(headers, body), expected, "{headers:?} {body}");
    }
}

// spec: 2025-11-25 TRANS-SESS-01, TRANS-VER-01
// hardening: H-13
#[test]
fn initialize_opens_a_session_and_never_adopts_an_id() {
    let body = legacy("initialize");
    let rows: [(&[(&str, &str)], Said); 6] = [
        (&[], Ok(Route::Open)),
        (&[OLD], Ok(Route::Open)),
        (&[NEW], Ok(Route::Open)),
        (&[UNKNOWN], Ok(Route::Open)),
        (&[("mcp-session-id", "chosen")], Err((404, Some(-32600)))),
        (&[SESSION], Ok(Route::Session(session()))),
    ];
    for (headers, expected) in rows {
        assert_eq!(decide(headers, &body), expected, "{headers:?}");
    }
    let enveloped = modern("initialize", r#","protocolVersion":"2025-06-18""#);
    assert_eq!(decide(&[NEW], &enveloped), Ok(Route::Open));
}

// spec: 2026-07-28 X-TASK-32
#[test]
fn a_task_request_may_omit_its_name_header_but_not_contradict_it() {
    const OTHER: (&str, &str) = ("mcp-name", "other");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let body = modern(method, r#","taskId":"t-1""#);
        let method = ("mcp-method", method);
        let mismatch = Err((400, Some(-32020)));
        assert_eq!(decide(&[NEW, method], &body), Ok(Route::Exchange));
        let right = ("mcp-name", "t-1");
        assert_eq!(decide(&[NEW, method, right], &body), Ok(Route::Exchange));
        assert_eq!(decide(&[NEW, method, OTHER], &body), mismatch);
        assert_eq!(decide(&[NEW, method, right, right], &body), mismatch);
        assert_eq!(decide(&[NEW], &body), mismatch, "the method is required");
    }
    let call = modern("tools/call", r#","name":"x""#);
    let call = decide(&[NEW, ("mcp-method", "tools/call")], &call);
    assert_eq!(call, Err((400, Some(-32020))));
}

// spec: 2026-07-28 N-ERA-02, N-ERA-16
#[test]
fn initialize_without_a_handshake_is_a_method_like_any_other() {
    let headers = [NEW, ("mcp-method", "initialize")];
    for legacy in [
        LegacyMode::Sessions,
        LegacyMode::Sessionless,
        LegacyMode::Off,
    ] {
        let route = decide_as(legacy, &headers, &modern("initialize", ""));
        assert_eq!(route, Ok(Route::Exchange), "{legacy:?}");
    }
}

// spec: 2026-07-28 N-HTTP-09, N-HTTP-25, N-TRAN-01
// spec: 2025-11-25 TRANS-HTTP-10, TRANS-HTTP-11
// hardening: H-107, H-108
#[test]
fn notifications_and_responses_go_where_they_belong() {
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let claimed = format!(
        r#"{{"jsonrpc":"2.0","method":"n","params":{{"_meta":{{"{VERSION}":"2026-07-28"}}}}}}"#
    );
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let rows: [Row<'_>; 10] = [
        (&[NEW], notice, Ok(Route::Ignored)),
        (&[NEW], &claimed, Ok(Route::Ignored)),
        (&[], &claimed, Ok(Route::Ignored)),
        (&[OLD], &claimed, Err((400, Some(-32020)))),
        (
            &[NEW, ("mcp-method", "other")],
            &claimed,
            Err((400, Some(-32020))),
        ),
        (&[SESSION], notice, Ok(Route::Session(session()))),
        (&[], notice, Err((400, Some(-32600)))),
        (&[SESSION], answer, Ok(Route::Session(session()))),
        (&[], answer, Err((400, Some(-32600)))),
        (&[NEW], answer, Err((400, Some(-32600)))),
    ];
    for (headers, body, expected) in rows {
        assert_eq!(decide(headers, body), expected, "{headers:?} {body}");
    }
}

// spec: 2026-07-28 N-HDR-10
// spec: 2025-11-25 TRANS-VER-03
// hardening: H-60
#[test]
fn without_sessions_every_message_stands_alone() {
    let list = legacy("tools/list");
    let rows: [Row<'_>; 6] = [
        (
            &[],
            &list,
            Ok(Route::Sessionless("2025-03-26".parse().expect("a date"))),
        ),
        (
            &[OLD, SESSION],
            &list,
            Ok(Route::Sessionless("2025-11-25".parse().expect("a date"))),
        ),
        (&[UNKNOWN], &list, Err((400, Some(-32022)))),
        (
            &[],
            &legacy("initialize"),
            Ok(Route::Sessionless("2025-11-25".parse().expect("a date"))),
        ),
        (&[], r#"{"jsonrpc":"2.0","method":"n"}"#, Ok(Route::Ignored)),
        (&[NEW, LIST], &modern("tools/list", ""), Ok(Route::Exchange)),
    ];
    for (headers, body, expected) in rows {
        assert_eq!(
            decide_as(LegacyMode::Sessionless, headers, body),
            expected,
            "{headers:?} {body}"
        );
    }
}

// spec: 2026-07-28 N-HDR-11, N-HTTP-22
#[test]
fn a_modern_only_endpoint_names_the_revisions_it_serves() {
    let rows: [Row<'_>; 6] = [
        (&[], &legacy("initialize"), Err((400, Some(-32022)))),
        (&[], &legacy("tools/list"), Err((400, Some(-32602)))),
        (&[OLD], &legacy("tools/list"), Err((400, Some(-32022)))),
        (&[UNKNOWN], &legacy("tools/list"), Err((400, Some(-32022)))),
        (&[], r#"{"jsonrpc":"2.0","method":"n"}"#, Ok(Route::Ignored)),
        (&[NEW, LIST], &modern("tools/list", ""), Ok(Route::Exchange)),
    ];
    for (headers, body, expected) in rows {
        assert_eq!(
            decide_as(LegacyMode::Off, headers, body),
            expected,
            "{headers:?} {body}"
        );
    }
}

// spec: 2026-07-28 N-HTTP-22
#[test]
fn an_unsupported_revision_is_answered_with_those_that_are_served() {
    let headers = HeaderMap::from_iter([(
        headers::PROTOCOL_VERSION,
        "1900-01-01".parse().expect("a value"),
    )]);
    let body = claiming("1900-01-01", "tools/list", "");
    let message = Message::parse(body.as_bytes()).expect("a message");
    let settings = Settings {
        access: HostPolicy::loopback(),
        legacy: LegacyMode::Sessions,
    };
    let preview = preview(&message).expect("a preview");
    let error = by_body(
        &RequestHeaders::of(&headers),
        &message,
        &preview,
        &settings,
        &read_terms,
    )
    .expect_err("refused")
    .error
    .expect("an error");
    let expected = serde_json::json!({"supported": ["2026-07-28"], "requested": "1900-01-01"});
    assert_eq!(error.data.as_deref(), Some(&expected));
}
