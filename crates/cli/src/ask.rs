//! Asking whoever sits at the terminal, for a server that asks in the middle of a call.
//!
//! A form becomes questions, one by one, and is shown before it is sent ([`form`]); an address is
//! shown and opened only on a yes ([`visit`]). What a server says is made safe to print. Where
//! nobody types, the question is written on standard error as JSON, and declined ([`nobody`]).

mod answers;
mod consent;
mod dialogue;
mod field;
mod form;
mod input;
mod nobody;
mod typing;
mod visit;

pub(crate) use answers::{Answers, ScriptedAnswer};
pub(crate) use consent::consent;
pub(crate) use dialogue::Terminal;
pub(crate) use form::fill;
pub(crate) use input::input;
pub(crate) use nobody::payload;
pub(crate) use typing::{Reader, reader};
pub(crate) use visit::{Address, System, visit};

#[cfg(test)]
mod tests;
