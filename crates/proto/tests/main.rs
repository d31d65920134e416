//! Two engines.

mod cancelled;
mod kept;
mod single;
