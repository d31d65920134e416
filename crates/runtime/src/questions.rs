//! The questions of one request: what was asked, answered and done, for its handler and its runner.

mod desk;
mod journal;
mod park;
mod replay;
mod retry;
mod unfit;
mod waits;

pub(crate) use unfit::with_reason;

pub use desk::Desk;
pub use journal::{Given, Journal};
pub use park::Draft;
pub use replay::Replayed;
pub use retry::Retry;
