//! One violation of a schema, described so that a model can correct the value.

use std::fmt;

use serde_json::Value;

use crate::schema::keywords::push;

/// How much of a pointer is shown, in bytes: the rest is the peer's own text.
const MAX_POINTER: usize = 256;

/// One place where a value is not what its schema asks for.
///
/// Texts are never repeated, because they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where, as a JSON pointer into the value; empty for the whole value.
    pub pointer: String,
    /// The form that the schema requires at the pointer.
    pub expected: String,
    /// The value at the pointer, described without its text.
    pub found: String,
}

impl Violation {
    /// Describes the value at a JSON pointer without its text. The pointer is cut at 256 bytes.
    pub fn new(pointer: impl Into<String>, expected: impl Into<String>, value: &Value) -> Self {
        Self {
            pointer: shortened(pointer.into()),
            expected: expected.into(),
            found: found(value),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.pointer.as_str() {
            "" => "the whole value",
            pointer => pointer,
        };
        write!(
            f,
            "{place}: expected {}, found {}",
            self.expected, self.found
        )
    }
}

impl std::error::Error for Violation {}

/// One step from a value to a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Segment<'v> {
    Name(&'v str),
    Index(usize),
}

/// Writes a path as a JSON pointer.
pub(super) fn pointer(path: &[Segment<'_>]) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Name(name) => push(&mut pointer, name),
            Segment::Index(index) => push(&mut pointer, &index.to_string()),
        }
    }
    shortened(pointer)
}

/// Names a value without repeating its text.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            format!("a string of {}", counted(text.chars().count(), "character"))
        }
        Value::Array(items) => format!("an array of {}", counted(items.len(), "item")),
        Value::Object(members) => format!("an object of {}", counted(members.len(), "member")),
    }
}

pub(super) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

fn shortened(mut pointer: String) -> String {
    if pointer.len() > MAX_POINTER {
        let end = (0..=MAX_POINTER)
            .rev()
            .find(|at| pointer.is_char_boundary(*at));
        pointer.truncate(end.unwrap_or_default());
        pointer.push('…');
    }
    pointer
}
