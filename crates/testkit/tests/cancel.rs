//! Cancellation and timeouts, on both sides and in every revision.

use pintle_model::Revision;
use pintle_proto::{Lane, Limits, PeerCallError, TransmitKind};
use pintle_testkit::{CallBuilder, Endpoint, Pair, ReplyPolicy, Units, everything};
use serde_json::{Value, json};

const NOTHING: [Value; 0] = [];

fn busy_server(revision: Revision) -> Endpoint {
    let mut server = Endpoint::server_at(revision);
    server.answers_by_hand();
    server
}

// spec: 2025-11-25 CANC-06, CANC-07
// spec: 2026-07-28 N-CANC-04, N-CANC-05
#[test]
fn a_cancelled_request_is_dropped_and_never_answered() {
    for revision in Revision::ALL {
        let mut server = busy_server(revision);
        server.request(1, "tools/call", json!({ "name": "t" }));
        let key = server.open()[0];
        server.notification(
            "notifications/cancelled",
            json!({ "requestId": 1, "reason": "changed my mind" }),
        );
        assert_eq!(server.cancelled(), [key]);
        assert!(!server.engine().is_open(key));
        server.engine().progress(key, 1.0, None, None);
        server
            .engine()
            .log(key, "emergency".into(), None, json!("x"));
        assert_eq!(server.sent(), NOTHING);
        server.request(1, "tools/list", json!({}));
        assert_eq!(server.open().len(), 1, "the id is free again");
    }
}

// spec: 2025-11-25 CANC-08, CANC-10, CANC-14
// spec: 2026-07-28 N-CANC-08, N-CANC-10, N-CANC-11
#[test]
fn a_cancellation_of_nothing_is_ignored() {
    for revision in Revision::ALL {
        let mut server = busy_server(revision);
        server.request(1, "tools/call", json!({ "name": "t" }));
        server.request(2, "tools/call", json!({ "name": "t" }));
        server.answer_usually(server.open()[1]);
        server.sent();
        let params = [
            json!({ "requestId": 2 }),
            json!({ "requestId": "1" }),
            json!({ "requestId": 7 }),
            json!({}),
            json!({ "requestId": null }),
            json!({ "requestId": [1] }),
            json!({ "requestId": { "a": 1 } }),
            json!({ "requestId": 1, "reason": 5 }),
            Value::Null,
        ];
        for params in params {
            server.notification("notifications/cancelled", params);
            assert_eq!(server.sent(), NOTHING);
            assert_eq!(server.open().len(), 1);
        }
    }
}

// spec: 2025-11-25 CANC-06
// spec: 2026-07-28 N-CANC-04
#[test]
fn a_request_that_waits_in_line_can_be_cancelled_and_never_runs() {
    for revision in Revision::ALL {
        let mut limits = Limits::default();
        limits.max_running_requests = 1;
        let mut server = Endpoint::server_with(everything(), limits).opened_at(revision);
        server.answers_by_hand();
        for id in 1..=3 {
            server.request(id, "tools/call", json!({ "name": "t" }));
        }
        server.notification("notifications/cancelled", json!({ "requestId": 2 }));
        server.answer_usually(server.open()[0]);
        server.answer_usually(server.open()[0]);
        let answered: Vec<_> = server
            .sent()
            .iter()
            .map(|message| message["id"].clone())
            .collect();
        assert_eq!(answered, [json!(1), json!(3)]);
    }
}

// spec: 2026-07-28 N-CANC-05
// spec: 2025-11-25 CANC-07
#[test]
fn queued_notices_of_a_cancelled_request_are_not_sent() {
    for revision in Revision::ALL {
        let mut server = busy_server(revision);
        server.request(
            1,
            "tools/call",
            json!({ "name": "t", "_meta": { "progressToken": 1 } }),
        );
        let key = server.open()[0];
        server.engine().progress(key, 1.0, None, None);
        server.notification("notifications/cancelled", json!({ "requestId": 1 }));
        assert_eq!(server.sent(), NOTHING);
    }
}

