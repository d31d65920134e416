//! A client and a server with a network between them that does what networks do.
//!
//! From a seed follow the transport, the era, the weather and what everybody does; time is virtual.
//! Checked all along: a call ends once, in time, with its own answer or an error that the weather
//! explains; nothing runs twice, or although the client was told that it did not run; no more runs
//! at a time than may. At the end nobody owes or holds anything. What was acknowledged as a task in
//! a store of files outlives its process, killed at any moment.
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
