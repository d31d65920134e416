//! The tokio layer: drivers, context, byte-stream transports, and traits for the crates above.
//!
//! A driver feeds one [`Connection`](pintle_proto::Connection) from a transport and runs the
//! handlers that its requests need. Every driver keeps the same promises. A handler that panics is
//! answered with -32603, and one whose request is cancelled is dropped. Messages that are read
//! together are answered together.
//!
//! - [`Service`]: answers requests; layered like tower services.
//! - [`Context`]: the context of one request, for its handler: terms, principal, notices.
//! - [`serve_pipe`]: the driver of byte streams; [`serve_stdio`], [`serve_tcp`] and `serve_unix`
//!   put it on standard streams and sockets.
//! - [`Ask`]: a question of a handler to the client; [`QuestionState`] has the questions for the
//!   runner of the handler.
//! - `Transport` and `Connect` (feature `client`): carry the messages of a client; `Peer` is the client's end of
//!   a conversation, `drive` its driver, `StreamTransport` the transport over byte streams.
//! - `Authorizer` (feature `client`): where a client's requests get their tokens from; `Fetch`: one bounded exchange
//!   for a document.
//! - `fleet::Fleet` (feature `replicas`): the replicas that share a store, their presence and its clock.
//! - [`SharedSessions`]: sealed ids of sessions, which each of these replicas opens.
//! - [`EngineHandle`]: access to an engine for code outside of its driver.

#[cfg(feature = "replicas")]
pub mod fleet;
pub mod layers;
pub mod sync;

#[cfg(feature = "client")]
mod authorize;
mod call_observer;
mod context;
#[cfg(feature = "client")]
mod drive;
mod driver_waker;
mod engine_handle;
mod extensions;
#[cfg(feature = "client")]
mod fetch;
mod first;
mod future;
mod input;
mod net;
mod param_header;
#[cfg(feature = "client")]
mod peer;
mod pipe;
mod principal;
mod questions;
mod random;
mod run;
mod service;
mod session_key;
mod session_state;
mod shared_request;
mod shared_sessions;
mod shutdown;
mod socket;
mod start_hook_error;
mod stdio;
#[cfg(feature = "client")]
mod streams;
#[cfg(feature = "client")]
mod transport;

#[cfg(feature = "client")]
pub use authorize::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, BoxAuthorizer, RequestSummary,
    RetryDecision,
};
pub use call_observer::{
    CallObserver, ObservedConversation, ObservedRequest, RequestEnd, RequestObserver, ServerAddress,
};
pub use context::{Context, ProgressMessage, ProgressTotal, Undo};
#[cfg(feature = "client")]
pub use drive::drive;
pub use engine_handle::{EngineHandle, SharedEngine};
pub use extensions::Extensions;
#[cfg(feature = "client")]
pub use fetch::{BoxFetch, Fetch, FetchError, FetchRequest, FetchResponse};
pub use future::{BoxFuture, deadline_after};
pub use input::{
    Answer, Ask, AskError, RequiredCapability, Visit, VisitError, Visits, check_form,
    check_requested_schema, may_include_context, prepare_question, with_timeout,
};
pub use net::{Host, NetworkScope, UrlError, WebUrl};
pub use param_header::ParamHeader;
#[cfg(feature = "client")]
pub use peer::{Outgoing, Peer, PeerCall, Step, TappedMessage, Wire};
pub use pipe::{PipeEnd, PipeOptions, serve_pipe};
pub use principal::{AuthorizedUntil, MissingScopes, Principal};
pub use questions::{
    Journal, QuestionState, ReplayResult, RetryInput, StoredAnswer, TaskCheckpoint,
};
pub use random::{RandomnessError, random_bytes};
pub use run::{answer_of, run};
pub use service::{BoxService, IntoService, Service};
pub use session_key::SessionKey;
pub use session_state::{SessionChange, SessionState};
pub use shared_request::SharedRequest;
pub use shared_sessions::{SharedCount, SharedSessions};
pub use shutdown::{Shutdown, ShutdownHandle, ShutdownWait};
pub use socket::serve_tcp;
#[cfg(unix)]
pub use socket::serve_unix;
pub use start_hook_error::StartHookError;
pub use stdio::{StandardInput, StandardOutput, serve_stdio, serve_streams, standard_streams};
#[cfg(feature = "client")]
pub use streams::{StreamOptions, StreamTransport};
#[cfg(feature = "client")]
pub use transport::{BoxConnect, BoxTransport, Connect, Transport};
