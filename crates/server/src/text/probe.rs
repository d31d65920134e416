//! Whether a type can be read from text at all, found before there is a text.
//!
//! A type requests a form from its deserializer. Lists, maps and structs have no form in plain text.

use std::cell::Cell;

use serde::de::value::{Error as Unreadable, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Returns true if some text may be a `T`.
pub(crate) fn is_readable<T: DeserializeOwned>() -> bool {
    let is_structured = Cell::new(false);
    let _ = T::deserialize(Probe(&is_structured));
    !is_structured.get()
}

/// Returns true if no text can be the member of this name in a `T`.
pub(crate) fn has_unreadable_member<T: DeserializeOwned>(name: &str) -> bool {
    let is_structured = Cell::new(false);
    let members = std::iter::once((name, Probe(&is_structured)));
    let _ = T::deserialize(MapDeserializer::<_, Unreadable>::new(members));
    is_structured.get()
}

/// Notes whether a list, a map or a struct is requested, and holds no value.
#[derive(Clone, Copy)]
struct Probe<'p>(&'p Cell<bool>);

fn ended<T>() -> Result<T, Unreadable> {
    Err(Unreadable::custom("a probe holds no value"))
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Unreadable> {
        ended()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Unreadable> {
        self.0.set(true);
        ended()
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for Probe<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    // The fields are read by the derived decoder only.
    #![allow(dead_code)]

    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    enum Style {
        Terse,
    }

    #[derive(Deserialize)]
    struct Id(u32);

    #[derive(Deserialize)]
    struct Ids(Vec<u32>);

    #[derive(Deserialize)]
    struct Report {
        id: Id,
        style: Option<Style>,
        tags: Vec<String>,
        #[serde(rename = "when")]
        at: Option<BTreeMap<String, String>>,
    }

    #[test]
    fn text_numbers_and_names_are_readable() {
        assert!(is_readable::<String>() && is_readable::<char>());
        assert!(is_readable::<bool>() && is_readable::<Option<f64>>());
        assert!(is_readable::<Style>() && is_readable::<Id>());
        assert!(is_readable::<serde_json::Value>());
    }

    #[test]
    fn lists_maps_and_structs_are_not_readable() {
        assert!(!is_readable::<Vec<String>>() && !is_readable::<Option<Ids>>());
        assert!(!is_readable::<(u8, u8)>() && !is_readable::<BTreeMap<String, u8>>());
        assert!(!is_readable::<Report>());
    }

    #[test]
    fn unreadable_members_are_found_by_name() {
        let unreadable = |name: &&str| has_unreadable_member::<Report>(name);
        let names = ["id", "style", "tags", "when", "at", "other"];
        assert_eq!(
            names.into_iter().filter(unreadable).collect::<Vec<_>>(),
            ["tags", "when"]
        );
    }
}