// spec: 2025-11-25 CANC-01, CANC-02, CANC-05, CANC-09
// spec: 2026-07-28 N-CANC-01, N-CANC-02, N-CANC-06, N-CANC-09
#[test]
fn a_call_that_is_given_up_ends_at_once_and_is_cancelled() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let call = client.ask(CallBuilder::tool("t"));
        let id = client.sent()[0]["id"].clone();
        client.cancel(call);
        assert_eq!(client.settled(call), Err(PeerCallError::Cancelled));
        let sent = client.sent();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0]["method"], "notifications/cancelled");
        assert_eq!(sent[0]["params"]["requestId"], id);
        assert!(sent[0]["params"]["reason"].is_string() && sent[0].get("id").is_none());
        client.response(id, json!({}));
        assert_eq!(
            client.settled(call),
            Err(PeerCallError::Cancelled),
            "a late answer changes nothing"
        );
        assert_eq!(client.engine().late_answers(), 1);
        client.cancel(call);
        assert_eq!(client.sent(), NOTHING, "nothing is cancelled twice");
    }
}

// spec: 2025-11-25 CANC-02
// spec: 2026-07-28 N-CANC-06
#[test]
fn a_call_that_has_ended_cannot_be_cancelled() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let call = client.ask(CallBuilder::tool("t"));
        let id = client.sent()[0]["id"].clone();
        client.response(id, json!({}));
        client.cancel(call);
        assert_eq!(client.sent(), NOTHING);
        assert!(client.settled(call).is_ok());
    }
}

// spec: 2025-11-25 TIME-01, TIME-02, TIME-03
// spec: 2026-07-28 N-CANC-12
// hardening: H-170
#[test]
fn a_call_that_times_out_is_cancelled() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let usual = client.ask(CallBuilder::tool("usual"));
        let hasty = client.ask(CallBuilder::tool("hasty").timeout(100.ms()));
        let ids: Vec<_> = client
            .sent()
            .iter()
            .map(|message| message["id"].clone())
            .collect();
        client.advance(99.ms());
        assert!(client.outcomes(hasty).is_empty());
        client.advance(1.ms());
        assert_eq!(
            client.settled(hasty),
            Err(PeerCallError::TimedOut(100.ms()))
        );
        assert_eq!(client.sent()[0]["params"]["requestId"], ids[1]);
        client.advance(59.secs());
        assert!(client.outcomes(usual).is_empty());
        client.advance(1.secs());
        assert_eq!(
            client.settled(usual),
            Err(PeerCallError::TimedOut(60.secs()))
        );
        assert_eq!(client.sent()[0]["params"]["requestId"], ids[0]);
    }
}

// spec: 2025-11-25 TIME-04, TIME-05
// spec: 2026-07-28 N-CANC-13
#[test]
fn progress_starts_the_wait_again_up_to_the_ceiling() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let call = client.ask(
            CallBuilder::tool("t")
                .with_progress()
                .timeouts(100.ms(), 250.ms()),
        );
        let token = client.sent()[0]["params"]["_meta"]["progressToken"].clone();
        for step in 1..=3 {
            client.advance(80.ms());
            assert!(client.outcomes(call).is_empty(), "after {} ms", 80 * step);
            client.notification(
                "notifications/progress",
                json!({ "progressToken": token, "progress": step }),
            );
        }
        client.advance(9.ms());
        assert!(client.outcomes(call).is_empty());
        client.advance(1.ms());
        assert!(
            matches!(client.settled(call), Err(PeerCallError::TimedOut(_))),
            "however much progress is made"
        );
    }
}

