//! What a call costs, path by path, in what does not depend on how busy the machine is: how often it
//! allocates, how many instructions it runs, and the budgets that it keeps.
//!
//! The paths are in [`path`], the budgets in `budgets.txt`, which [`budget`] reads. Allocations are
//! counted by `tests/allocations.rs`, instructions by the program `instructions`, which
//! `tests/instructions.rs` runs.

#[cfg(feature = "client")]
pub mod budget;
#[cfg(feature = "client")]
pub mod frugal;
#[cfg(feature = "client")]
pub mod path;
pub mod payload;
pub mod process;
pub mod table;
