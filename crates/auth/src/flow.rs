//! How a token comes about: machines that say what to fetch, where to send a user, and what came
//! of it. They fetch nothing, open nothing, and read no clock.

mod code;
mod machine;
mod plan;
mod register;
mod revoke;
mod token;

#[cfg(test)]
mod tests;

pub use code::{Landed, Visit};
pub use machine::SignIn;
pub use plan::{Need, Plan};
pub(crate) use revoke::Revoke;
pub use token::{DpopKey, Grant, Refresh, Tokens};
