//! The stored form of a journal.

use std::collections::BTreeMap;

use pintle_model::JsonObject;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Error;

use super::journal::{Answered, Journal, StoredAnswer};

impl Serialize for Journal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("r", &self.rounds)?;
        if let Some(state) = &self.state {
            map.serialize_entry("s", state)?;
        }
        write_unless_empty(&mut map, "q", &self.asked)?;
        write_unless_empty(&mut map, "a", &self.answered)?;
        write_unless_empty(&mut map, "o", &self.values)?;
        write_unless_empty(&mut map, "u", &self.unfit)?;
        map.end()
    }
}

fn write_unless_empty<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &str,
    entries: &BTreeMap<String, T>,
) -> Result<(), M::Error> {
    match entries.is_empty() {
        true => Ok(()),
        false => map.serialize_entry(name, entries),
    }
}

impl<'de> Deserialize<'de> for Journal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |members| {
            Ok(Self {
                rounds: required(members, "r")?,
                state: optional(members, "s")?,
                asked: optional(members, "q")?.unwrap_or_default(),
                answered: optional(members, "a")?.unwrap_or_default(),
                values: optional(members, "o")?.unwrap_or_default(),
                unfit: optional(members, "u")?.unwrap_or_default(),
                ..Self::default()
            })
        })
    }
}

impl Serialize for Answered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("q", &self.digest)?;
        map.serialize_entry("a", &self.given)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Answered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |members| {
            Ok(Self {
                digest: required(members, "q")?,
                given: required(members, "a")?,
            })
        })
    }
}

impl Serialize for StoredAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Answer(answer) => map.serialize_entry("answer", answer)?,
            Self::Failure(error) => map.serialize_entry("failure", error)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for StoredAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |members| {
            match (optional(members, "answer")?, optional(members, "failure")?) {
                (Some(answer), None) => Ok(Self::Answer(answer)),
                (None, Some(error)) => Ok(Self::Failure(error)),
                _ => Err(Error::custom("expected `answer` or `failure`")),
            }
        })
    }
}

fn read<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    make: fn(&mut JsonObject) -> Result<T, Error>,
) -> Result<T, D::Error> {
    let mut members = JsonObject::deserialize(deserializer)?;
    make(&mut members).map_err(D::Error::custom)
}

fn required<T: DeserializeOwned>(members: &mut JsonObject, name: &'static str) -> Result<T, Error> {
    optional(members, name)?.ok_or_else(|| Error::missing_field(name))
}

fn optional<T: DeserializeOwned>(members: &mut JsonObject, name: &str) -> Result<Option<T>, Error> {
    members
        .remove(name)
        .map_or(Ok(None), serde_json::from_value)
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use serde_json::json;

    use super::*;

    fn journal() -> Journal {
        let answer = JsonObject::from_iter([("action".to_owned(), json!("accept"))]);
        let failure = pintle_model::Error::new(pintle_model::ErrorCode(-1), "no");
        let answered = [
            ("b", Answered::new(7, StoredAnswer::Answer(answer))),
            ("c", Answered::new(8, StoredAnswer::Failure(failure))),
        ];
        Journal {
            rounds: 2,
            state: Some("s".to_owned()),
            asked: [("a".to_owned(), u64::MAX)].into(),
            answered: answered
                .map(|(name, given)| (name.to_owned(), given))
                .into(),
            values: [("v".to_owned(), json!(1.5))].into(),
            unfit: [("u".to_owned(), 1)].into(),
            ..Journal::default()
        }
    }

    #[test]
    fn a_journal_has_the_same_value_after_its_stored_form() {
        let text = concat!(
            r#"{"r":2,"s":"s","q":{"a":18446744073709551615},"#,
            r#""a":{"b":{"q":7,"a":{"answer":{"action":"accept"}}},"#,
            r#""c":{"q":8,"a":{"failure":{"code":-1,"message":"no"}}}},"#,
            r#""o":{"v":1.5},"u":{"u":1}}"#
        );
        assert_eq!(serde_json::to_string(&journal()).expect("JSON"), text);
        assert_eq!(
            serde_json::from_str::<Journal>(text).expect("a journal"),
            journal()
        );
        let empty = Journal::default();
        assert_eq!(serde_json::to_string(&empty).expect("JSON"), r#"{"r":0}"#);
        let read: Journal = serde_json::from_str(r#"{"r":0,"s":null,"z":1}"#).expect("a journal");
        assert_eq!(read, empty);
    }

    #[test]
    fn a_stored_form_of_another_shape_is_an_error() {
        for text in [
            "{}",
            "[]",
            r#"{"r":-1}"#,
            r#"{"r":1,"a":{"b":{"q":1,"a":{}}}}"#,
            r#"{"r":1,"a":{"b":{"q":1,"a":{"other":{}}}}}"#,
            r#"{"r":1,"a":{"b":{"q":1,"a":{"answer":{},"failure":{"code":1,"message":"m"}}}}}"#,
        ] {
            assert!(serde_json::from_str::<Journal>(text).is_err(), "{text}");
        }
    }
}
