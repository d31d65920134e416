//! The session as a handle of its engine, for handlers and changes.

use std::task::Waker;

use pintle_model::Error;
use pintle_proto::{Connection, Reply, RequestKey, Ticket};
use pintle_runtime::EngineHandle;

use super::{Session, State};

impl EngineHandle for Session {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        self.change(|state| act(&mut state.engine));
    }

    fn answer(&self, ticket: Ticket, reply: Result<Reply, Error>) {
        self.change(|state| state.engine.answer(ticket, reply));
    }

    fn is_session(&self) -> bool {
        true
    }

    fn is_behind(&self, key: RequestKey) -> bool {
        self.lock().lanes.is_behind(key, &self.bounds)
    }

    fn progress(
        &self,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        let mut state = self.lock();
        if state.lanes.is_behind(key, &self.bounds) {
            return false;
        }
        let State { engine, lanes, .. } = &mut *state;
        let mut waker = None;
        match lanes.plain_reply(key) {
            Some(reply) => {
                engine.progress_to(&mut reply.outbox, key, progress, total, message);
                waker = reply.waker.take_if(|_| !reply.outbox.is_empty());
            }
            None => engine.progress(key, progress, total, message),
        }
        if engine.has_output() {
            let before = self.before(&state);
            self.settle(state, before);
        } else {
            drop(state);
        }
        waker.into_iter().for_each(Waker::wake);
        true
    }

    fn close_stream(&self, key: RequestKey) -> bool {
        self.change(|state| state.lanes.detach_client(key, &self.bounds))
    }
}
