use super::*;
use Direction::{ToClient, ToServer};

/// Observes lines, one millisecond apart, and returns the oddities of each.
fn odd(lines: &[(Direction, &str)]) -> Vec<Vec<&'static str>> {
    let mut observer = Observer::new(8);
    let mut at = Duration::ZERO;
    let mut found = Vec::new();
    for (direction, text) in lines {
        at += Duration::from_millis(1);
        let seen = observer.observe(*direction, &line(text), at);
        found.push(seen.oddities.iter().map(Oddity::code).collect());
    }
    found
}

/// The same, after a handshake in a revision.
fn odd_in(revision: &str, lines: &[(Direction, &str)]) -> Vec<Vec<&'static str>> {
    let opened =
        format!(r#"{{"jsonrpc":"2.0","id":"i","result":{{"protocolVersion":"{revision}"}}}}"#);
    let mut all = vec![
        (
            ToServer,
            r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#,
        ),
        (ToClient, opened.as_str()),
    ];
    all.extend_from_slice(lines);
    let found = odd(&all);
    assert_eq!(found[..2], [vec![], Vec::<&str>::new()], "the handshake");
    found[2..].to_vec()
}

fn line(text: &str) -> Line {
    Line {
        bytes: text.as_bytes().to_vec(),
        size: text.len() as u64,
        has_end: true,
    }
}

