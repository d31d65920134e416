//! The members of a JSON object, undecoded: for values that are passed on.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::RawJson;
use crate::jsonrpc::members;
use crate::read::Name;

/// The members of a JSON object in their order. The values are the text of the object: numbers keep their
/// digits, and repeated names stay.
#[derive(Debug, Clone, Default)]
pub struct RawMembers<'a>(Vec<(Cow<'a, str>, RawJson<'a>)>);

impl<'a> RawMembers<'a> {
    /// Reads the text of an object.
    ///
    /// # Errors
    ///
    /// If the text is not a JSON object.
    pub fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut all = Vec::new();
        let read = members(text, |name, value| {
            all.push((Cow::Borrowed(name), value));
            Some(())
        });
        match read {
            Some(()) => Ok(Self(all)),
            None => serde_json::from_str(text),
        }
    }

    /// Returns true if the object has no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes a member and returns its value; the last one if the name is repeated.
    pub fn remove(&mut self, name: &str) -> Option<RawJson<'a>> {
        let value = self.get(name)?;
        self.0.retain(|member| member.0 != name);
        Some(value)
    }

    /// Returns the value of a member.
    pub fn get(&self, name: &str) -> Option<RawJson<'a>> {
        let mut named = self.0.iter().rev().filter(|member| member.0 == name);
        named.next().map(|member| member.1)
    }

    /// Sets a member: it replaces an earlier one of the name, otherwise at the end. The name is not repeated
    /// afterwards.
    pub fn insert(&mut self, name: &str, value: impl Into<RawJson<'a>>) {
        let value = value.into();
        let Some(place) = self.0.iter().position(|member| member.0 == name) else {
            self.0.push((Cow::Owned(name.to_owned()), value));
            return;
        };
        self.0[place].1 = value;
        let mut index = 0;
        self.0.retain(|member| {
            index += 1;
            index - 1 <= place || member.0 != name
        });
    }

    /// Writes the object on one line.
    pub fn to_vec(&self) -> Vec<u8> {
        let length = self
            .0
            .iter()
            .map(|(name, value)| name.len() + value.get().len() + 4);
        let mut text = Vec::with_capacity(2 + length.sum::<usize>());
        text.push(b'{');
        for (name, value) in &self.0 {
            if text.len() > 1 {
                text.push(b',');
            }
            serde_json::to_writer(&mut text, name).expect("a name is always writable");
            text.push(b':');
            extend_on_one_line(&mut text, value.get().as_bytes());
        }
        text.push(b'}');
        text
    }
}

/// Appends JSON without its line breaks, which are never a part of a string.
fn extend_on_one_line(text: &mut Vec<u8>, json: &[u8]) {
    let start = text.len();
    text.extend_from_slice(json);
    for byte in &mut text[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = RawMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key_seed(Name)? {
            members.push((name, map.next_value()?));
        }
        Ok(RawMembers(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn a_set_member_is_not_repeated() {
        let two: Box<RawValue> = serde_json::from_str("2").expect("JSON");
        let mut members = RawMembers::read(r#"{"a":1,"b":1,"a":3}"#).expect("an object");
        members.insert("a", &*two);
        members.insert("c", &*two);
        assert_eq!(members.to_vec(), br#"{"a":2,"b":1,"c":2}"#);
    }

    #[test]
    fn members_stay_in_order_and_unchanged() {
        let text = "{\"b\": 1.50,\n\"x\":{\"y\":7},\"a\":[12345678901234567890123,\n2]}";
        let mut members = RawMembers::read(text).expect("an object");
        assert_eq!(members.get("b").map(RawJson::get), Some("1.50"));
        assert_eq!(members.remove("x").map(RawJson::get), Some("{\"y\":7}"));
        assert!(members.remove("x").is_none());
        assert_eq!(
            members.to_vec(),
            b"{\"b\":1.50,\"a\":[12345678901234567890123, 2]}"
        );
        assert!(RawMembers::read("[]").is_err());
    }

    #[test]
    fn a_name_with_an_escape_is_read() {
        let members = RawMembers::read(r#"{"a\n":1,"\u0062":2}"#).expect("an object");
        assert_eq!(members.get("b").map(RawJson::get), Some("2"));
        assert_eq!(members.to_vec(), br#"{"a\n":1,"b":2}"#);
    }
}
