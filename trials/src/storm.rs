//! A client and a server with a network between them that does what networks do.
//!
//! A seed decides the transport, the era, the weather and all actions; time is virtual. At every
//! moment a call ends once, in time, with its own answer or with an error that the weather
//! explains. No call runs twice, or runs although its client got the error that it did not. The
//! limit of running requests holds. At the end no request is open and no resource is held. A task
//! that was acknowledged in a store of files outlives its process, killed at any moment.
//!
//! `PINTLE_SEED=7` replays one seed, `PINTLE_SEEDS=10000` tries that many.

mod caller;
mod history;
mod link;
mod lives;
mod net;
mod night;
mod weather;

pub use history::{Violation, play};
pub use lives::lives;
pub use night::night;