const CALL: (Direction, &str) = (
    ToServer,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#,
);
const RESULT: (Direction, &str) = (ToClient, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
const CANCEL: (Direction, &str) = (
    ToServer,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
);

#[test]
fn an_answer_has_the_method_and_the_latency_of_its_request() {
    let mut observer = Observer::new(8);
    observer.observe(CALL.0, &line(CALL.1), Duration::from_millis(5));
    let seen = observer.observe(RESULT.0, &line(RESULT.1), Duration::from_millis(12));
    assert_eq!(seen.latency, Some(Duration::from_millis(7)));
    assert_eq!(
        (seen.method.as_deref(), seen.target.as_deref()),
        (Some("tools/call"), Some("echo"))
    );
    assert_eq!(
        (seen.kind, seen.id.as_deref()),
        (MessageKind::Result, Some("1"))
    );
    assert!(observer.finish(Duration::ZERO).is_empty());
}

#[test]
fn requests_without_an_answer_are_missing() {
    let mut observer = Observer::new(8);
    for (index, (direction, text)) in [
        CALL,
        (ToServer, r#"{"jsonrpc":"2.0","id":"2","method":"x"}"#),
        (ToClient, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        (
            ToServer,
            r#"{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen"}"#,
        ),
        CANCEL,
    ]
    .into_iter()
    .enumerate()
    {
        observer.observe(direction, &line(text), Duration::from_secs(index as u64));
    }
    let missing = observer.finish(Duration::from_secs(10));
    let missing: Vec<_> = missing
        .iter()
        .map(|missing| (missing.id.as_str(), missing.age.as_secs()))
        .collect();
    assert_eq!(missing, [("\"2\"", 9), ("1", 8)]);
}

#[test]
fn ids_are_checked() {
    let ids = odd_in("2025-11-25", &[CALL, CALL, RESULT, RESULT, CALL, RESULT]);
    assert_eq!(
        ids,
        [
            vec![],
            vec!["duplicate_id"],
            vec![],
            vec!["second_answer"],
            vec!["reused_id"],
            vec![]
        ]
    );
    let wrong = odd_in(
        "2025-11-25",
        &[
            (ToClient, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
            CALL,
            (
                ToClient,
                r#"{"jsonrpc":"2.0","id":"1","error":{"code":1,"message":""}}"#,
            ),
            (
                ToClient,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
            ),
            (ToServer, RESULT.1),
        ],
    );
    let unknown = vec!["unknown_id"];
    assert_eq!(
        wrong,
        [unknown.clone(), vec![], unknown.clone(), vec![], unknown]
    );
}

#[test]
fn an_answer_after_a_cancellation_is_odd() {
    assert_eq!(
        odd_in("2025-11-25", &[CALL, CANCEL, RESULT, RESULT])[2..],
        [vec!["answer_after_cancel"], vec!["answer_after_cancel"]]
    );
    assert_eq!(
        odd_in("2025-11-25", &[CALL, RESULT, CANCEL]),
        vec![Vec::<&str>::new(); 3]
    );
}

#[test]
fn noise_is_odd() {
    let found = odd(&[
        (ToClient, "Server started"),
        (ToClient, ""),
        (ToClient, "[info] ready"),
        (ToClient, "{\"level\":\"info\"}"),
        (ToClient, "42"),
        (ToClient, r#"{"jsonrpc":"1.0","id":1,"result":{}}"#),
        (
            ToClient,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        ),
        (ToClient, r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#),
        (ToClient, "{\"jsonrpc\":\"2.0\","),
    ]);
    let json = vec!["not_json_rpc"];
    let noise = vec!["not_json"];
    assert_eq!(
        found,
        [
            noise.clone(),
            vec!["empty_line"],
            noise.clone(),
            json.clone(),
            json.clone(),
            json.clone(),
            json.clone(),
            json,
            noise
        ]
    );
}

#[test]
fn lines_that_cannot_be_read_are_odd() {
    let mut observer = Observer::new(8);
    let mut codes = |line: &Line| {
        let seen = observer.observe(ToClient, line, Duration::ZERO);
        seen.oddities.iter().map(Oddity::code).collect::<Vec<_>>()
    };
    assert_eq!(
        codes(&Line {
            bytes: vec![0xff],
            size: 1,
            has_end: true
        }),
        ["not_utf8"]
    );
    assert_eq!(
        codes(&Line {
            bytes: vec![b'{'],
            size: 9,
            has_end: true
        }),
        ["too_long"]
    );
    assert_eq!(
        codes(&Line {
            has_end: false,
            ..line(RESULT.1)
        }),
        ["no_line_end"]
    );
}

#[test]
fn a_method_has_to_exist_in_the_revision() {
    let modern = |method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
        )
    };
    let found = |method: &str| odd(&[(ToServer, modern(method).as_str())]).remove(0);
    assert_eq!(found("tools/call"), Vec::<&str>::new());
    assert_eq!(found("logging/setLevel"), ["wrong_revision"]);
    assert_eq!(found("custom/method"), Vec::<&str>::new());
    let discover = (
        ToServer,
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
    );
    assert_eq!(odd_in("2025-06-18", &[discover]), [["wrong_revision"]]);
    let question = (
        ToClient,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#,
    );
    assert_eq!(odd_in("2025-03-26", &[question]), [["wrong_revision"]]);
    assert_eq!(odd_in("2025-06-18", &[question]), [Vec::<&str>::new()]);
    assert_eq!(
        odd_in("2025-06-18", &[(ToServer, modern("tools/list").as_str())]),
        [["other_revision"]]
    );
}

#[test]
fn a_request_needs_a_handshake_or_a_revision() {
    assert_eq!(odd(&[CALL]), [["before_handshake"]]);
    let unknown = r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"1.0"}}"#;
    let found = odd(&[
        (
            ToServer,
            r#"{"jsonrpc":"2.0","id":"i","method":"initialize"}"#,
        ),
        (ToClient, unknown),
        CALL,
    ]);
    assert_eq!(found, [vec![], vec!["unsupported_revision"], vec![]]);
}

#[test]
fn a_side_does_not_send_methods_of_the_other() {
    let found = odd_in(
        "2025-11-25",
        &[
            (
                ToServer,
                r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}"#,
            ),
            (
                ToClient,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            ),
            (ToClient, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
            (
                ToClient,
                r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
            ),
        ],
    );
    assert_eq!(
        found,
        [vec!["wrong_side"], vec!["wrong_side"], vec![], vec![]]
    );
}

#[test]
fn the_messages_of_a_batch_are_observed() {
    let batch = (
        ToServer,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    );
    let answers = (
        ToClient,
        r#"[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":3,"result":{}}]"#,
    );
    assert_eq!(
        odd_in("2025-03-26", &[batch, answers]),
        [vec![], vec!["unknown_id"]]
    );
    assert_eq!(odd_in("2025-06-18", &[batch]), [["batch"]]);
    assert_eq!(odd(&[(ToServer, "[[1]]")]), [["not_json_rpc"]]);
}

#[test]
fn requests_beyond_the_limit_are_not_tracked() {
    let mut observer = Observer::new(2);
    let mut codes = |direction, text: &str| {
        let seen = observer.observe(direction, &line(text), Duration::ZERO);
        seen.oddities.iter().map(Oddity::code).collect::<Vec<_>>()
    };
    let ping = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    assert!(codes(ToServer, &ping(1)).is_empty() && codes(ToServer, &ping(2)).is_empty());
    assert_eq!(codes(ToServer, &ping(3)), ["not_tracked"]);
    assert!(
        codes(ToClient, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).is_empty(),
        "it may be right"
    );
}

#[test]
fn long_names_need_bounded_memory() {
    let mut observer = Observer::new(4);
    let name = "\u{e9}".repeat(100_000);
    let request =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x{name}","params":{{"name":"{name}"}}}}"#);
    let seen = observer.observe(ToServer, &line(&request), Duration::ZERO);
    assert_eq!(
        seen.method.as_deref().map(str::len),
        Some(255),
        "whole characters"
    );
    assert_eq!(seen.target.as_deref().map(str::len), Some(256));
    assert!(observer.sides[0].pending["1"].method.len() <= 256);
}

#[test]
fn ended_requests_need_bounded_memory() {
    let mut observer = Observer::new(4);
    for id in 0..1000 {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        observer.observe(ToServer, &line(&request), Duration::ZERO);
        observer.observe(ToClient, &line(&answer), Duration::ZERO);
    }
    assert_eq!(
        (observer.sides[0].ended.len(), observer.sides[0].order.len()),
        (4, 4)
    );
}