// spec: 2025-11-25 TIME-01, TIME-02
#[test]
fn a_question_to_the_client_runs_out_of_patience_too() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server_at(revision);
        let call = server.ask(CallBuilder::new("roots/list").timeout(5.secs()));
        let id = server.sent()[0]["id"].clone();
        server.advance(5.secs());
        assert!(matches!(
            server.settled(call),
            Err(PeerCallError::TimedOut(_))
        ));
        let sent = server.sent();
        assert_eq!(
            (&sent[0]["method"], &sent[0]["params"]["requestId"]),
            (&json!("notifications/cancelled"), &id)
        );
    }
}

// spec: 2025-11-25 CANC-02, CANC-05
#[test]
fn a_question_is_called_off_where_it_was_asked() {
    for revision in Revision::legacy() {
        let mut server = busy_server(revision);
        server.request(1, "tools/call", json!({ "name": "t" }));
        let reply = Lane::Reply(server.open()[0]);
        for lane in [reply, Lane::Session] {
            let given_up = server.ask(CallBuilder::new("roots/list").on(lane));
            server.ask(CallBuilder::new("roots/list").on(lane).timeout(5.secs()));
            server.transmits();
            server.cancel(given_up);
            server.advance(5.secs());
            let sent = server.transmits();
            assert_eq!(sent.len(), 2, "given up, and not answered in time");
            for sent in sent {
                assert_eq!(sent.message["method"], "notifications/cancelled");
                assert_eq!(sent.lane, lane);
            }
        }
    }
}

// spec: 2026-07-28 N-CANC-07
#[test]
fn a_modern_server_cancels_nothing() {
    let mut server = busy_server(Revision::LATEST);
    server.request(1, "tools/call", json!({ "name": "t" }));
    let key = server.open()[0];
    server.engine().cancel_request(key);
    server.advance(20.minutes());
    assert_eq!(server.sent(), NOTHING);
}

// spec: 2025-11-25 LIFE-19
// hardening: H-172
#[test]
fn the_end_of_the_conversation_ends_everything_once() {
    for revision in Revision::ALL {
        let mut server = busy_server(revision);
        server.request(1, "tools/call", json!({ "name": "t" }));
        let key = server.open()[0];
        server.close();
        server.close();
        assert_eq!(server.cancelled(), [key]);
        assert_eq!((server.sent(), server.engine().in_flight()), (vec![], 0));
        let mut client = Endpoint::client_at(revision);
        let call = client.ask(CallBuilder::tool("t"));
        client.close();
        client.close();
        assert_eq!(client.settled(call), Err(PeerCallError::Closed));
        assert_eq!(
            client.try_ask(CallBuilder::tool("t")),
            Err(pintle_proto::SendError::Closed)
        );
        assert_eq!((client.sent(), client.next_due()), (vec![], None));
    }
}

// spec: 2025-11-25 CANC-10
// spec: 2026-07-28 N-CANC-10
#[test]
fn an_answer_and_a_cancellation_may_cross() {
    for revision in Revision::ALL {
        let mut pair = Pair::at(revision).latency(50.ms());
        pair.server.answers(ReplyPolicy::AtOnce);
        let call = pair.client.ask(CallBuilder::tool("t"));
        pair.run_for(60.ms());
        pair.client.cancel(call);
        pair.run();
        assert_eq!(pair.client.settled(call), Err(PeerCallError::Cancelled));
        assert_eq!(pair.client.engine().late_answers(), 1);
        assert!(
            pair.server.cancelled().is_empty(),
            "it was answered already"
        );
    }
}

// spec: 2026-07-28 N-CANC-12
#[test]
fn a_late_answer_is_dropped() {
    for revision in Revision::ALL {
        let mut pair = Pair::at(revision).latency(50.ms());
        pair.server.answers_after(80.ms());
        let call = pair.client.ask(CallBuilder::tool("slow").timeout(100.ms()));
        pair.run();
        assert_eq!(
            pair.client.settled(call),
            Err(PeerCallError::TimedOut(100.ms()))
        );
        assert_eq!(pair.client.engine().late_answers(), 1);
    }
}

