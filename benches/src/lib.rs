//! What a call costs, path by path, in what does not depend on the machine: how often it allocates,
//! and the budgets that it keeps.
//!
//! The paths are in [`path`], the budgets in `budgets.txt`, which [`budget`] reads. Allocations are
//! counted by `tests/allocations.rs`.

pub mod budget;
pub mod frugal;
pub mod path;
pub mod payload;
