//! Questions to the user at the terminal, for a server that asks in the middle of a call.
//!
//! A form becomes questions, one by one, and is shown before it is sent ([`form`]). A URL is shown
//! and opened only on a yes ([`visit`]). Texts of a server are made safe to print. Without a
//! terminal, the question is written to standard error as JSON, and declined ([`question_event`]).

mod answers;
mod confirm;
mod dialogue;
mod field;
mod form;
mod input;
mod pending_visits;
mod prompter;
mod question_event;
mod typing;
mod visit;

pub(crate) use answers::{Answers, ScriptedAnswer};
pub(crate) use dialogue::Terminal;
pub(crate) use form::fill;
pub(crate) use input::input;
pub(crate) use prompter::Prompter;
use question_event::payload;
pub(crate) use typing::{Reader, reader};
pub(crate) use visit::{Address, Opener, System, visit};

#[cfg(test)]
mod tests;
