//! A sans-IO engine for MCP conversations.
//!
//! A [`Connection`] takes messages and time, and returns messages, events and the next deadline. It
//! opens no socket, reads no clock, spawns no task and draws no randomness. A test can therefore
//! play every order of events in microseconds.
//!
//! The driver changes the connection and drains it with [`poll_output`](Connection::poll_output)
//! until it returns `Wait`. Then the driver waits for input, or for the instant in `Wait`.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Instant;
//!
//! use pintle_model::jsonrpc::Message;
//! use pintle_model::{EmptyResult, Implementation, ServerCapabilities};
//! use pintle_proto::{Connection, Event, Input, Limits, Output, Reply, ServerProfile};
//!
//! let mut capabilities = ServerCapabilities::default();
//! capabilities.tools = Some(Default::default());
//! let profile = Arc::new(ServerProfile::new(Implementation::new("demo", "1.0.0"), capabilities));
//! let mut connection = Connection::server(profile, Arc::new(Limits::default()));
//!
//! let line = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
//! let message = Message::parse(line).expect("a message");
//! connection.handle_input(Instant::now(), Input::Message(message));
//! let mut sent = Vec::new();
//! loop {
//!     match connection.poll_output() {
//!         Output::Transmit(transmit) => sent.push(transmit.frame.to_vec()),
//!         Output::Event(Event::Request(ticket, incoming)) => {
//!             let reply = Reply::complete(EmptyResult::default(), incoming.terms.revision);
//!             connection.answer(ticket, reply);
//!         }
//!         Output::Event(_) => {}
//!         Output::Wait(_) => break,
//!     }
//! }
//! assert_eq!(sent, [br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()]);
//! ```

pub mod frame;
pub mod lifecycle;

mod connection;
mod deadlines;
mod error;
mod frame_blocks;
mod framed;
mod id_map;
mod inbound;
mod inline_queue;
mod io;
mod limits;
mod method_check;
mod outbound;
mod outbox;
mod profile;
mod rendered_notice;
mod reply;
mod rounds;
mod subscriptions;
mod terms;
mod topic;
mod transport_error;

pub use connection::{Batch, CallHead, CallParams, Connection, NewCall, SingleRequest};
pub use error::{PeerCallError, SendError};
pub use framed::FramedMessages;
pub use io::{
    AnswerStatus, CallId, DropPolicy, Event, Frame, IncomingNotice, IncomingRequest, Input, Lane,
    Members, Output, Params, PeerIdentity, Received, RequestKey, Ticket, Transmit, TransmitKind,
};
pub use limits::Limits;
pub use outbound::{Routing, Timeouts};
pub use outbox::Outbox;
pub use profile::ServerProfile;
pub use rendered_notice::RenderedNotice;
pub use reply::{Rendered, Reply, ResultBody};
pub use rounds::{Rounds, RoundsError, retry_params};
pub use terms::{Terms, TraceContext};
pub use topic::{Change, Topic};
pub use transport_error::{TransportError, TransportErrorKind};
