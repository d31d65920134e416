//! Unions with a member that states the type, such as `type`.
//!
//! Serde's own internally tagged enums copy the whole object before they look at the tag.
//! Here only the members *before* the tag are copied, and every common peer writes the tag
//! first; the rest streams into the type it belongs to.

use std::borrow::Cow;
use std::vec;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::JsonObject;
use crate::read::{
    Event, Kind, Members, Object, ReadError, Source, Visit, Want, of_value, read_text,
};

/// An object whose tag has been read, with everything else still to come.
pub(crate) struct Tagged<'m, 'de, K> {
    /// The tag, if the object has one.
    pub(crate) kind: Option<K>,
    before: vec::IntoIter<(Cow<'de, str>, Value)>,
    held: Option<Value>,
    rest: &'m mut dyn Members<'de>,
}

impl<'m, 'de, K: for<'a> From<&'a str>> Tagged<'m, 'de, K> {
    /// Reads up to and including the member called `tag`.
    ///
    /// # Errors
    ///
    /// When the tag is not a string, or the input is not JSON.
    pub(crate) fn read(members: &'m mut dyn Members<'de>, tag: &str) -> Result<Self, ReadError> {
        let mut before = Vec::new();
        let mut kind = None;
        while let Some(name) = members.next_name()? {
            if name == tag {
                kind = Some(read_text(members, "a string", |text| K::from(&text))?);
                break;
            }
            before.push((name, members.value()?));
        }
        Ok(Self {
            kind,
            before: before.into_iter(),
            held: None,
            rest: members,
        })
    }

    /// Decodes the members other than the tag.
    ///
    /// # Errors
    ///
    /// If the members are not a `T`.
    pub(crate) fn decode<T: Object>(mut self) -> Result<T, ReadError> {
        T::build(&mut self)
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
    ) -> Result<JsonObject, ReadError> {
        let mut members = JsonObject::new();
        if let Some(kind) = kind {
            members.insert(tag.to_owned(), kind.into());
        }
        members.extend(self.decode::<JsonObject>()?);
        Ok(members)
    }
}

impl<'de, K> Members<'de> for Tagged<'_, 'de, K> {
    fn next_name(&mut self) -> Result<Option<Cow<'de, str>>, ReadError> {
        let Some((name, value)) = self.before.next() else {
            return self.rest.next_name();
        };
        self.held = Some(value);
        Ok(Some(name))
    }
}

impl<'de, K> Source<'de> for Tagged<'_, 'de, K> {
    fn read(&mut self, want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError> {
        match self.held.take() {
            Some(value) => of_value(value).read(want, visit),
            None => self.rest.read(want, visit),
        }
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        match self.held.take() {
            Some(value) => Ok(value),
            None => self.rest.value(),
        }
    }

    fn raw(&mut self) -> Result<Box<RawValue>, ReadError> {
        match self.held.take() {
            Some(value) => of_value(value).raw(),
            None => self.rest.raw(),
        }
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

        impl $crate::read::Read for $name {
            fn read(
                source: &mut dyn $crate::read::Source<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                $crate::tagged::expect_tag(source, $text, stringify!($text)).map(|()| Self)
            }
        }

        $crate::read::deserialize_by_read!($name);
    };
}
pub(crate) use tag;

/// Reads one fixed text and rejects all others.
///
/// # Errors
///
/// If the member has another value.
pub(crate) fn expect_tag(
    source: &mut dyn Source<'_>,
    tag: &str,
    expected: &'static str,
) -> Result<(), ReadError> {
    source.read(Want::one(Kind::Text, expected), &mut |event| match &event {
        Event::Text(text) if text == tag => Ok(()),
        Event::Text(_) => Err(event.wrong_value(expected)),
        _ => Err(event.wrong_type(expected)),
    })
}
