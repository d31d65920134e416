//! The session as a handle of its engine, for handlers and changes.

use pintle_model::Error;
use pintle_proto::{Connection, Reply, RequestKey, Ticket};
use pintle_runtime::EngineHandle;

use super::Session;

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

    fn close_stream(&self, key: RequestKey) -> bool {
        self.change(|state| state.lanes.detach_client(key, &self.bounds))
    }
}