// spec: 2025-11-25 CANC-07
#[test]
fn an_answer_that_is_queued_already_is_still_sent() {
    for revision in Revision::ALL {
        let mut server = busy_server(revision);
        server.request(1, "tools/call", json!({ "name": "t" }));
        server.answer_usually(server.open()[0]);
        server.notification("notifications/cancelled", json!({ "requestId": 1 }));
        let sent = server.transmits();
        assert!(matches!(sent[..], [ref one] if matches!(one.kind, TransmitKind::Answer(_))));
        assert!(server.cancelled().is_empty());
    }
}

// spec: 2025-11-25 CANC-02
// spec: 2026-07-28 N-CANC-06
#[test]
fn a_call_that_has_not_left_yet_never_does() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let call = client.ask(CallBuilder::tool("t"));
        client.cancel(call);
        let hasty = client.ask(CallBuilder::tool("t").timeout(100.ms()));
        client.advance(1.secs());
        assert_eq!(client.settled(call), Err(PeerCallError::Cancelled));
        assert!(client.settled(hasty).is_err());
        assert_eq!(client.sent(), NOTHING, "there is nothing to tell");
    }
}

// spec: 2025-11-25 CANC-02, CANC-07
#[test]
fn a_question_of_a_cancelled_request_is_not_asked() {
    for revision in Revision::legacy() {
        let mut server = busy_server(revision);
        server.request(1, "tools/call", json!({ "name": "t" }));
        let lane = Lane::Reply(server.open()[0]);
        let call = server.ask(CallBuilder::new("roots/list").on(lane));
        server.notification("notifications/cancelled", json!({ "requestId": 1 }));
        assert_eq!(server.settled(call), Err(PeerCallError::Cancelled));
        assert_eq!(server.sent(), NOTHING);
        assert_eq!(
            server.try_ask(CallBuilder::new("roots/list").on(lane)),
            Err(pintle_proto::SendError::Settled)
        );
    }
}

// hardening: H-161
#[test]
fn a_question_that_is_answered_before_it_left_ends_once() {
    let mut server = busy_server(Revision::LATEST_LEGACY);
    server.request(1, "tools/call", json!({ "name": "t" }));
    let lane = Lane::Reply(server.open()[0]);
    let call = server.ask(CallBuilder::new("roots/list").on(lane));
    server.response(1, json!({ "roots": [] }));
    server.notification("notifications/cancelled", json!({ "requestId": 1 }));
    assert!(server.settled(call).is_ok());
}

#[test]
fn nothing_is_queued_after_the_end() {
    for revision in Revision::ALL {
        let mut server = busy_server(revision);
        server.request(
            1,
            "tools/call",
            json!({ "name": "t", "_meta": { "progressToken": 1 } }),
        );
        let key = server.open()[0];
        server.close();
        server.engine().publish(&pintle_proto::Change::Tools);
        server.engine().progress(key, 1.0, None, None);
        server.receive("garbage");
        server.request(2, "tools/list", json!({}));
        assert_eq!(server.engine().queued(), 0);
    }
}

#[test]
fn a_request_that_is_cancelled_before_it_was_handed_out_never_is() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        let (now, engine) = (server.now(), server.engine());
        for id in [1, 2] {
            let params = pintle_testkit::with_envelope(revision, json!({ "name": "t" }));
            engine.handle_text(
                now,
                pintle_testkit::request(id, "tools/call", params)
                    .to_string()
                    .as_bytes(),
            );
        }
        engine.handle_text(
            now,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        );
        let events: Vec<_> = std::iter::from_fn(|| engine.poll_event()).collect();
        let handed_out = events
            .iter()
            .filter(|event| matches!(event, pintle_proto::Event::Request(..)));
        assert_eq!(handed_out.count(), 1, "{events:?}");
    }
}
