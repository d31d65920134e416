//! Every queue has a bound, and never exceeds it.

mod client;

use pintle_model::{Error, Revision};
use pintle_proto::{Limits, PeerCallError, SendError};
use pintle_testkit::{CallBuilder, Endpoint, Pair, Units, everything, request};
use serde_json::{Value, json};

fn server(revision: Revision, change: impl FnOnce(&mut Limits)) -> Endpoint {
    let mut limits = Limits::default();
    change(&mut limits);
    Endpoint::server_with(everything(), limits).opened_at(revision)
}

fn tool(server: &mut Endpoint, id: i64) {
    server.request(
        id,
        "tools/call",
        json!({ "name": "t", "_meta": { "progressToken": id } }),
    );
}

#[test]
fn requests_beyond_the_limit_wait_in_line_and_run_in_order() {
    for revision in Revision::ALL {
        let mut server = server(revision, |limits| {
            limits.max_running_requests = 2;
            limits.max_waiting_requests = 3;
        });
        server.answers_by_hand();
        for id in 1..=5 {
            assert!(server.engine().can_read());
            tool(&mut server, id);
        }
        assert!(!server.engine().can_read());
        assert_eq!(server.open().len(), 2);
        let mut answered = Vec::new();
        while let Some(key) = server.open().first().copied() {
            server.answer_usually(key);
            answered.extend(
                server
                    .sent()
                    .iter()
                    .filter_map(|message| message["id"].as_i64()),
            );
        }
        assert_eq!(answered, [1, 2, 3, 4, 5]);
        assert!(server.engine().can_read());
    }
}

#[test]
fn requests_hold_so_many_bytes_and_are_joined_by_no_others() {
    for revision in Revision::ALL {
        let mut server = server(revision, |limits| {
            limits.max_pending_request_bytes = 1 << 20
        });
        server.answers_by_hand();
        let before = 1 << 10;
        let mut call = |id: i64, bytes: usize| {
            let arguments = json!({ "text": "x".repeat(bytes) });
            server.request(
                id,
                "tools/call",
                json!({ "name": "t", "arguments": arguments }),
            );
            server.engine().can_read()
        };
        assert!(call(1, (1 << 20) - before), "a little less than the limit");
        assert!(!call(2, before));
        assert_eq!(server.open().len(), 2, "both run");
        let first = server.open()[0];
        server.answer_usually(first);
        assert!(server.engine().can_read());
        // A cancelled request makes room, too.
        server.request(
            3,
            "tools/call",
            json!({ "name": "t", "_meta": { "x": "x".repeat(1 << 20) } }),
        );
        assert!(!server.engine().can_read());
        server.notification("notifications/cancelled", json!({ "requestId": 3 }));
        assert!(server.engine().can_read());
    }
}

// Responses must be read even if the queue is full, because running handlers may wait for them, and
// only these handlers empty the queue.
#[test]
fn a_full_line_is_read_on_while_an_answer_is_waited_for() {
    let mut server = server(Revision::LATEST_LEGACY, |limits| {
        limits.max_running_requests = 1;
        limits.max_waiting_requests = 2;
    });
    server.answers_by_hand();
    (1..=3).for_each(|id| tool(&mut server, id));
    assert!(!server.engine().can_read());
    let call = server.ask(CallBuilder::new("roots/list"));
    assert!(server.engine().can_read(), "the answer may come");
    (4..=20).for_each(|id| tool(&mut server, id));
    let refused = server
        .sent()
        .into_iter()
        .filter(|sent| sent["error"]["code"] == -32603);
    assert!(refused.count() > 0, "the line does not grow for ever");
    server.response(json!(call.to_request_id()), json!({ "roots": [] }));
    assert!(!server.engine().can_read());
}

// hardening: H-132
#[test]
fn a_peer_that_reads_nothing_is_read_no_further() {
    for revision in Revision::ALL {
        let mut server = server(revision, |_| {});
        let mut received = 0;
        while server.engine().can_read() && received < 100_000 {
            received += 1;
            tool(&mut server, received);
        }
        assert!(received < 100_000, "answers are queued without bound");
        assert_eq!(
            server.sent().len() as i64,
            received,
            "all that was read is answered"
        );
        assert!(server.engine().can_read());
    }
}

