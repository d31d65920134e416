//! A client that breaks every rule sends messages to a server.

mod hostile;

use std::sync::Arc;
use std::time::Duration;

use pintle_model::{Error, Feature, Revision};
use pintle_proto::{CallId, Change, Connection, Lane, Limits, Received, RequestKey, Terms};
use serde_json::{Value, json};

use self::hostile::{JUNK, METHODS, NOTICES, params_of};
use super::oracle::Oracle;
use super::{History, InvariantError};
use crate::endpoint::{CallBuilder, Endpoint};
use crate::pending_requests::ReplyPolicy;
use crate::rng::Rng;
use crate::words::{everything, initialize, with_envelope};

const STEPS: usize = 150;

/// Plays one schedule against a server.
///
/// # Errors
///
/// A request that was answered twice, or answered and cancelled, or neither. A message on a lane
/// that had ended. A queue past its bound. A call that ended twice. A request sent in a revision
/// without requests of servers.
pub fn server(seed: u64) -> Result<(), InvariantError> {
    let mut game = Game::new(seed);
    let played = game.play();
    played.map_err(|what| game.history.violated(what))
}

struct Game {
    rng: Rng,
    history: History,
    revision: Revision,
    limits: Limits,
    server: Endpoint,
    oracle: Oracle,
    seen_cancelled: usize,
    calls: Vec<CallId>,
    next_id: i64,
}

