//! How a token comes about: machines that say what to fetch, where to send a user, and what came
//! of it. They fetch nothing, open nothing, and read no clock.

mod code;
mod grant;
mod machine;
mod plan;
mod refresh;
mod register;
mod revoke;
mod token;

#[cfg(test)]
mod tests;

pub use code::{Landed, Visit};
pub use grant::{DpopKey, Grant, Tokens};
pub use machine::SignIn;
pub use plan::{Need, Plan};
pub use refresh::Refresh;
pub(crate) use revoke::Revoke;
