//! Unions with a member that states the type, such as `type`.
//!
//! Serde's own internally tagged enums copy the whole object before they look at the tag.
//! Here only the members *before* the tag are copied, and every common peer writes the tag
//! first; the rest streams into the type it belongs to.

use std::fmt;
use std::marker::PhantomData;
use std::vec;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde_json::Value;

use crate::JsonObject;

/// An object whose tag has been read, with everything else still to come.
pub(crate) struct Tagged<A, K> {
    /// The tag, if the object has one.
    pub(crate) kind: Option<K>,
    before: vec::IntoIter<(String, Value)>,
    held: Option<Value>,
    rest: A,
}

impl<'de, A: MapAccess<'de>, K: for<'a> From<&'a str>> Tagged<A, K> {
    /// Reads up to and including the member called `tag`.
    ///
    /// # Errors
    ///
    /// When the tag is not a string, or the input is not JSON.
    pub(crate) fn read(mut map: A, tag: &'static str) -> Result<Self, A::Error> {
        let mut before = Vec::new();
        let mut kind = None;
        while let Some(key) = map.next_key_seed(KeySeed(tag))? {
            match key {
                Key::Tag => {
                    kind = Some(map.next_value_seed(KindSeed(PhantomData))?);
                    break;
                }
                Key::Other(name) => before.push((name, map.next_value()?)),
            }
        }
        Ok(Self {
            kind,
            before: before.into_iter(),
            held: None,
            rest: map,
        })
    }

    /// Decodes the members other than the tag.
    ///
    /// # Errors
    ///
    /// If the members are not a `T`.
    pub(crate) fn decode<T: Deserialize<'de>>(self) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(self))
    }

    /// Keeps the members of an object whose tag is unknown, the tag first.
    ///
    /// # Errors
    ///
    /// If the input is not JSON.
    pub(crate) fn decode_unknown(
        self,
        tag: &str,
        kind: Option<String>,
    ) -> Result<JsonObject, A::Error> {
        let mut members = JsonObject::new();
        if let Some(kind) = kind {
            members.insert(tag.to_owned(), kind.into());
        }
        members.extend(self.decode::<JsonObject>()?);
        Ok(members)
    }
}

impl<'de, A: MapAccess<'de>, K> MapAccess<'de> for Tagged<A, K> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let Some((name, value)) = self.before.next() else {
            return self.rest.next_key_seed(seed);
        };
        self.held = Some(value);
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.held.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.rest.next_value_seed(seed),
        }
    }
}

enum Key {
    Tag,
    Other(String),
}

struct KeySeed(&'static str);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
        Ok(if name == self.0 {
            Key::Tag
        } else {
            Key::Other(name.to_owned())
        })
    }
}

struct KindSeed<K>(PhantomData<K>);

impl<'de, K: for<'a> From<&'a str>> DeserializeSeed<'de> for KindSeed<K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<K: for<'a> From<&'a str>> Visitor<'_> for KindSeed<K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, kind: &str) -> Result<K, E> {
        Ok(K::from(kind))
    }
}

/// Declares a member that always holds one text, such as `"type": "image"`.
///
/// The type is a unit: it costs nothing, writes its text, and refuses to read another.
macro_rules! tag {
    ($(#[$doc:meta])* $name:ident = $text:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        struct $name;

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($text)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::tagged::expect_tag(deserializer, $text).map(|()| Self)
            }
        }
    };
}
pub(crate) use tag;

/// Reads one fixed text and rejects all others.
///
/// # Errors
///
/// If the member has another value.
pub(crate) fn expect_tag<'de, D: Deserializer<'de>>(
    deserializer: D,
    text: &'static str,
) -> Result<(), D::Error> {
    deserializer.deserialize_str(Exactly(text))
}

struct Exactly(&'static str);

impl Visitor<'_> for Exactly {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text == self.0 {
            Ok(())
        } else {
            Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
        }
    }
}
