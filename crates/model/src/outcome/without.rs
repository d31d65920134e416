//! Decoding a result without its kind.
//!
//! Types keep unknown members. The kind of a result must not be one of them.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::RESULT_TYPE;
use crate::read::Name;

/// Reads a result that states no kind, or that it is complete, in one pass. `None` for other results,
/// and for results that are invalid.
pub(super) fn complete<T: DeserializeOwned>(result: &RawValue) -> Option<T> {
    let kind = Cell::new(Kind::Absent);
    let value = read(result, &kind).ok()?;
    (kind.get() != Kind::Other).then_some(value)
}

/// Reads a result as a `T`, skipping its kind.
///
/// # Errors
///
/// If the other members are not those of a `T`.
pub(super) fn kind<T: DeserializeOwned>(result: &RawValue) -> Result<T, serde_json::Error> {
    read(result, &Cell::new(Kind::Absent))
}

fn read<T: DeserializeOwned>(result: &RawValue, kind: &Cell<Kind>) -> Result<T, serde_json::Error> {
    T::deserialize(Without {
        kind,
        inner: &mut serde_json::Deserializer::from_str(result.get()),
    })
}

/// The skipped member, once it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Absent,
    Complete,
    /// Another kind, or a second member.
    Other,
}

struct Without<'k, T> {
    kind: &'k Cell<Kind>,
    inner: T,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Without<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(Without {
            kind: self.kind,
            inner: visitor,
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Without<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Without {
            kind: self.kind,
            inner: map,
        })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Without<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.inner.next_key_seed(Name)? {
            if key != RESULT_TYPE {
                // A borrowed name is passed on as one, so that it is not copied.
                return match key {
                    Cow::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
                    Cow::Owned(key) => seed.deserialize(key.into_deserializer()),
                }
                .map(Some);
            }
            let kind = self.inner.next_value_seed(Name)?;
            self.kind.set(match (self.kind.get(), &*kind) {
                (Kind::Absent, "complete") => Kind::Complete,
                _ => Kind::Other,
            });
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}
