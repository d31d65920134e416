//! A sealed store: the contract, and its secrets.

mod hidden;
mod suite;