// hardening: H-132
#[test]
fn two_thousand_requests_of_a_slow_reader_are_answered() {
    let mut pair = Pair::at(Revision::LATEST_LEGACY);
    pair.down.set_pace(1.ms(), 8);
    for id in 0..2000 {
        pair.server
            .receive(&request(format!("r{id}"), "tools/list", json!({})).to_string());
    }
    pair.run();
    assert_eq!(pair.server_said().len(), 2000);
}

// spec: 2025-11-25 LOG-08 (rate), LOG-11 (rate), PROG-14
// hardening: H-201
// spec: 2026-07-28 N-PROG-06
#[test]
fn notices_are_bounded_and_answers_are_not_lost() {
    for revision in Revision::ALL {
        let mut server = server(revision, |limits| limits.max_queued_notices = 10);
        server.answers_by_hand();
        server.exchange("level", "logging/setLevel", json!({ "level": "debug" }));
        for id in 1..=5 {
            tool(&mut server, id);
        }
        let keys = server.open();
        for step in 0..1000 {
            for key in &keys {
                server.engine().progress(*key, f64::from(step), None, None);
                server.engine().log(*key, "error".into(), None, json!(step));
            }
        }
        assert!(
            server.engine().queued() <= 10,
            "{} are queued",
            server.engine().queued()
        );
        assert!(server.engine().dropped_notices() > 0);
        for key in keys {
            server.answer_usually(key);
        }
        let answers = server
            .sent()
            .iter()
            .filter(|message| message["result"].is_object())
            .count();
        assert_eq!(answers, 5);
    }
}

// hardening: H-166
#[test]
fn garbage_does_not_fill_the_queue() {
    let mut server = server(Revision::LATEST, |limits| limits.max_queued_notices = 10);
    for _ in 0..1000 {
        server.receive("garbage");
    }
    assert!(server.engine().queued() <= 10);
}

#[test]
fn an_answer_of_the_limit_is_sent_and_a_larger_one_is_an_error_instead() {
    let long = "x".repeat(2_000);
    for revision in Revision::ALL {
        let answered = |limit: usize, fails: bool| {
            let mut server = server(revision, |limits| limits.max_outgoing_bytes = limit);
            server.answers_by_hand();
            tool(&mut server, 1);
            let key = server.open()[0];
            match fails {
                true => server.fail(key, Error::invalid_params(long.clone())),
                false => server.answer(key, &json!({ "content": [], "x": long })),
            };
            let sent = server.sent();
            assert_eq!((sent.len(), &sent[0]["id"]), (1, &json!(1)));
            (sent[0].to_string().len(), sent[0]["error"]["code"].as_i64())
        };
        for (fails, code) in [(false, None), (true, Some(-32602))] {
            let (bytes, _) = answered(1 << 20, fails);
            assert_eq!(answered(bytes, fails).1, code);
            assert_eq!(answered(bytes - 1, fails).1, Some(-32603));
        }
    }
}

