//! Values from plain text: arguments of prompts and variables of templates have no other form.

use serde::de::value::Error as Unreadable;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

mod probe;

pub(crate) use probe::{has_unreadable_member, is_readable};

/// Reads a value. Text is read as it is, and numbers, `true` and `false` as in JSON. Enums are read by
/// the name of their variant, and other types as from a string.
///
/// # Errors
///
/// What was expected, in words.
pub(crate) fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    T::deserialize(Text(text))
}

/// A text to read any value from.
pub(crate) struct Text<'t>(pub(crate) &'t str);

macro_rules! parsed {
    ($($method:ident $visit:ident $expected:literal),+ $(,)?) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
                match self.0.trim().parse() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => Err(Unreadable::custom(concat!("expected ", $expected))),
                }
            }
        )+
    };
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Unreadable;

    parsed! {
        deserialize_bool visit_bool "true or false",
        deserialize_i8 visit_i8 "a whole number from -128 to 127",
        deserialize_i16 visit_i16 "a whole number from -32768 to 32767",
        deserialize_i32 visit_i32 "a whole number",
        deserialize_i64 visit_i64 "a whole number",
        deserialize_i128 visit_i128 "a whole number",
        deserialize_u8 visit_u8 "a whole number from 0 to 255",
        deserialize_u16 visit_u16 "a whole number from 0 to 65535",
        deserialize_u32 visit_u32 "a whole number that is not negative",
        deserialize_u64 visit_u64 "a whole number that is not negative",
        deserialize_u128 visit_u128 "a whole number that is not negative",
        deserialize_f32 visit_f32 "a number",
        deserialize_f64 visit_f64 "a number",
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_str(self.0)
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

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Style {
        VeryTerse,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Id(u32);

    #[test]
    fn values_are_read_from_their_text() {
        assert_eq!(from_text::<String>(" a ").unwrap(), " a ");
        assert_eq!(from_text::<i64>("-3").unwrap(), -3);
        assert_eq!(from_text::<f64>(" 1e3 ").unwrap(), 1000.0);
        assert!(from_text::<bool>("true").unwrap());
        assert_eq!(from_text::<Style>("very-terse").unwrap(), Style::VeryTerse);
        assert_eq!(from_text::<Option<Id>>("7").unwrap(), Some(Id(7)));
        assert_eq!(from_text::<char>("x").unwrap(), 'x');
    }

    #[test]
    fn what_cannot_be_read_is_told_in_words() {
        let error = from_text::<u8>("300").unwrap_err().to_string();
        assert_eq!(error, "expected a whole number from 0 to 255");
        let error = from_text::<Style>("loud").unwrap_err().to_string();
        assert_eq!(error, "unknown variant `loud`, expected `very-terse`");
        assert!(from_text::<Vec<u8>>("1,2").is_err());
    }
}
