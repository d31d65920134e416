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
mod pending_visits;
mod prompter;
mod typing;
mod visit;

pub(crate) use answers::{Answers, ScriptedAnswer};
use consent::consent;
pub(crate) use dialogue::Terminal;
pub(crate) use form::fill;
pub(crate) use input::input;
use nobody::payload;
pub(crate) use prompter::Prompter;
pub(crate) use typing::{Reader, reader};
pub(crate) use visit::{Address, System, visit};

#[cfg(test)]
mod tests;
