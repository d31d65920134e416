//! Members that a type does not know.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, map};

use crate::JsonObject;
use crate::read::{Read, ReadError, Source, deserialize_by_read};

/// Members that this version does not know: kept when read, written back when sent.
///
/// It is used like the [`JsonObject`] that it dereferences to. It has the size of a pointer, because
/// nearly all values of the protocol have no such members.
#[derive(Clone, Default)]
pub struct Extra(Option<Box<JsonObject>>);

static EMPTY: LazyLock<JsonObject> = LazyLock::new(Map::new);

impl Extra {
    /// Creates an object without members. It allocates nothing.
    #[inline]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns true if there are no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|members| members.is_empty())
    }

    /// Removes a member; the others keep their order.
    pub fn shift_remove(&mut self, name: &str) -> Option<Value> {
        self.0.as_mut()?.shift_remove(name)
    }

    /// Reads a member that a type does not know.
    pub(crate) fn read_member(
        &mut self,
        name: Cow<'_, str>,
        source: &mut dyn Source<'_>,
    ) -> Result<(), ReadError> {
        let value = source.value()?;
        self.insert(name.into_owned(), value);
        Ok(())
    }

    /// Adds the members to those that a type knows.
    pub(crate) fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Some(members) = &self.0 else {
            return Ok(());
        };
        members
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))
    }

    /// Returns the members as a map.
    pub fn into_object(self) -> JsonObject {
        self.0.map(|members| *members).unwrap_or_default()
    }
}

impl Deref for Extra {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for Extra {
    fn deref_mut(&mut self) -> &mut JsonObject {
        self.0.get_or_insert_default()
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => own == other,
            _ => self.is_empty() && other.is_empty(),
        }
    }
}

impl Eq for Extra {}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<JsonObject> for Extra {
    fn from(members: JsonObject) -> Self {
        Self((!members.is_empty()).then(|| Box::new(members)))
    }
}

impl From<Extra> for JsonObject {
    fn from(extra: Extra) -> Self {
        extra.into_object()
    }
}

impl FromIterator<(String, Value)> for Extra {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        JsonObject::from_iter(members).into()
    }
}

impl Extend<(String, Value)> for Extra {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, members: I) {
        let mut members = members.into_iter().peekable();
        if members.peek().is_some() {
            (**self).extend(members);
        }
    }
}

impl IntoIterator for Extra {
    type Item = (String, Value);
    type IntoIter = map::IntoIter;

    fn into_iter(self) -> map::IntoIter {
        self.into_object().into_iter()
    }
}

impl<'a> IntoIterator for &'a Extra {
    type Item = (&'a String, &'a Value);
    type IntoIter = map::Iter<'a>;

    fn into_iter(self) -> map::Iter<'a> {
        self.iter()
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(members) => members.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

impl Read for Extra {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        JsonObject::read(source).map(Self::from)
    }
}

deserialize_by_read!(Extra);

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use serde_json::json;

    use super::*;
    use crate::{
        CallToolResult, ClientCapabilities, ContentBlock, Error, Meta, Outcome, ServerCapabilities,
    };

    #[test]
    fn an_extra_is_used_like_a_map() {
        let mut extra = Extra::new();
        assert!(extra.is_empty() && extra.get("a").is_none());
        extra.insert("a".to_owned(), json!(1));
        extra.extend([("b".to_owned(), json!(2))]);
        assert_eq!((&extra["a"], extra.len()), (&json!(1), 2));
        let names: Vec<_> = (&extra)
            .into_iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(
            serde_json::to_value(&extra).unwrap(),
            json!({"a": 1, "b": 2})
        );
        assert_eq!(Extra::from(extra.clone().into_object()), extra);
        extra.clear();
        assert_eq!(extra, Extra::new());
    }

    #[test]
    fn an_empty_extra_is_written_as_an_empty_object() {
        let read: Extra = serde_json::from_str("{}").unwrap();
        assert!(read.0.is_none());
        assert_eq!(serde_json::to_string(&read).unwrap(), "{}");
        assert_eq!(format!("{read:?}"), "{}");
    }

    // Values move through several futures on the way of a call.
    #[test]
    fn values_of_a_call_are_small() {
        let sizes = [
            ("Extra", size_of::<Extra>(), 8),
            ("Meta", size_of::<Option<Meta>>(), 16),
            ("Error", size_of::<Error>(), 48),
            ("ContentBlock", size_of::<ContentBlock>(), 152),
            ("CallToolResult", size_of::<CallToolResult>(), 136),
            ("Outcome", size_of::<Outcome<CallToolResult>>(), 200),
            ("ClientCapabilities", size_of::<ClientCapabilities>(), 696),
            ("ServerCapabilities", size_of::<ServerCapabilities>(), 568),
        ];
        let large: Vec<_> = sizes.iter().filter(|(_, size, most)| size > most).collect();
        assert!(large.is_empty(), "type, size, limit: {large:?}");
    }
}
