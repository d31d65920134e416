//! Hosts, URLs and the addresses that may be connected to.

mod error;
mod host;
mod scope;
mod url;

pub use error::UrlError;
pub use host::Host;
pub use scope::NetworkScope;
pub use url::WebUrl;
