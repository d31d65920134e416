//! Two engines.

mod cancelled;
mod kept;
mod restored;
mod single;