#[test]
fn unsolicited_messages_are_refused_beyond_the_limit() {
    let long = || json!({ "name": "x".repeat(2_000) });
    let ask = |end: &mut Endpoint, method: &str| {
        let asked = end.try_ask(CallBuilder::new(method).with(long()));
        asked.map(drop)
    };
    let notify = |end: &mut Endpoint, method: &str| {
        let params = long();
        end.engine().notify(method, params.as_object())
    };
    type Act<'a> = &'a dyn Fn(&mut Endpoint, &str) -> Result<(), SendError>;
    let acts: [(bool, Act<'_>, &str); 4] = [
        (true, &ask, "roots/list"),
        (true, &notify, "notifications/any"),
        (false, &ask, "tools/call"),
        (false, &notify, "notifications/any"),
    ];
    for (serves, act, method) in acts {
        let sent = |limit: usize| {
            let mut limits = Limits::default();
            limits.max_outgoing_bytes = limit;
            let mut end = match serves {
                true => {
                    Endpoint::server_with(everything(), limits).opened_at(Revision::LATEST_LEGACY)
                }
                false => Endpoint::client_with(limits).welcomed_at(Revision::LATEST_LEGACY),
            };
            end.sent();
            let refusal = act(&mut end, method).err();
            (
                end.sent().first().map(|sent| sent.to_string().len()),
                refusal,
            )
        };
        let (bytes, _) = sent(1 << 20);
        let bytes = bytes.expect("it is sent");
        assert_eq!(sent(bytes), (Some(bytes), None), "{method}");
        let limit = bytes - 1;
        let refused = (None, Some(SendError::TooLarge { limit }));
        assert_eq!(sent(limit), refused, "{method}");
    }
}

// hardening: H-202
#[test]
fn a_message_may_have_as_many_values_as_the_limit() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[0,",[{"]}}"#;
    // Brackets inside the text do not count.
    let values = ping.matches([',', '{', '[']).count() - 3;
    for (values, code) in [(values, None), (values - 1, Some(-32600))] {
        let mut limits = Limits::default();
        limits.max_values_per_message = values;
        let mut server = Endpoint::server_with(everything(), limits);
        server.receive(ping);
        let sent = server.sent();
        assert_eq!(sent[0]["id"], json!(1));
        assert_eq!(sent[0]["error"]["code"].as_i64(), code, "{values}");
    }
}

// hardening: H-202
#[test]
fn a_client_takes_ten_times_as_many_values_and_not_one_more() {
    for revision in Revision::ALL {
        for (zeros, is_taken) in [(96, true), (97, false)] {
            let mut limits = Limits::default();
            limits.max_values_per_message = 10;
            let mut client = Endpoint::client_with(limits).welcomed_at(revision);
            let call = client.ask(CallBuilder::tool("t"));
            let id = client.sent()[0]["id"].clone();
            let zeros = vec!["0"; zeros].join(",");
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":[{zeros}]}}}}"#);
            let marks = answer.matches([',', '{', '[']).count();
            assert_eq!(marks, if is_taken { 100 } else { 101 });
            client.receive(&answer);
            let settled = client.settled(call).map(drop);
            let expected = if is_taken {
                Ok(())
            } else {
                Err(PeerCallError::Contradiction)
            };
            assert_eq!(settled, expected, "{revision}");
        }
    }
}

#[test]
fn calls_are_bounded_and_an_ended_call_makes_room() {
    for revision in Revision::ALL {
        let mut limits = Limits::default();
        limits.max_calls = 2;
        let mut client = Endpoint::client_with(limits).welcomed_at(revision);
        let first = client.ask(CallBuilder::tool("t"));
        client.ask(CallBuilder::tool("t"));
        assert_eq!(
            client.try_ask(CallBuilder::tool("t")),
            Err(SendError::TooManyCalls { limit: 2 })
        );
        client.cancel(first);
        assert!(client.try_ask(CallBuilder::tool("t")).is_ok());
    }
}

// hardening: H-121, H-171
#[test]
fn messages_may_arrive_byte_by_byte() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        let params = pintle_testkit::with_envelope(revision, json!({ "name": "t" }));
        let line = format!("{}\r\n", request(1, "tools/call", params));
        for byte in line.as_bytes() {
            server.arrive(&[*byte]);
        }
        assert_eq!(server.sent().len(), 1);
    }
}

