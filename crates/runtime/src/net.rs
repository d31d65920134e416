//! Hosts, URLs and the addresses that may be connected to.

mod host;
mod scope;
mod url;

pub use host::Host;
pub use scope::Reach;
pub use url::{UrlError, WebUrl};
