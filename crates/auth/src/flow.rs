//! How a token comes about: machines that say what to fetch, where to send a user, and what came
//! of it. They fetch nothing, open nothing, and read no clock.

mod code;
mod machine;
mod register;
mod token;

#[cfg(test)]
mod tests;

pub use code::{Landed, Visit};
pub use machine::{Need, Plan, SignIn};
pub use token::{DpopKey, Grant, Refresh, Tokens};
