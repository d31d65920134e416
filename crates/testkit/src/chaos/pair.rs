//! Both sides follow the protocol; the network and its timing are random.

use std::time::Duration;

use pintle_model::Revision;
use pintle_proto::{CallId, Lane, Limits, PeerCallError};

use super::{History, InvariantError};
use crate::endpoint::CallBuilder;
use crate::pair::Pair;
use crate::pending_requests::ReplyPolicy;
use crate::rng::Rng;

const STEPS: usize = 60;

/// Plays one schedule between a client and a server.
///
/// # Errors
///
/// A call that did not end exactly once, a call that ended in a wrong way without need, or a request
/// that the server forgot.
pub fn pair(seed: u64) -> Result<(), InvariantError> {
    let mut game = Game::new(seed);
    let played = game.play();
    played.map_err(|what| game.history.violated(what))
}

struct Game {
    rng: Rng,
    history: History,
    pair: Pair,
    calls: Vec<CallId>,
    questions: Vec<CallId>,
    cancelled: Vec<CallId>,
    cut: bool,
}

impl Game {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let revision = *rng.pick(&Revision::ALL).expect("there are revisions");
        let latency = rng.up_to(Duration::from_millis(20));
        let jitter = rng.up_to(Duration::from_millis(20));
        let mut limits = Limits::default();
        limits.max_running_requests = 1 + rng.below(4);
        let mut pair = Pair::with_limits(revision, limits)
            .latency(latency)
            .jitter(jitter, seed);
        if rng.once_in(3) {
            let pace = rng.up_to(Duration::from_millis(10));
            pair.down.set_pace(pace, 1 + rng.below(4));
        }
        let mut history = History::new(seed);
        history.note(format!(
            "a pair at {revision}, {latency:?} and {jitter:?} apart"
        ));
        Self {
            rng,
            history,
            pair,
            calls: Vec::new(),
            questions: Vec::new(),
            cancelled: Vec::new(),
            cut: false,
        }
    }

    fn play(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.step();
            self.check()?;
            if self.rng.once_in(200) {
                self.end();
                break;
            }
        }
        self.pair.run();
        self.check()?;
        self.ended()
    }

    fn step(&mut self) {
        match self.rng.below(9) {
            0..=2 => self.call(),
            3 => self.cancel(),
            4 => self.change_manner(),
            5 => self.notify(),
            6 => self.question(),
            _ => {
                let time = self.rng.up_to(Duration::from_millis(60));
                self.history.note(format!("{time:?} pass"));
                self.pair.run_for(time);
            }
        }
    }

    fn call(&mut self) {
        let idle = Duration::from_millis(20) + self.rng.up_to(Duration::from_millis(300));
        let ask = CallBuilder::tool("t").with_progress().timeout(idle);
        if let Ok(call) = self.pair.client.try_ask(ask) {
            self.history.note(format!("{call:?} with {idle:?}"));
            self.calls.push(call);
        }
    }

    fn cancel(&mut self) {
        let Some(call) = self.rng.pick(&self.calls).copied() else {
            return;
        };
        self.history.note(format!("cancel {call:?}"));
        self.pair.client.cancel(call);
        self.cancelled.push(call);
    }

    fn change_manner(&mut self) {
        let wait = self.rng.up_to(Duration::from_millis(200));
        self.history.note(format!("answers take {wait:?}"));
        self.pair.server.answers(ReplyPolicy::After(wait));
    }

    fn notify(&mut self) {
        let open = self.pair.server.open();
        let Some(key) = self.rng.pick(&open).copied() else {
            return;
        };
        let amount = f64::from(u32::try_from(self.rng.below(100)).unwrap_or(0));
        self.history.note(format!("progress {amount} of {key:?}"));
        self.pair.server.engine().progress(key, amount, None, None);
    }

    // A server sends a question on the lane of a running request, in revisions with such questions.
    fn question(&mut self) {
        let open = self.pair.server.open();
        let Some(key) = self.rng.pick(&open).copied() else {
            return;
        };
        let idle = Duration::from_millis(20) + self.rng.up_to(Duration::from_millis(100));
        let ask = CallBuilder::new("roots/list")
            .on(Lane::Reply(key))
            .timeout(idle);
        if let Ok(call) = self.pair.server.try_ask(ask) {
            self.history
                .note(format!("the server asks {call:?} for {key:?}"));
            self.questions.push(call);
        }
    }

    fn end(&mut self) {
        self.cut = self.rng.once_in(2);
        self.history.note(if self.cut {
            "the pipe is cut"
        } else {
            "the client says no more"
        });
        if self.cut {
            self.pair.cut();
        } else {
            self.pair.half_close();
        }
    }

    fn check(&self) -> Result<(), String> {
        let client = self.calls.iter().map(|call| (&self.pair.client, *call));
        let server = self.questions.iter().map(|call| (&self.pair.server, *call));
        let twice = client
            .chain(server)
            .find(|(side, call)| side.outcomes(*call).len() > 1);
        twice.map_or(Ok(()), |(_, call)| Err(format!("{call:?} ended twice")))
    }

    fn ended(&mut self) -> Result<(), String> {
        for call in &self.calls {
            match self.pair.client.outcomes(*call) {
                [Ok(_) | Err(PeerCallError::TimedOut(_))] => {}
                [Err(PeerCallError::Cancelled)] if self.cancelled.contains(call) => {}
                [Err(PeerCallError::Closed)] if self.cut => {}
                outcomes => return Err(format!("{call:?} ended with {outcomes:?}")),
            }
        }
        let open = self
            .questions
            .iter()
            .find(|call| self.pair.server.outcomes(**call).is_empty());
        if let Some(call) = open {
            return Err(format!("{call:?} of the server never ended"));
        }
        match self.pair.server.engine().in_flight() {
            0 => Ok(()),
            forgotten => Err(format!("the server holds {forgotten} requests at the end")),
        }
    }
}
