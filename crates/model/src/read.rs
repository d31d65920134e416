//! Reading types of the protocol from any deserializer, by functions that are not generic.
//!
//! A decoder that serde derives is generic: it is compiled for each deserializer and in each crate that uses it. Here
//! a type is read from a [`Source`] by one function, and only the adapters of a deserializer are generic.

mod adapter;
mod object;
mod types;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, Unexpected};
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use adapter::{Name, deserialize, from_text, of_value};
pub(crate) use object::{
    Object, WriteMembers, as_inner, deserialize_by_read, fill, fill_with, missing, read_by_build,
    read_object, required, serde_by_members, skip, write_as_inner, write_members,
};

/// A type that can be read from a source.
pub(crate) trait Read: Sized {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// If the source fails or has another value.
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError>;
}

/// A value that is read once.
pub(crate) trait Source<'de> {
    /// Reads the value and passes it to `visit`.
    fn read(&mut self, want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError>;

    /// Reads any value.
    fn value(&mut self) -> Result<Value, ReadError>;

    /// Reads any value as text.
    fn raw(&mut self) -> Result<Box<RawValue>, ReadError>;
}

/// The members of an object. After a name, the source is the value of this member.
pub(crate) trait Members<'de>: Source<'de> {
    /// Reads the name of the next member.
    fn next_name(&mut self) -> Result<Option<Cow<'de, str>>, ReadError>;
}

/// The elements of an array.
pub(crate) trait Elements<'de> {
    /// Passes the next element to `read`. Returns false at the end.
    fn next(
        &mut self,
        read: &mut dyn FnMut(&mut dyn Source<'de>) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError>;
}

/// A function that receives the value of a source.
pub(crate) type Visit<'v, 'de> = &'v mut dyn FnMut(Event<'_, 'de>) -> Result<(), ReadError>;

/// The value of a source.
pub(crate) enum Event<'e, 'de> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(Cow<'e, str>),
    Object(&'e mut dyn Members<'de>),
    Array(&'e mut dyn Elements<'de>),
}

impl Event<'_, '_> {
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Signed(number) => Unexpected::Signed(*number),
            Self::Unsigned(number) => Unexpected::Unsigned(*number),
            Self::Float(number) => Unexpected::Float(*number),
            Self::Text(text) => Unexpected::Str(text),
            Self::Object(_) => Unexpected::Map,
            Self::Array(_) => Unexpected::Seq,
        }
    }

    /// Returns the error for a value of a wrong type.
    pub(crate) fn wrong_type(&self, expected: &str) -> ReadError {
        ReadError::of(&serde_json::Error::invalid_type(
            self.unexpected(),
            &expected,
        ))
    }

    /// Returns the error for a wrong value of the right type.
    pub(crate) fn wrong_value(&self, expected: &str) -> ReadError {
        ReadError::of(&serde_json::Error::invalid_value(
            self.unexpected(),
            &expected,
        ))
    }
}

/// The type that a reader requests of a source, and its name in errors.
#[derive(Clone, Copy)]
pub(crate) struct Want {
    pub(crate) kind: Kind,
    pub(crate) expected: &'static str,
    /// Whether null is allowed too.
    pub(crate) is_optional: bool,
}

impl Want {
    /// Requests a value that is not null.
    pub(crate) fn one(kind: Kind, expected: &'static str) -> Self {
        Self {
            kind,
            expected,
            is_optional: false,
        }
    }
}

/// The type that a reader requests.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Any,
    Bool,
    Integer,
    Float,
    Text,
    Object,
    Array,
}

/// Error of reading.
pub(crate) enum ReadError {
    /// The source failed and keeps its own error.
    Source,
    /// The value is wrong.
    Value(String),
}

impl ReadError {
    pub(crate) fn of(error: &dyn fmt::Display) -> Self {
        Self::Value(error.to_string())
    }
}

/// Reads a value: `make` receives it.
///
/// # Errors
///
/// If the source fails, or `make` rejects the value.
pub(crate) fn read_as<'de, T>(
    source: &mut dyn Source<'de>,
    kind: Kind,
    expected: &'static str,
    make: fn(Event<'_, 'de>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let mut made = None;
    source.read(Want::one(kind, expected), &mut |event| {
        made = Some(make(event)?);
        Ok(())
    })?;
    made.ok_or(ReadError::Source)
}

/// Reads a text: `make` receives it.
///
/// # Errors
///
/// As [`read_as`].
pub(crate) fn read_text<T>(
    source: &mut dyn Source<'_>,
    expected: &'static str,
    make: fn(Cow<'_, str>) -> T,
) -> Result<T, ReadError> {
    let mut made = None;
    source.read(Want::one(Kind::Text, expected), &mut |event| match event {
        Event::Text(text) => {
            made = Some(make(text));
            Ok(())
        }
        other => Err(other.wrong_type(expected)),
    })?;
    made.ok_or(ReadError::Source)
}
