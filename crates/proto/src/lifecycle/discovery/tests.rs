use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const MODERN: [Revision; 1] = [Revision::LATEST];

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("JSON")
}

fn result(value: &Value, binding: Binding) -> ProbeDecision {
    after_probe(Ok(&raw(value)), binding, &MODERN, false)
}

fn failed(failure: &PeerCallError, binding: Binding) -> ProbeDecision {
    after_probe(Err(failure), binding, &MODERN, false)
}

fn answered(code: i64, data: Value) -> PeerCallError {
    PeerCallError::Answered(Error::new(ErrorCode(code), "m").with_data(data))
}

fn discovery(dates: &[&str]) -> Value {
    json!({ "resultType": "complete", "supportedVersions": dates, "capabilities": {} })
}

fn unsupported(dates: &[&str]) -> PeerCallError {
    answered(
        -32022,
        json!({ "supported": dates, "requested": "2026-07-28" }),
    )
}

fn theirs(dates: &[&str]) -> ProbeDecision {
    no_common(dates.iter().map(|date| (*date).to_owned()).collect())
}

fn revision_of(verdict: &ProbeDecision) -> Option<Revision> {
    match verdict {
        ProbeDecision::Modern(revision, _) => Some(*revision),
        _ => None,
    }
}

const BOTH: [Binding; 2] = [Binding::Pipe, Binding::Http];

// spec: 2026-07-28 N-ERA-04, N-DISC-04
#[test]
fn a_discovery_decides_by_its_revisions() {
    for binding in BOTH {
        for dates in [
            &["2026-07-28"][..],
            &["2025-11-25", "2026-07-28", "2099-01-01"],
        ] {
            let verdict = result(&discovery(dates), binding);
            assert_eq!(revision_of(&verdict), Some(Revision::LATEST), "{dates:?}");
        }
        let legacy: [&[&str]; 2] = [&["2025-06-18"], &["2099-01-01", "2025-11-25"]];
        for dates in legacy {
            assert_eq!(result(&discovery(dates), binding), ProbeDecision::Legacy);
        }
        let disjoint: [&[&str]; 2] = [&["2099-01-01"], &[]];
        for dates in disjoint {
            assert_eq!(result(&discovery(dates), binding), theirs(dates));
        }
    }
}

// spec: 2026-07-28 A-40
#[test]
fn only_a_discovery_is_a_discovery() {
    for binding in BOTH {
        for other in [
            json!({}),
            json!({ "tools": [] }),
            json!({ "supportedVersions": "2026-07-28", "capabilities": {} }),
            json!({ "supportedVersions": ["2026-07-28"] }),
            json!({ "resultType": "input_required", "requestState": "s" }),
            json!({ "resultType": "strange", "supportedVersions": ["2026-07-28"], "capabilities": {} }),
            json!([]),
            json!(null),
        ] {
            assert_eq!(result(&other, binding), ProbeDecision::Legacy, "{other}");
        }
    }
}

// spec: 2026-07-28 N-VER-03, N-ERA-05, N-ERA-11
#[test]
fn a_modern_refusal_is_never_followed_by_a_handshake() {
    for binding in BOTH {
        let verdict = failed(&unsupported(&["2025-11-25", "2026-07-28"]), binding);
        assert_eq!(verdict, ProbeDecision::Retry(Revision::LATEST));
        let again = after_probe(Err(&unsupported(&["2026-07-28"])), binding, &MODERN, true);
        assert_eq!(again, theirs(&["2026-07-28"]));
        assert_eq!(
            failed(&unsupported(&["2099-01-01"]), binding),
            theirs(&["2099-01-01"])
        );
        for code in [-32020, -32021] {
            let failure = answered(code, json!({}));
            let PeerCallError::Answered(error) = &failure else {
                unreachable!("it was answered")
            };
            assert_eq!(
                failed(&failure, binding),
                ProbeDecision::Fail(ProbeError::Rejected(error.clone()))
            );
        }
    }
}