// hardening: H-116, H-117, H-120, H-123
#[test]
fn a_pipe_survives_invalid_lines() {
    let mut server = Endpoint::server_at(Revision::LATEST_LEGACY);
    server.arrive(b"\xff\xfe\n\n  \r\n{\n");
    let codes: Vec<_> = server
        .sent()
        .iter()
        .map(|message| message["error"]["code"].clone())
        .collect();
    assert_eq!(codes, [json!(-32700), json!(-32700)]);
    for _ in 0..33 {
        server.arrive(&vec![b'x'; 1 << 20]);
    }
    server.arrive(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    let sent = server.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!((sent[0].get("id"), &sent[1]["result"]), (None, &json!({})));
}

// spec: 2025-11-25 LIFE-20
// hardening: H-130
#[test]
fn a_client_that_closes_its_input_gets_its_answers() {
    for revision in Revision::ALL {
        let mut pair = Pair::at(revision).latency(10.ms());
        pair.server.answers_after(100.ms());
        let call = pair.client.ask(CallBuilder::tool("t"));
        pair.half_close();
        pair.run();
        assert_eq!(
            pair.client.settled(call).expect("an answer")["content"],
            json!([])
        );
        assert_eq!(
            pair.client.try_ask(CallBuilder::tool("t")),
            Err(SendError::Closed)
        );
    }
}

#[test]
fn a_pipe_that_is_cut_ends_every_call() {
    for revision in Revision::ALL {
        let mut pair = Pair::at(revision).latency(10.ms());
        pair.server.answers_after(100.ms());
        let call = pair.client.ask(CallBuilder::tool("t"));
        pair.run_for(50.ms());
        pair.cut();
        pair.run();
        assert_eq!(
            pair.client.settled(call),
            Err(pintle_proto::PeerCallError::Closed)
        );
        assert_eq!(pair.server.engine().in_flight(), 0);
        assert_eq!(pair.server_said(), Vec::<&Value>::new());
    }
}

#[test]
fn the_messages_of_a_client_are_listed_apart_from_those_of_its_server() {
    let mut pair = Pair::new();
    pair.client.ask(CallBuilder::tool("t"));
    pair.run();
    let methods = |messages: Vec<&Value>| {
        let method = |message: &Value| message["method"].as_str().map(str::to_owned);
        messages.into_iter().map(method).collect::<Vec<_>>()
    };
    assert_eq!(methods(pair.client_said()), [Some("tools/call".into())]);
    assert_eq!(methods(pair.server_said()), [None]);
}

#[test]
fn notices_to_a_peer_that_does_not_read_are_bounded_by_the_queue() {
    let mut server = server(Revision::LATEST_LEGACY, |limits| {
        limits.max_queued_notices = 3
    });
    for _ in 0..3 {
        assert_eq!(server.engine().notify("notifications/any", None), Ok(()));
    }
    assert_eq!(
        server.engine().notify("notifications/any", None),
        Err(SendError::PeerTooSlow)
    );
    assert_eq!(server.sent().len(), 3);
    assert_eq!(server.engine().notify("notifications/any", None), Ok(()));
}

// spec: 2025-11-25 ELIC-28, ELIC-29
#[test]
fn the_oldest_visits_are_forgotten_and_each_end_is_reported_once() {
    let mut server = server(Revision::LATEST_LEGACY, |limits| limits.max_visits = 2);
    server.answers_by_hand();
    tool(&mut server, 1);
    let key = server.open()[0];
    for id in ["a", "b", "b", "c"] {
        server.engine().expect_visit(key, id);
    }
    assert!(!server.engine().end_visit("a"), "it was forgotten");
    assert!(!server.engine().end_visit("d"), "it was never asked for");
    assert!(server.engine().end_visit("b") && !server.engine().end_visit("b"));
    assert!(server.engine().end_visit("c"));
    let notices = server.sent();
    let ids: Vec<&Value> = notices
        .iter()
        .map(|notices| &notices["params"]["elicitationId"])
        .collect();
    assert_eq!(ids, ["b", "c"]);
}

// spec: 2025-11-25 ELIC-27
// spec: 2026-07-28 N-ELIC-20
#[test]
fn the_end_of_a_visit_is_reported_in_one_revision_only() {
    for revision in Revision::ALL {
        let mut server = server(revision, |_| ());
        server.answers_by_hand();
        tool(&mut server, 1);
        let key = server.open()[0];
        server.engine().expect_visit(key, "a");
        assert_eq!(
            server.engine().end_visit("a"),
            revision == Revision::LATEST_LEGACY
        );
    }
}
