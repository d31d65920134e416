//! Threads that use a conversation at the same time, in schedules of a checker: in any order, no
//! thread waits without end. Such a thread is a deadlock, which the checker reports together with
//! the schedule.
//!
//! The test is built with the checker's locks, so separately from all others; in a usual build this
//! file is empty:
//!
//! ```text
//! RUSTFLAGS='--cfg shuttle' cargo test --package pintle-runtime --test interleavings --target-dir target/shuttle
//! ```
//!
//! `PINTLE_SCHEDULES` is how many schedules each test plays (default: 2,000, half of them at random
//! and half of them with few, well-placed switches).
#![cfg(shuttle)]

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pintle_model::jsonrpc::Message;
use pintle_model::{EmptyResult, Implementation, JsonObject, Revision, ServerCapabilities};
use pintle_proto::{
    Connection, Event, Input, Limits, NewCall, PeerCallError, Reply, ServerProfile, TransportError,
};
use pintle_runtime::{EngineHandle, Peer, SharedEngine, Transport, Wire, drive};
use serde_json::{Value, json};
use shuttle::future::block_on;
use shuttle::sync::mpsc::{Receiver, Sender, channel};
use shuttle::thread::{self, JoinHandle};

/// How many switches of threads the half with few of them has.
const SWITCHES: usize = 3;

/// Plays `test` in many schedules, on a clock that stands still.
fn explore(test: impl Fn() + Send + Sync + Copy + 'static) {
    let schedules = std::env::var("PINTLE_SCHEDULES").ok();
    let schedules = schedules.map_or(2_000, |number| number.parse().expect("a number"));
    let clock = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a clock");
    let _clock = clock.enter();
    shuttle::check_random(test, schedules / 2);
    shuttle::check_pct(test, schedules / 2, SWITCHES);
}

/// A transport that hands the calls to a server of another thread.
struct Post(Sender<Value>);

impl Transport for Post {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        while let Some(outgoing) = wire.next().await {
            if let Ok(message) = serde_json::from_slice::<Value>(&outgoing.frame.to_vec()) {
                // A server that has gone home answers nothing.
                let _ = self.0.send(message["id"].clone());
            }
        }
        Ok(())
    }
}

/// A client whose driver runs, and the ids of its calls.
fn client() -> (Peer, JoinHandle<()>, Receiver<Value>) {
    let identity = Implementation::new("t", "1");
    let peer = Peer::new(Connection::client(
        identity,
        Default::default(),
        Arc::default(),
    ));
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let (post, calls) = channel();
    let driven = peer.clone();
    let driver = thread::spawn(move || {
        block_on(drive(driven, Post(post), drop)).expect("the client ends it");
    });
    (peer, driver, calls)
}

/// Answers every call, until there are no more.
fn serve(peer: &Peer, calls: Receiver<Value>) -> JoinHandle<()> {
    let wire = peer.wire();
    thread::spawn(move || {
        while let Ok(id) = calls.recv() {
            if !id.is_null() {
                let answer =
                    json!({ "jsonrpc": "2.0", "id": id, "result": { "resultType": "complete" } });
                wire.receive(answer.to_string().as_bytes());
            }
        }
    })
}

fn call(peer: &Peer) -> pintle_runtime::PeerCall {
    let params = JsonObject::new();
    peer.call(NewCall::new("tools/list", params)).expect("room")
}

