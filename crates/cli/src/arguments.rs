//! Arguments for a tool or a prompt, from the words of a command line.
//!
//! | word | is |
//! |---|---|
//! | `key=text` | a value, read as what the schema wants there |
//! | `key:=json` | a value as JSON |
//! | `key=@file`, `key:=@file` | the same, out of a file; `@-` is standard input |
//! | `{…}` | all arguments as JSON |
//! | `@file`, `-` | all arguments as JSON, out of a file or of standard input |
//!
//! `a.b=…` is the member `b` of `a`; `a\.b=…` is one key with a dot. A repeated key is a list.
//! Keys are put into whatever was given as a whole. Pure: files are read by the caller's function.

mod build;
mod coerce;
mod error;
mod guide;
mod word;

pub(crate) use build::{Built, build, build_unchecked};
pub(crate) use guide::Guide;
pub(crate) use word::words;

#[cfg(test)]
mod tests;
