//! Trials of Pintle: long, random and hostile runs before a release.
//!
//! - [`churn`]: clients of both eras come, call, give up and vanish; for hours (`soak`).
//! - [`fuzz`]: bytes that make no sense, for every reader of bytes.
//! - [`storm`]: networks that break, on a virtual clock, from a seed.
//! - [`town`]: the server that all of this happens to.

pub mod churn;
pub mod fuzz;
pub mod storm;
pub mod town;
