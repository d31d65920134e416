//! Short runs of what can run for hours.

mod fuzz;
mod storm;
