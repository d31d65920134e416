//! Reading and writing objects with named members.

use serde::ser::{SerializeMap, Serializer};

use super::{Event, Kind, Members, Read, ReadError, Source, Want};

/// A type that is read from an object.
pub(crate) trait Object: Sized {
    /// Its name in errors.
    const EXPECTED: &'static str;

    /// Reads the members.
    ///
    /// # Errors
    ///
    /// If a member is missing, wrong or repeated.
    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError>;
}

/// A type that is written as the members of an object.
pub(crate) trait WriteMembers {
    /// Adds the members to `map`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Reads an object.
///
/// # Errors
///
/// As [`Object::build`], or if the value is not an object.
pub(crate) fn read_object<T: Object>(source: &mut dyn Source<'_>) -> Result<T, ReadError> {
    let mut object = None;
    read_members(source, T::EXPECTED, &mut object)?;
    object.ok_or(ReadError::Source)
}

/// A place for an object. It is filled by functions that are not generic.
trait Place {
    fn build(&mut self, members: &mut dyn Members<'_>) -> Result<(), ReadError>;
}

impl<T: Object> Place for Option<T> {
    fn build(&mut self, members: &mut dyn Members<'_>) -> Result<(), ReadError> {
        *self = Some(T::build(members)?);
        Ok(())
    }
}

fn read_members(
    source: &mut dyn Source<'_>,
    expected: &'static str,
    object: &mut dyn Place,
) -> Result<(), ReadError> {
    source.read(
        Want::one(Kind::Object, expected),
        &mut |event| match event {
            Event::Object(members) => object.build(members),
            other => Err(other.wrong_type(expected)),
        },
    )
}

/// Writes an object.
///
/// # Errors
///
/// Those of the serializer.
pub(crate) fn write_members<T: WriteMembers, S: Serializer>(
    object: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    object.write_members(&mut map)?;
    map.end()
}

/// Reads a member that can occur once.
///
/// # Errors
///
/// If the member is repeated or wrong.
pub(crate) fn fill<T: Read>(
    place: &mut Option<T>,
    name: &str,
    source: &mut dyn Source<'_>,
) -> Result<(), ReadError> {
    fill_with(place, name, source, T::read)
}

/// Reads a member that can occur once, with a function.
///
/// # Errors
///
/// As [`fill`].
pub(crate) fn fill_with<T>(
    place: &mut Option<T>,
    name: &str,
    source: &mut dyn Source<'_>,
    read: fn(&mut dyn Source<'_>) -> Result<T, ReadError>,
) -> Result<(), ReadError> {
    if place.is_some() {
        return Err(repeated(name));
    }
    *place = Some(read(source)?);
    Ok(())
}

#[cold]
fn repeated(name: &str) -> ReadError {
    ReadError::Value(format!("duplicate field `{name}`"))
}

/// Skips a value.
///
/// # Errors
///
/// If the source fails.
pub(crate) fn skip(source: &mut dyn Source<'_>) -> Result<(), ReadError> {
    source.raw().map(drop)
}

/// Returns a member that must occur.
///
/// # Errors
///
/// If the member is missing.
pub(crate) fn required<T>(place: Option<T>, name: &str) -> Result<T, ReadError> {
    place.ok_or_else(|| missing(name))
}

/// Returns the error for a missing member.
#[cold]
pub(crate) fn missing(name: &str) -> ReadError {
    ReadError::Value(format!("missing field `{name}`"))
}

/// Implements `Read` for a type that is an `Object`.
macro_rules! read_by_build {
    ($name:ident) => {
        impl $crate::read::Read for $name {
            fn read(
                source: &mut dyn $crate::read::Source<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                $crate::read::read_object(source)
            }
        }
    };
}
pub(crate) use read_by_build;

/// Implements `Read` and the traits of serde for an object.
macro_rules! serde_by_members {
    ($name:ident) => {
        $crate::read::read_by_build!($name);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::read::write_members(self, serializer)
            }
        }

        $crate::read::deserialize_by_read!($name);
    };
}
pub(crate) use serde_by_members;

/// Implements `Deserialize` for a type that has `Read`.
macro_rules! deserialize_by_read {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::read::deserialize(deserializer, <Self as $crate::read::Read>::read)
            }
        }
    };
}
pub(crate) use deserialize_by_read;

/// Implements `Serialize` for a type that is written as the value in it.
macro_rules! write_as_inner {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    };
}
pub(crate) use write_as_inner;

/// Implements `Read` and the traits of serde for a type that is read and written as the value in it.
macro_rules! as_inner {
    ($name:ident($inner:ty)) => {
        $crate::read::write_as_inner!($name);

        impl $crate::read::Read for $name {
            fn read(
                source: &mut dyn $crate::read::Source<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                <$inner as $crate::read::Read>::read(source).map(Self)
            }
        }

        $crate::read::deserialize_by_read!($name);
    };
}
pub(crate) use as_inner;
