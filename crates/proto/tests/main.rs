//! Two engines.

mod cancelled;
mod kept;
mod passed_settings;
mod pictures;
mod restored;
mod single;
