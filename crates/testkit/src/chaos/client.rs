//! A server that breaks every rule sends messages to a client.

use std::time::Duration;

use pintle_model::{Feature, Revision};
use pintle_proto::{CallId, Limits, SendError};
use serde_json::{Value, json};

use super::{History, InvariantError};
use crate::endpoint::{CallBuilder, Endpoint};
use crate::rng::Rng;

const STEPS: usize = 150;

const JUNK: [&str; 9] = [
    "{",
    "[]",
    "null",
    "{}",
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
    r#"{"jsonrpc":"2.0","id":-1,"result":{}}"#,
    r#"{"jsonrpc":"2.0","result":{}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/no/such"}"#,
];

/// Plays one schedule against a client.
///
/// # Errors
///
/// A call that ended twice or never. More calls than the limit. A cancellation of a request that was
/// not in flight. A wait past its total timeout.
pub fn client(seed: u64) -> Result<(), InvariantError> {
    let mut game = Game::new(seed);
    let played = game.play();
    played.map_err(|what| game.history.violated(what))
}

struct Game {
    rng: Rng,
    history: History,
    revision: Revision,
    client: Endpoint,
    limit: usize,
    calls: Vec<Made>,
    next_id: u32,
    unanswered: Vec<Value>,
}

struct Made {
    call: CallId,
    deadline: std::time::Instant,
    cancellations: u32,
}

impl Game {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let revision = *rng.pick(&Revision::ALL).expect("there are revisions");
        let limit = 1 + rng.below(5);
        let mut limits = Limits::default();
        limits.max_calls = limit;
        let mut history = History::new(seed);
        history.note(format!("a client at {revision} with {limit} calls"));
        let client = Endpoint::client_with(limits).welcomed_at(revision);
        Self {
            rng,
            history,
            revision,
            client,
            limit,
            calls: Vec::new(),
            next_id: 1,
            unanswered: Vec::new(),
        }
    }

    fn play(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.step()?;
            self.drain()?;
            self.check()?;
        }
        if self.rng.once_in(2) {
            self.history.note("the server is gone");
            self.client.close();
        } else {
            self.client.advance(Duration::from_secs(3600));
            self.drain()?;
        }
        self.ended()
    }

    fn step(&mut self) -> Result<(), String> {
        match self.rng.below(10) {
            0..=2 => return self.call(),
            3..=4 => self.answer(),
            5 => self.cancel(),
            6 => self.receive_progress(),
            7 => self.receive(JUNK[self.rng.clone().below(JUNK.len())]),
            8 => self.receive_request(),
            _ => {
                let time = self.rng.up_to(Duration::from_millis(80));
                self.history.note(format!("{time:?} pass"));
                self.client.advance(time);
            }
        }
        self.rng.number();
        Ok(())
    }

    fn call(&mut self) -> Result<(), String> {
        let idle = Duration::from_millis(10) + self.rng.up_to(Duration::from_millis(50));
        let open = self.open();
        let ask = CallBuilder::tool("t")
            .with_progress()
            .timeouts(idle, idle * 3);
        match self.client.try_ask(ask) {
            Ok(call) => {
                self.history.note(format!("{call:?} with {idle:?}"));
                let deadline = self.client.now() + idle * 3;
                self.calls.push(Made {
                    call,
                    deadline,
                    cancellations: 0,
                });
                Ok(())
            }
            Err(SendError::TooManyCalls { limit }) if open >= limit => Ok(()),
            Err(refusal) => Err(format!("a call was refused with {open} open: {refusal}")),
        }
    }

    fn open(&self) -> usize {
        self.calls
            .iter()
            .filter(|made| self.client.outcomes(made.call).is_empty())
            .count()
    }

    fn any(&mut self) -> Option<CallId> {
        let at = self.rng.below(self.calls.len());
        self.calls.get(at).map(|made| made.call)
    }

    // Any call may be answered at any time, and more than once.
    fn answer(&mut self) {
        let Some(call) = self.any() else { return };
        let id = serde_json::to_value(call.to_request_id()).expect("an id is JSON");
        let message = match self.rng.below(4) {
            0 => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -1, "message": "m" } }),
            1 => {
                json!({ "jsonrpc": "2.0", "id": id, "result": {}, "error": { "code": -1, "message": "m" } })
            }
            _ => json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } }),
        };
        self.receive(&message.to_string());
    }

    fn cancel(&mut self) {
        let Some(call) = self.any() else { return };
        self.history.note(format!("cancel {call:?}"));
        self.client.cancel(call);
    }

    fn receive_progress(&mut self) {
        let Some(call) = self.any() else { return };
        let token = serde_json::to_value(call.to_request_id()).expect("an id is JSON");
        let params = json!({ "progressToken": token, "progress": self.rng.below(9) });
        self.receive(
            &json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
                .to_string(),
        );
    }

    fn receive_request(&mut self) {
        let method = *self
            .rng
            .pick(&["ping", "roots/list", "no/such", "tools/call"])
            .expect("a method");
        let id = json!(self.next_id);
        self.next_id += 1;
        // In revisions without questions the client answers nothing.
        if self.revision.has(Feature::ServerRequests) {
            self.unanswered.push(id.clone());
        }
        self.receive(&json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string());
    }

    fn receive(&mut self, text: &str) {
        self.history.note(format!("< {text}"));
        self.client.receive(text);
    }

    fn drain(&mut self) -> Result<(), String> {
        while let Some(sent) = self.client.next_sent() {
            self.history.note(format!("> {}", sent.message));
            self.note_sent(&sent.message)?;
        }
        Ok(())
    }

    fn note_sent(&mut self, message: &Value) -> Result<(), String> {
        if message["method"] == "notifications/cancelled" {
            return self.note_cancellation(&message["params"]["requestId"]);
        }
        if message.get("method").is_some() || message.get("id").is_none() {
            return Ok(());
        }
        let at = self.unanswered.iter().position(|id| *id == message["id"]);
        let at = at.ok_or(format!("an answer to nothing: {message}"))?;
        self.unanswered.swap_remove(at);
        Ok(())
    }

    fn note_cancellation(&mut self, id: &Value) -> Result<(), String> {
        let made = self.calls.iter_mut().find(|made| {
            serde_json::to_value(made.call.to_request_id())
                .ok()
                .as_ref()
                == Some(id)
        });
        let made = made.ok_or(format!("a cancellation of {id}, which is no call"))?;
        made.cancellations += 1;
        match made.cancellations {
            1 => Ok(()),
            times => Err(format!("{:?} was cancelled {times} times", made.call)),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.open() > self.limit {
            return Err(format!("{} calls are open", self.open()));
        }
        for made in &self.calls {
            match self.client.outcomes(made.call).len() {
                0 if self.client.now() > made.deadline => {
                    return Err(format!("{:?} waits past its ceiling", made.call));
                }
                0 | 1 => {}
                times => return Err(format!("{:?} ended {times} times", made.call)),
            }
        }
        Ok(())
    }

    fn ended(&self) -> Result<(), String> {
        let open = self
            .calls
            .iter()
            .find(|made| self.client.outcomes(made.call).len() != 1);
        match (open, self.unanswered.first()) {
            (Some(made), _) => Err(format!("{:?} never ended", made.call)),
            (None, Some(id)) => Err(format!("request {id} of the server was not answered")),
            (None, None) => Ok(()),
        }
    }
}