// spec: 2026-07-28 N-ERA-06, N-ERA-07
#[test]
fn any_other_error_is_a_legacy_servers() {
    for binding in BOTH {
        for code in [-32601, -32602, -32600, -32000, -32603, -32700, 0, 1, 401] {
            assert_eq!(
                failed(&answered(code, json!({})), binding),
                ProbeDecision::Legacy
            );
        }
        assert_eq!(
            failed(&unsupported(&["2025-11-25"]), binding),
            ProbeDecision::Legacy
        );
        for data in [
            json!(null),
            json!({}),
            json!({ "supported": [] }),
            json!({ "supported": 1 }),
        ] {
            assert_eq!(
                failed(&answered(-32022, data), binding),
                ProbeDecision::Legacy
            );
        }
        assert_eq!(
            failed(&PeerCallError::Contradiction, binding),
            ProbeDecision::Legacy
        );
    }
}

// spec: 2026-07-28 N-ERA-10, N-ERA-12, N-ERA-19
// hardening: H-163 (HTTP)
#[test]
fn over_http_only_a_refusal_without_a_message_is_evidence() {
    let lost = |loss| {
        failed(
            &PeerCallError::Lost(TransportError::new(loss)),
            Binding::Http,
        )
    };
    for status in [400, 404, 405, 406, 410, 415, 422] {
        assert_eq!(
            lost(TransportErrorKind::Status(status)),
            ProbeDecision::Legacy,
            "{status}"
        );
    }
    for status in [401, 403] {
        let error = TransportError::new(TransportErrorKind::Unauthorized(status));
        assert_eq!(
            lost(TransportErrorKind::Unauthorized(status)),
            ProbeDecision::Fail(ProbeError::Unauthorized(error))
        );
    }
    for loss in [
        TransportErrorKind::Status(500),
        TransportErrorKind::Status(503),
        TransportErrorKind::Status(302),
        TransportErrorKind::Unreachable,
        TransportErrorKind::Disconnected,
        TransportErrorKind::InvalidMessage,
        TransportErrorKind::TimedOut,
        TransportErrorKind::TooLarge,
    ] {
        let failure = PeerCallError::Lost(TransportError::new(loss));
        assert_eq!(
            lost(loss),
            ProbeDecision::Fail(ProbeError::NoAnswer(failure))
        );
    }
    let timed_out = PeerCallError::TimedOut(Duration::from_secs(10));
    assert_eq!(
        failed(&timed_out, Binding::Http),
        ProbeDecision::Fail(ProbeError::NoAnswer(timed_out.clone()))
    );
}

// spec: 2026-07-28 N-ERA-06, N-ERA-07
// hardening: H-163 (pipe)
#[test]
fn on_a_pipe_silence_and_the_end_are_a_legacy_servers() {
    let timed_out = PeerCallError::TimedOut(Duration::from_secs(10));
    assert_eq!(failed(&timed_out, Binding::Pipe), ProbeDecision::Legacy);
    for loss in [
        TransportErrorKind::Disconnected,
        TransportErrorKind::ProcessExited,
        TransportErrorKind::TimedOut,
    ] {
        let lost = PeerCallError::Lost(TransportError::new(loss));
        assert_eq!(failed(&lost, Binding::Pipe), ProbeDecision::Legacy);
    }
    for loss in [
        TransportErrorKind::Unreachable,
        TransportErrorKind::TooLarge,
    ] {
        let lost = PeerCallError::Lost(TransportError::new(loss));
        let fault = ProbeError::NoAnswer(lost.clone());
        assert_eq!(failed(&lost, Binding::Pipe), ProbeDecision::Fail(fault));
    }
}

#[test]
fn a_handshake_that_names_a_modern_revision_leads_to_another_probe() {
    let decide = |failure: &PeerCallError| after_handshake(failure, &MODERN);
    assert_eq!(
        decide(&unsupported(&["2026-07-28"])),
        HandshakeDecision::Probe(Revision::LATEST)
    );
    assert_eq!(
        decide(&unsupported(&["2099-01-01"])),
        HandshakeDecision::Fail
    );
    assert_eq!(
        decide(&answered(-32600, json!({}))),
        HandshakeDecision::Fail
    );
    let lost = PeerCallError::Lost(TransportError::new(TransportErrorKind::Status(404)));
    assert_eq!(decide(&lost), HandshakeDecision::Fail);
}
