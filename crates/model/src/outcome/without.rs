//! Decoding an object as if one of its members were not there.
//!
//! Types keep unknown members. A member that only routes must not be one of them.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

/// Reads `object` as a `T`, skipping the member `name`.
///
/// # Errors
///
/// If the other members are not those of a `T`.
pub(super) fn member<T: DeserializeOwned>(
    object: &RawValue,
    name: &'static str,
) -> Result<T, serde_json::Error> {
    T::deserialize(Without {
        name,
        inner: &mut serde_json::Deserializer::from_str(object.get()),
    })
}

struct Without<T> {
    name: &'static str,
    inner: T,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Without<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(Without {
            name: self.name,
            inner: visitor,
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Without<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Without {
            name: self.name,
            inner: map,
        })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Without<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(Key(key)) = self.inner.next_key()? {
            if key != self.name {
                return seed.deserialize(CowStrDeserializer::new(key)).map(Some);
            }
            self.inner.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

/// A member's name; borrowed unless it is written with escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
