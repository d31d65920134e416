//! Builds one object that fits the schema from words.

use std::io;

use pintle::model::JsonObject;
use pintle::schema::{Validator, Violation};
use serde_json::Value;

use super::coerce::coerce;
use super::error::ArgumentError;
use super::guide::Guide;
use super::word::{Notation, Source, Word, parts};
use pintle_hosts::suggestion;

/// Arguments, with remarks about them for the user.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Built {
    /// The arguments as one object.
    pub(crate) arguments: JsonObject,
    /// Remarks about arguments that look wrong, but are permitted.
    pub(crate) remarks: Vec<String>,
}

/// Builds arguments for a schema. `read` returns the text of a file, or of standard input for
/// `None`.
///
/// # Errors
///
/// [`ArgumentError`]; [`ArgumentError::Unfit`] names every fault. The server enforces a schema that
/// this client cannot compile.
pub(crate) fn build(
    words: &[Word],
    schema: &JsonObject,
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<Built, ArgumentError> {
    let built = build_unchecked(words, schema, read)?;
    check(&built.arguments, schema, &Guide::new(schema))?;
    Ok(built)
}

/// Builds arguments without a check that they fit the schema.
///
/// # Errors
///
/// [`ArgumentError`], except [`ArgumentError::Unfit`].
pub(crate) fn build_unchecked(
    words: &[Word],
    schema: &JsonObject,
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<Built, ArgumentError> {
    let guide = Guide::new(schema);
    let mut arguments = Value::Object(whole(words, read)?);
    for (key, values) in by_key(words) {
        let place = place(key, &guide)?;
        let mut guide_here = guide.clone();
        let target = descend(&mut arguments, &place, &mut guide_here, key)?;
        *target = value(key, &values, &guide_here, read)?;
    }
    let Value::Object(arguments) = arguments else {
        let place = "the JSON of all arguments".to_owned();
        return Err(ArgumentError::NoObject { place });
    };
    Ok(Built {
        remarks: remarks(&arguments, &guide),
        arguments,
    })
}

/// Returns the members of all JSON objects; a later object overwrites members of an earlier one.
fn whole(
    words: &[Word],
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<JsonObject, ArgumentError> {
    let mut whole = JsonObject::new();
    for word in words {
        let Word::Whole(source) = word else {
            continue;
        };
        let place = source.place("the object");
        match json(source, &place, read)? {
            Value::Object(members) => whole.extend(members),
            _ => return Err(ArgumentError::NoObject { place }),
        }
    }
    Ok(whole)
}

type TypedValue<'w> = (&'w Source, Notation);

/// Groups the values by key, in the order of the first value of each key.
fn by_key(words: &[Word]) -> Vec<(&str, Vec<TypedValue<'_>>)> {
    let mut by_key: Vec<(&str, Vec<TypedValue<'_>>)> = Vec::new();
    for word in words {
        let Word::Value {
            key,
            source,
            notation,
        } = word
        else {
            continue;
        };
        match by_key.iter_mut().find(|(known, _)| known == key) {
            Some((_, values)) => values.push((source, *notation)),
            None => by_key.push((key, vec![(source, *notation)])),
        }
    }
    by_key
}

/// Returns the path of a key. A key that the schema has as a whole is not split.
fn place(key: &str, guide: &Guide<'_>) -> Result<Vec<String>, ArgumentError> {
    match guide.members().contains(&key) {
        true => Ok(vec![key.to_owned()]),
        false => parts(key),
    }
}

/// Returns the place in the arguments that a path leads to. Missing parts are created.
fn descend<'a>(
    from: &'a mut Value,
    parts: &[String],
    guide: &mut Guide<'_>,
    key: &str,
) -> Result<&'a mut Value, ArgumentError> {
    let no_place = |reason| ArgumentError::NoPlace {
        key: key.to_owned(),
        reason,
    };
    let mut here = from;
    for part in parts {
        let index = part.parse::<usize>().ok();
        if here.is_null() {
            let kinds = guide.kinds();
            let is_list = kinds.array && !kinds.object && index.is_some();
            *here = if is_list {
                Value::Array(Vec::new())
            } else {
                Value::Object(JsonObject::new())
            };
        }
        here = match (here, index) {
            (Value::Object(members), _) => {
                *guide = guide.member(part);
                members.entry(part.as_str()).or_insert(Value::Null)
            }
            (Value::Array(items), Some(index)) if index <= items.len() => {
                *guide = guide.item(index);
                if index == items.len() {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            (Value::Array(_), _) => {
                return Err(no_place("items are numbered from 0, without gaps"));
            }
            _ => return Err(no_place("a part of it is a single value")),
        };
    }
    Ok(here)
}

/// Returns the value of a key; several values become a list.
fn value(
    key: &str,
    given: &[TypedValue<'_>],
    guide: &Guide<'_>,
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<Value, ArgumentError> {
    if let [one] = given {
        return single(key, *one, guide, read);
    }
    let kinds = guide.kinds();
    if !kinds.array && !kinds.is_any() {
        return Err(ArgumentError::Twice {
            key: key.to_owned(),
        });
    }
    let mut items = Vec::with_capacity(given.len());
    for one in given {
        let guide = guide.item(items.len());
        items.push(single(key, *one, &guide, read)?);
    }
    Ok(Value::Array(items))
}

fn single(
    key: &str,
    (source, notation): TypedValue<'_>,
    guide: &Guide<'_>,
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<Value, ArgumentError> {
    let place = source.place(&format!("the value of `{key}`"));
    match notation {
        Notation::Json => json(source, &place, read),
        Notation::Text => Ok(coerce(&text(source, &place, read)?, guide)),
    }
}

fn json(
    source: &Source,
    place: &str,
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<Value, ArgumentError> {
    let text = text(source, place, read)?;
    serde_json::from_str(&text).map_err(|error| ArgumentError::NotJson {
        place: place.to_owned(),
        reason: error.to_string(),
    })
}

fn text(
    source: &Source,
    place: &str,
    read: &mut dyn FnMut(Option<&str>) -> io::Result<String>,
) -> Result<String, ArgumentError> {
    let text = match source {
        Source::Inline(text) => Ok(text.clone()),
        Source::File(file) => read(Some(file)),
        Source::Input => read(None),
    };
    text.map_err(|source| ArgumentError::Unreadable {
        place: place.to_owned(),
        source,
    })
}

fn check(
    arguments: &JsonObject,
    schema: &JsonObject,
    guide: &Guide<'_>,
) -> Result<(), ArgumentError> {
    // The server enforces a schema that this client cannot compile.
    let Ok(validator) = Validator::compile_foreign(schema) else {
        return Ok(());
    };
    let Err(violations) = validator.validate(&Value::Object(arguments.clone())) else {
        return Ok(());
    };
    let faults = violations
        .iter()
        .map(|violation| fault(violation, arguments, guide));
    Err(ArgumentError::Unfit {
        faults: faults.collect(),
    })
}

/// Describes a violation with the keys of the command line.
fn fault(violation: &Violation, arguments: &JsonObject, guide: &Guide<'_>) -> String {
    let expected = &violation.expected;
    let parts: Vec<String> = violation
        .pointer
        .split('/')
        .skip(1)
        .map(unescaped)
        .collect();
    let key = parts
        .iter()
        .map(|part| part.replace('.', "\\."))
        .collect::<Vec<_>>()
        .join(".");
    let is_there = at(arguments, &parts);
    match is_there {
        _ if parts.is_empty() => violation.to_string(),
        None => {
            let expected_guide = parts
                .iter()
                .fold(guide.clone(), |guide, part| guide.member(part));
            let about = expected_guide
                .description()
                .map(|text| format!(": {text}"))
                .unwrap_or_default();
            format!("`{key}` is missing; expected {expected}{about}")
        }
        Some(_)
            if parts.len() == 1
                && guide.is_closed()
                && !guide.members().contains(&key.as_str()) =>
        {
            let near = suggestion(&key, guide.members());
            format!(
                "there is no argument `{key}`{near}; there are {}",
                listed(guide)
            )
        }
        Some(Value::String(text)) if text.chars().count() <= 40 => {
            format!("`{key}` is \"{text}\"; expected {expected}")
        }
        Some(_) => format!("`{key}` is {}; expected {expected}", violation.found),
    }
}

fn at<'a>(arguments: &'a JsonObject, parts: &[String]) -> Option<&'a Value> {
    let (first, rest) = parts.split_first()?;
    rest.iter()
        .try_fold(arguments.get(first)?, |place, part| match place {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            place => place.get(part),
        })
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

fn listed(guide: &Guide<'_>) -> String {
    match guide.members().as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// Returns remarks about arguments that the schema does not describe, but permits.
fn remarks(arguments: &JsonObject, guide: &Guide<'_>) -> Vec<String> {
    let names = guide.members();
    let unknown = arguments
        .keys()
        .filter(|name| !names.contains(&name.as_str()));
    unknown
        .filter(|name| guide.member(name).kinds().is_any() && !names.is_empty())
        .map(|name| {
            let near = suggestion(name, names.iter().copied());
            format!(
                "the schema does not describe the argument `{name}`{near}; it is sent all the same"
            )
        })
        .collect()
}
