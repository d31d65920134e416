//! Arguments for a tool or a prompt, from the words of a command line.
//!
//! | word | is |
//! |---|---|
//! | `key=text` | a value, converted to the type in the schema |
//! | `key:=json` | a value as JSON |
//! | `key=@file`, `key:=@file` | the same, read from a file; `@-` is standard input |
//! | `{…}` | all arguments as JSON |
//! | `@file`, `-` | all arguments as JSON, read from a file or standard input |
//!
//! `a.b=…` is the member `b` of `a`; `a\.b=…` is one key with a dot. A repeated key is a list. Keys
//! are added to the arguments that are given as JSON. The caller's function reads files, so this
//! module does no I/O.

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
