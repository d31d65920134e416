//! Simulated peers, time and networks for tests of MCP conversations.
//!
//! The tool for each kind of test:
//!
//! | a test of | uses |
//! |---|---|
//! | how one side reacts to any message of its peer | [`Endpoint`], [`Endpoint::receive`] |
//! | two sides over a slow, uneven or breaking link | [`Pair`], [`Link`] |
//! | a whole exchange, byte for byte, reviewed like code | [`script`] |
//! | invariants in every order of events | [`chaos`] |
//! | how a client handles a server that sends arbitrary messages | [`HostileServer`] |
#![cfg_attr(
    feature = "issuer",
    doc = "| what needs tokens, good and bad ones | [`issuer`](issuer::Issuer) |"
)]
//! | how a client handles arbitrary HTTP | `fake_http` (feature `http`) |
//! | a client against recorded answers of a server, or fixed ones | `recordings` (feature `recordings`) |
//! | that the tools of a server are the reviewed ones | `assert_surface!` (feature `surface`) |
//! | a server or a client of any language, by the requirements of the protocol | `check` (feature `check`) |
//! | a store behind a connection that breaks | `stores` (feature `stores`) |
//! | the same outcome of a request in every revision | [`BothEras`] |
//!
//! No test here waits, because time is virtual: a test of ten minutes takes microseconds. No test
//! depends on chance: a [`Rng`] starts from a seed, and a failure prints the line that replays it.
//!
//! ```
//! use pintle_proto::PeerCallError;
//! use pintle_testkit::{CallBuilder, Pair, Units};
//!
//! let mut pair = Pair::new().latency(50.ms());
//! pair.server.answers_after(200.ms());
//! let call = pair.client.ask(CallBuilder::tool("slow").timeout(100.ms()));
//!
//! pair.run();
//!
//! assert_eq!(pair.client.settled(call), Err(PeerCallError::TimedOut(100.ms())));
//! assert_eq!(pair.client.engine().late_answers(), 0, "the server was told in time");
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod chaos;
#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "http")]
pub mod fake_http;
#[cfg(feature = "issuer")]
pub mod issuer;
#[cfg(feature = "recordings")]
pub mod recordings;
pub mod script;
#[cfg(feature = "stores")]
pub mod stores;
#[cfg(feature = "surface")]
pub mod surface;

mod both_eras;
mod endpoint;
mod hostile;
mod link;
mod pair;
mod pending_requests;
mod rng;
mod time;
mod words;

pub use both_eras::{Agreement, BothEras, DisagreementError, SideEffects, Skipped};
pub use endpoint::{CallBuilder, Endpoint, Sent};
pub use hostile::{HostilePipe, HostileReply, HostileServer, HostileTransport};
pub use link::{Arrival, Link};
pub use pair::{Pair, SentMessage};
pub use pending_requests::ReplyPolicy;
pub use rng::Rng;
pub use time::Units;
pub use words::{envelope, everything, initialize, request, with_envelope};