impl Game {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let revision = *rng.pick(&Revision::ALL).expect("there are revisions");
        let mut limits = Limits::default();
        limits.max_running_requests = 1 + rng.below(4);
        limits.max_waiting_requests = 1 + rng.below(6);
        limits.max_calls = 3;
        limits.max_queued_notices = 2 + rng.below(6);
        limits.max_listeners = 1 + rng.below(3);
        let fixed = rng.once_in(4);
        let mut history = History::new(seed);
        history.note(format!(
            "a server at {revision}, terms settled outside: {fixed}, {limits:?}"
        ));
        let mut server = begin(revision, &limits, fixed);
        let wait = rng.up_to(Duration::from_millis(50));
        let reply_policy = *rng
            .pick(&[
                ReplyPolicy::ByHand,
                ReplyPolicy::After(wait),
                ReplyPolicy::AtOnce,
            ])
            .expect("a manner");
        server.answers(reply_policy);
        Self {
            rng,
            history,
            revision,
            limits,
            server,
            oracle: Oracle::default(),
            seen_cancelled: 0,
            calls: Vec::new(),
            next_id: 1,
        }
    }

    fn play(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.step()?;
            self.check()?;
            if self.rng.once_in(3) {
                self.drain(1 + self.rng.clone().below(4))?;
            }
            if self.rng.once_in(400) {
                return self.disconnect();
            }
        }
        self.finish()
    }

    fn step(&mut self) -> Result<(), String> {
        match self.rng.below(20) {
            0..=6 => self.receive_request(),
            7 => self.receive_duplicate(),
            8..=9 => self.receive_cancellation(),
            10 => self.receive_one_of(&JUNK),
            11 => self.receive_one_of(&NOTICES),
            12 => self.receive_response(),
            13..=14 => {
                self.answer();
                Ok(())
            }
            15..=16 => {
                self.notify();
                Ok(())
            }
            17 => self.call(),
            18 => {
                self.publish();
                Ok(())
            }
            _ => {
                self.pass();
                Ok(())
            }
        }
    }

    fn receive_request(&mut self) -> Result<(), String> {
        let id = match self.rng.below(3) {
            0 => json!(format!("s{}", self.next_id)),
            _ => json!(self.next_id),
        };
        self.next_id += 1;
        let method = *self.rng.pick(&METHODS).expect("there are methods");
        let mut params = params_of(method);
        if self.rng.once_in(2) {
            params["_meta"] = json!({ "progressToken": id });
        }
        let message = match self.rng.below(12) {
            0 => initialize(id.clone(), self.revision.as_str()),
            1 => json!({ "jsonrpc": "2.0", "id": id, "method": method }),
            _ => {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": with_envelope(self.revision, params) })
            }
        };
        self.receive(&message.to_string(), Some(id))
    }

    fn receive_duplicate(&mut self) -> Result<(), String> {
        let ids = self.oracle.ids(true);
        let Some(id) = self.rng.pick(&ids).cloned() else {
            return Ok(());
        };
        let params = with_envelope(self.revision, params_of("tools/call"));
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.receive(&message.to_string(), Some(id))
    }

    fn receive_cancellation(&mut self) -> Result<(), String> {
        let ids = self.oracle.ids(self.rng.clone().below(3) > 0);
        let id = self.rng.pick(&ids).cloned().unwrap_or(json!("never"));
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        self.receive(&message.to_string(), None)
    }

    fn receive_one_of(&mut self, texts: &[&'static str]) -> Result<(), String> {
        let text = *self.rng.pick(texts).expect("there are texts");
        self.receive(text, None)
    }

    fn receive_response(&mut self) -> Result<(), String> {
        let id = self.rng.below(6);
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        self.receive(&message.to_string(), None)
    }

    // A driver reads only while there is room; cancellations are read a little further.
    fn receive(&mut self, text: &str, id: Option<Value>) -> Result<(), String> {
        if !self.server.engine().can_read() {
            return self.drain(usize::MAX);
        }
        self.history.note(format!("< {text}"));
        match (self.server.receive(text), id) {
            (Received::Request(key), Some(id)) => self.oracle.received(key, id)?,
            (Received::Request(key), None) => return Err(format!("{key:?} is no request")),
            (_, Some(id)) => return Err(format!("request {id} was not taken for one")),
            (_, None) => {}
        }
        self.note_cancelled()
    }

    fn note_cancelled(&mut self) -> Result<(), String> {
        let new = self.server.cancelled()[self.seen_cancelled..].to_vec();
        self.seen_cancelled += new.len();
        for key in new {
            self.history.note(format!("cancelled {key:?}"));
            self.oracle.cancelled(key)?;
        }
        Ok(())
    }

    fn answer(&mut self) {
        let open = self.server.open();
        let Some(key) = self.rng.pick(&open).copied() else {
            return;
        };
        self.history.note(format!("answer {key:?}"));
        if self.rng.once_in(4) {
            self.server.fail(key, Error::internal());
        } else {
            self.server.answer_usually(key);
        }
    }

    fn any_key(&mut self) -> Option<RequestKey> {
        let keys = self.oracle.keys();
        self.rng.pick(&keys).copied()
    }

    fn notify(&mut self) {
        let Some(key) = self.any_key() else { return };
        let amount = self.rng.below(5);
        self.history
            .note(format!("progress or log {amount} of {key:?}"));
        if self.rng.once_in(2) {
            let amount = [f64::NAN, -1.0, 0.5, 1.0, 2.0][amount];
            self.server.engine().progress(key, amount, Some(2.0), None);
        } else {
            self.server
                .engine()
                .log(key, "error".into(), None, json!(amount));
        }
    }

    fn call(&mut self) -> Result<(), String> {
        let lane = match self.any_key() {
            Some(key) if self.rng.once_in(2) && self.server.engine().is_open(key) => {
                Lane::Reply(key)
            }
            _ => Lane::Session,
        };
        let ask = CallBuilder::new("roots/list")
            .on(lane)
            .timeout(Duration::from_millis(100));
        let may = self.may_call(lane);
        let Ok(call) = self.server.try_ask(ask) else {
            return Ok(());
        };
        self.history.note(format!("call {call:?} on {lane:?}"));
        self.calls.push(call);
        if may {
            Ok(())
        } else {
            Err("a server made a call in a revision that has none".into())
        }
    }

    // A client of both eras may call in both ways on one pipe, because each request has its own terms.
    fn may_call(&mut self, lane: Lane) -> bool {
        let asks = |terms: &Terms| terms.has(Feature::ServerRequests);
        let of_lane = match lane {
            Lane::Reply(key) => self.server.terms(key).is_none_or(asks),
            Lane::Session => true,
        };
        of_lane
            && self
                .server
                .engine()
                .session_terms()
                .is_some_and(|terms| asks(terms))
    }

    fn publish(&mut self) {
        let uri = Change::Resource(format!("a:{}", self.rng.below(3)));
        let changes = [Change::Tools, Change::Prompts, Change::Resources, uri];
        let change = self.rng.pick(&changes).expect("there are changes");
        self.history.note(format!("changed {change:?}"));
        self.server.engine().publish(change);
    }

    fn pass(&mut self) {
        let time = self.rng.up_to(Duration::from_millis(120));
        self.history.note(format!("{time:?} pass"));
        self.server.advance(time);
    }

    fn drain(&mut self, most: usize) -> Result<(), String> {
        for _ in 0..most {
            let Some(sent) = self.server.next_sent() else {
                break;
            };
            self.history
                .note(format!("> {:?} {}", sent.lane, sent.message));
            self.oracle.sent(&sent)?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        self.note_cancelled()?;
        let limits = &self.limits;
        let running = self.server.open().len();
        if running > limits.max_running_requests {
            return Err(format!("{running} requests run at the same time"));
        }
        let in_flight = self.server.engine().in_flight();
        // While a call of the server is open, the queue may grow past its limit, to a multiple of it.
        let admitted =
            limits.max_running_requests + 4 * limits.max_waiting_requests + limits.max_listeners;
        if in_flight > admitted {
            return Err(format!("{in_flight} requests are in flight"));
        }
        // Messages read before the queue was full may still be answered. Changes are never dropped.
        let changes = 6 * (limits.max_listeners + 1);
        let bound = 2 * admitted + limits.max_queued_notices + changes + 2 * limits.max_calls;
        let queued = self.server.engine().queued();
        if queued > bound {
            return Err(format!("{queued} messages are queued, {bound} may be"));
        }
        let twice = self
            .calls
            .iter()
            .find(|call| self.server.outcomes(**call).len() > 1);
        twice.map_or(Ok(()), |call| Err(format!("{call:?} ended twice")))
    }

    fn disconnect(&mut self) -> Result<(), String> {
        self.history.note("the client is gone");
        self.drain(usize::MAX)?;
        self.server.close();
        self.note_cancelled()?;
        if let Some(sent) = self.server.next_sent() {
            return Err(format!("a closed server says {}", sent.message));
        }
        self.ended()
    }

    fn finish(&mut self) -> Result<(), String> {
        self.history.note("the end");
        self.server.answers(ReplyPolicy::AtOnce);
        while let Some(key) = self.server.open().first().copied() {
            self.server.answer_usually(key);
            self.check()?;
        }
        self.server.engine().end_listens();
        self.drain(usize::MAX)?;
        self.server.advance(Duration::from_secs(3600));
        self.drain(usize::MAX)?;
        self.ended()
    }

    fn ended(&mut self) -> Result<(), String> {
        self.oracle.ended()?;
        let in_flight = self.server.engine().in_flight();
        if in_flight > 0 {
            return Err(format!("{in_flight} requests are in flight at the end"));
        }
        let open = self
            .calls
            .iter()
            .find(|call| self.server.outcomes(**call).len() != 1);
        open.map_or(Ok(()), |call| Err(format!("{call:?} never ended")))
    }
}

fn begin(revision: Revision, limits: &Limits, fixed: bool) -> Endpoint {
    if fixed {
        let terms = Arc::new(Terms::new(revision));
        let engine = Connection::exchange(Arc::new(everything()), Arc::new(limits.clone()), terms);
        return Endpoint::over(engine, revision);
    }
    Endpoint::server_with(everything(), limits.clone()).opened_at(revision)
}
