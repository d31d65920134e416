//! Two engines.

mod cancelled;
mod kept;
mod passed_settings;
mod restored;
mod single;
