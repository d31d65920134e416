//! Deserializers as sources. Only these functions are generic.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Elements, Event, Kind, Members, Read, ReadError, Source, Visit, Want};

/// Reads a value from a deserializer.
///
/// # Errors
///
/// Those of the deserializer and of `read`.
pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    read: fn(&mut dyn Source<'_>) -> Result<T, ReadError>,
) -> Result<T, D::Error> {
    let mut source = Adapter::of(deserializer);
    read(&mut source).map_err(|error| into_error(error, source.failure))
}

/// Reads a value from JSON text: what [`serde_json::from_str`] reads.
///
/// # Errors
///
/// As [`serde_json::from_str`].
pub(crate) fn from_text<T: Read>(text: &str) -> serde_json::Result<T> {
    let mut value = None;
    read_text(text, &mut value)?;
    value.ok_or_else(|| into_error(ReadError::Source, None))
}

/// A place for a value. It is filled by functions that are not generic.
trait Place {
    fn read(&mut self, source: &mut dyn Source<'_>) -> Result<(), ReadError>;
}

impl<T: Read> Place for Option<T> {
    fn read(&mut self, source: &mut dyn Source<'_>) -> Result<(), ReadError> {
        *self = Some(T::read(source)?);
        Ok(())
    }
}

fn read_text(text: &str, value: &mut dyn Place) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut source = Adapter::of(&mut deserializer);
    let read = value.read(&mut source);
    read.map_err(|error| into_error(error, source.failure))?;
    deserializer.end()
}

/// Returns the source of a value that was read before.
pub(crate) fn of_value<'de>(value: Value) -> impl Source<'de> {
    Stored(Adapter::of(value))
}

/// A deserializer or a part of one, as a source. It stores its error.
struct Adapter<A, E> {
    inner: A,
    failure: Option<E>,
}

/// A deserializer until it is used.
struct Once<D>(Option<D>);

impl<A, E> Adapter<A, E> {
    fn new(inner: A) -> Self {
        let failure = None;
        Self { inner, failure }
    }

    fn keep<T>(&mut self, result: Result<T, E>) -> Result<T, ReadError> {
        result.map_err(|error| {
            self.failure = Some(error);
            ReadError::Source
        })
    }
}

impl<'de, D: Deserializer<'de>> Adapter<Once<D>, D::Error> {
    fn of(deserializer: D) -> Self {
        Self::new(Once(Some(deserializer)))
    }

    fn take(&mut self) -> Result<D, ReadError> {
        let again = || ReadError::of(&"a value is read once");
        self.inner.0.take().ok_or_else(again)
    }
}

fn into_error<E: Error>(error: ReadError, failure: Option<E>) -> E {
    match (error, failure) {
        (ReadError::Value(text), _) => E::custom(text),
        (ReadError::Source, Some(failure)) => failure,
        (ReadError::Source, None) => E::custom("a value is missing"),
    }
}

impl<'de, D: Deserializer<'de>> Source<'de> for Adapter<Once<D>, D::Error> {
    fn read(&mut self, want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError> {
        let result = Events { want, visit }.deserialize(self.take()?);
        self.keep(result)
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        let result = Value::deserialize(self.take()?);
        self.keep(result)
    }

    fn raw(&mut self) -> Result<Box<RawValue>, ReadError> {
        let result = Box::deserialize(self.take()?);
        self.keep(result)
    }
}

impl<'de, A: MapAccess<'de>> Source<'de> for Adapter<A, A::Error> {
    fn read(&mut self, want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError> {
        let result = self.inner.next_value_seed(Events { want, visit });
        self.keep(result)
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        let result = self.inner.next_value();
        self.keep(result)
    }

    fn raw(&mut self) -> Result<Box<RawValue>, ReadError> {
        let result = self.inner.next_value();
        self.keep(result)
    }
}

impl<'de, A: MapAccess<'de>> Members<'de> for Adapter<A, A::Error> {
    fn next_name(&mut self) -> Result<Option<Cow<'de, str>>, ReadError> {
        let result = self.inner.next_key_seed(Name);
        self.keep(result)
    }
}

impl<'de, A: SeqAccess<'de>> Elements<'de> for Adapter<A, A::Error> {
    fn next(
        &mut self,
        read: &mut dyn FnMut(&mut dyn Source<'de>) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        let result = self.inner.next_element_seed(Element(read));
        Ok(self.keep(result)?.is_some())
    }
}

struct Element<'r, 'de>(&'r mut dyn FnMut(&mut dyn Source<'de>) -> Result<(), ReadError>);

impl<'de> DeserializeSeed<'de> for Element<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let mut source = Adapter::of(deserializer);
        (self.0)(&mut source).map_err(|error| into_error(error, source.failure))
    }
}

/// A value that was read before. Its errors have no position.
struct Stored(Adapter<Once<Value>, serde_json::Error>);

impl Stored {
    fn explain<T>(&mut self, result: Result<T, ReadError>) -> Result<T, ReadError> {
        result.map_err(|error| ReadError::of(&into_error(error, self.0.failure.take())))
    }
}

impl<'de> Source<'de> for Stored {
    fn read(&mut self, want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError> {
        let result = self.0.read(want, visit);
        self.explain(result)
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        self.0.take()
    }

    fn raw(&mut self) -> Result<Box<RawValue>, ReadError> {
        let result = self.0.raw();
        self.explain(result)
    }
}

/// The visitor of all values.
struct Events<'v, 'de> {
    want: Want,
    visit: Visit<'v, 'de>,
}

impl<'de> Events<'_, 'de> {
    fn visit<E: Error>(self, event: Event<'_, 'de>) -> Result<(), E> {
        (self.visit)(event).map_err(|error| into_error(error, None))
    }
}

impl<'de> DeserializeSeed<'de> for Events<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.want.is_optional {
            return deserializer.deserialize_option(self);
        }
        match self.want.kind {
            Kind::Any => deserializer.deserialize_any(self),
            Kind::Bool => deserializer.deserialize_bool(self),
            Kind::Integer => deserializer.deserialize_i64(self),
            Kind::Float => deserializer.deserialize_f64(self),
            Kind::Text => deserializer.deserialize_string(self),
            Kind::Object => deserializer.deserialize_map(self),
            Kind::Array => deserializer.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Events<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.want.expected)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.visit(Event::Bool(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit(Event::Signed(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit(Event::Unsigned(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.visit(Event::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.visit(Event::Text(text.into()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<(), E> {
        self.visit(Event::Text(text.into()))
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit(Event::Null)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.visit(Event::Null)
    }

    fn visit_some<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.want.is_optional = false;
        self.deserialize(deserializer)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let mut members = Adapter::new(map);
        (self.visit)(Event::Object(&mut members))
            .map_err(|error| into_error(error, members.failure))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        let mut elements = Adapter::new(seq);
        (self.visit)(Event::Array(&mut elements))
            .map_err(|error| into_error(error, elements.failure))
    }
}

/// The name of a member. Only a name with an escape is copied.
pub(crate) struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }

    fn visit_string<E: Error>(self, name: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name))
    }
}
