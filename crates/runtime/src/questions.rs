//! The questions of one request: what was asked, answered and done, for its handler and its runner.

mod desk;
mod journal;
mod park;
mod replay;
mod unfit;
mod waits;

pub(crate) use unfit::with_reason;
pub(crate) use waits::Waiting;

pub use desk::{Desk, Retry};
pub use journal::Journal;
pub use park::{Draft, Given};
pub use replay::Replayed;
pub use waits::within;
