//! Hosts, URLs and the addresses that may be connected to.

mod scope;

pub use scope::Reach;
