//! Two engines.

mod cancelled;
mod kept;
