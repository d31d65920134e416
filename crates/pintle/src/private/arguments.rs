//! The arguments of a tool, read and described without derives. `#[tool]` expands to calls of these functions.

use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::Error as Unreadable;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, Visitor,
};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::{Map, Value};

/// Reads the name of an argument: the function returns the number of the argument.
#[derive(Debug)]
pub struct ArgumentName<F>(pub F);

impl<'de, F: Fn(&str) -> usize> DeserializeSeed<'de> for ArgumentName<F> {
    type Value = usize;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<F: Fn(&str) -> usize> Visitor<'_> for ArgumentName<F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    #[inline]
    fn visit_str<E>(self, name: &str) -> Result<usize, E> {
        Ok((self.0)(name))
    }
}

/// Reads an argument that can occur once.
///
/// # Errors
///
/// If the argument is repeated or wrong.
#[inline]
pub fn read_argument<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    place: &mut Option<T>,
    name: &'static str,
    members: &mut A,
) -> Result<(), A::Error> {
    if place.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *place = Some(members.next_value()?);
    Ok(())
}

/// Returns the value of an argument that is absent: `None` for an `Option`.
///
/// # Errors
///
/// If the type does not allow it.
pub fn absent_argument<'de, T: Deserialize<'de>, E: Error>(name: &'static str) -> Result<T, E> {
    T::deserialize(Absent(name, PhantomData))
}

/// The deserializer of an absent argument.
struct Absent<E>(&'static str, PhantomData<E>);

impl<'de, E: Error> Deserializer<'de> for Absent<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, E> {
        Err(E::missing_field(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The schema of arguments.
#[derive(Debug)]
pub struct ArgumentsSchema<'g> {
    generator: &'g mut SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl<'g> ArgumentsSchema<'g> {
    /// Creates the schema of an object.
    pub fn new(generator: &'g mut SchemaGenerator) -> Self {
        Self {
            generator,
            properties: Map::new(),
            required: Vec::new(),
        }
    }

    /// Adds an argument whose property has these keywords beside its type. Without a default it is required, unless its
    /// type allows that it is absent.
    #[must_use]
    pub fn argument<T: DeserializeOwned + JsonSchema>(
        mut self,
        name: &'static str,
        has_default: bool,
        keywords: impl IntoIterator<Item = (&'static str, Option<Value>)>,
    ) -> Self {
        let mut schema = self.generator.subschema_for::<T>();
        for (keyword, value) in keywords {
            if let Some(value) = value {
                schema.insert(keyword.to_owned(), value);
            }
        }
        self.properties.insert(name.to_owned(), schema.to_value());
        if !has_default && absent_argument::<T, Unreadable>(name).is_err() {
            self.required.push(name.into());
        }
        self
    }

    /// Returns the schema.
    pub fn build(self) -> Schema {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.into()
    }
}

/// The default of an argument. The method `to_json` is that of [`AnyDefault`] if the type is not written as JSON.
#[derive(Debug)]
pub struct DefaultArgument<T>(pub T);

impl<T: Serialize> DefaultArgument<T> {
    /// Returns the value of the keyword `default`.
    pub fn to_json(self) -> Option<Value> {
        serde_json::to_value(self.0).ok()
    }
}

/// A default of any type.
pub trait AnyDefault: Sized {
    /// Returns no value, because the type is not written as JSON.
    fn to_json(self) -> Option<Value> {
        None
    }
}

impl<T> AnyDefault for DefaultArgument<T> {}
