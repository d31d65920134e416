//! Decoding types that borrow from the text of their parameters.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Implements `Deserialize` for a type of some members of an object. Other members are skipped.
///
/// ```text
/// decode!(ReadParams<'de> {
///     "uri" => required_text uri,                     // A text. An error if it is missing.
///     "requestState" => optional_text request_state,  // `None` if it is missing or null.
///     "task" => optional task,                        // The same, of any type.
/// });
/// ```
macro_rules! decode {
    ($name:ident $(<$de:lifetime>)? { $($key:literal => $kind:ident $field:ident,)* }) => {
        impl<'de> serde::Deserialize<'de> for $name $(<$de>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name $(<$de>)?;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($name)))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut members: A,
                    ) -> Result<Self::Value, A::Error> {
                        $(let mut $field = None;)*
                        while let Some(decode::Text(name)) = members.next_key()? {
                            match &*name {
                                $($key => decode::fill(&mut $field, $key, &mut members)?,)*
                                _ => drop(members.next_value::<serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok($name { $($field: decode::$kind($field, $key)?,)* })
                    }
                }

                deserializer.deserialize_struct(stringify!($name), &[$($key),*], Members)
            }
        }
    };
}
pub(super) use decode;

/// A text that is borrowed if it has no escapes.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(AnyText)
    }
}

struct AnyText;

impl<'de> Visitor<'de> for AnyText {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(text.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(text.to_owned().into()))
    }
}

/// Reads a member that can occur once.
///
/// # Errors
///
/// If the member is repeated or wrong.
pub(super) fn fill<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
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

/// Returns a text that must occur.
///
/// # Errors
///
/// If it is missing.
pub(super) fn required_text<'a, T: From<Cow<'a, str>>, E: Error>(
    place: Option<Text<'a>>,
    name: &'static str,
) -> Result<T, E> {
    let Text(text) = place.ok_or_else(|| E::missing_field(name))?;
    Ok(text.into())
}

/// Returns a text that may be missing or null. It is never an error.
pub(super) fn optional_text<'a, E>(
    place: Option<Option<Text<'a>>>,
    _: &str,
) -> Result<Option<Cow<'a, str>>, E> {
    Ok(place.flatten().map(|Text(text)| text))
}

/// Returns a member that may be missing or null. It is never an error.
pub(super) fn optional<T, E>(place: Option<Option<T>>, _: &str) -> Result<Option<T>, E> {
    Ok(place.flatten())
}