#[test]
fn calls_of_several_threads_are_answered() {
    explore(|| {
        let (peer, driver, calls) = client();
        let server = serve(&peer, calls);
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let peer = peer.clone();
                thread::spawn(move || {
                    for _ in 0..2 {
                        block_on(call(&peer).outcome()).expect("an answer");
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.join().expect("it ends");
        }
        peer.close();
        driver.join().expect("it ends");
        server.join().expect("it ends");
    });
}

#[test]
fn a_cancelled_call_does_not_block_others() {
    explore(|| {
        let (peer, driver, calls) = client();
        let server = serve(&peer, calls);
        let fickle = {
            let peer = peer.clone();
            thread::spawn(move || {
                let mut given_up = call(&peer);
                let _ = given_up.poll_step(&mut Context::from_waker(Waker::noop()));
            })
        };
        block_on(call(&peer).outcome()).expect("an answer");
        fickle.join().expect("it ends");
        block_on(call(&peer).outcome()).expect("an answer");
        peer.close();
        driver.join().expect("it ends");
        server.join().expect("it ends");
    });
}

#[test]
fn the_end_of_a_conversation_wakes_all_callers() {
    explore(|| {
        let (peer, driver, calls) = client();
        let server = serve(&peer, calls);
        let caller = {
            let peer = peer.clone();
            thread::spawn(move || {
                let params = JsonObject::new();
                let Ok(call) = peer.call(NewCall::new("tools/list", params)) else {
                    return;
                };
                let ended = block_on(call.outcome());
                let is_end = matches!(
                    &ended,
                    Ok(_) | Err(PeerCallError::Closed | PeerCallError::Lost(_))
                );
                assert!(is_end, "{ended:?}");
            })
        };
        peer.close();
        caller.join().expect("it ends");
        driver.join().expect("it ends");
        server.join().expect("it ends");
    });
}

/// A server's end of a conversation, and the number of its answers.
struct ServerEnd {
    conversation: Arc<SharedEngine>,
    answered: usize,
}

impl ServerEnd {
    fn new() -> Self {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        let profile = ServerProfile::new(Implementation::new("t", "1"), capabilities);
        let engine = Connection::server(Arc::new(profile), Arc::new(Limits::default()));
        Self {
            conversation: Arc::new(SharedEngine::new(engine)),
            answered: 0,
        }
    }

    /// Drives until `answers` were sent; each request is answered by a thread of its own.
    fn drive(&mut self, answers: usize) {
        let mut handlers = Vec::new();
        while self.answered < answers {
            let event = block_on(std::future::poll_fn(|task| self.poll_event(task)));
            if let Some(Event::Request(ticket, incoming)) = event {
                let engine: Arc<dyn EngineHandle> = self.conversation.clone();
                handlers.push(thread::spawn(move || {
                    let reply = Reply::complete(EmptyResult::default(), incoming.terms.revision);
                    engine.with(|engine| engine.answer(ticket, reply));
                }));
            }
        }
        for handler in handlers {
            handler.join().expect("it ends");
        }
    }

    /// Takes an event, or all messages, under one lock, as the driver of a pipe does.
    fn poll_event(&mut self, task: &mut Context<'_>) -> Poll<Option<Event>> {
        let (event, sent) = self.conversation.drive_and_wait(task.waker(), |engine| {
            let event = engine.poll_event();
            let sends = std::iter::from_fn(|| engine.poll_transmit());
            let sent = if event.is_none() { sends.count() } else { 0 };
            (event, sent)
        });
        self.answered += sent;
        if event.is_none() && sent == 0 {
            return Poll::Pending;
        }
        Poll::Ready(event)
    }
}

#[test]
fn the_driver_sends_the_answers_of_handler_threads() {
    explore(|| {
        let mut server = ServerEnd::new();
        let engine: Arc<dyn EngineHandle> = server.conversation.clone();
        let reader = thread::spawn(move || {
            let client = json!({ "name": "t", "version": "1" });
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": Revision::LATEST.as_str(),
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            for id in 1..=3 {
                let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": meta } });
                let text = request.to_string();
                let message = Message::parse(text.as_bytes()).expect("a message");
                let now = tokio::time::Instant::now().into_std();
                engine.with(|engine| drop(engine.handle_input(now, Input::Message(message))));
            }
        });
        server.drive(3);
        reader.join().expect("it ends");
        let nothing = &mut Context::from_waker(Waker::noop());
        assert!(matches!(
            server.conversation.poll_ready(nothing),
            Poll::Pending
        ));
    });
}
