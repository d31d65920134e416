//! Entries in a YAML text, in a map in block style. Other forms are left to the user.

use pintle_model::JsonObject;
use serde_json::Value;

use super::error::TextError;
use super::splice::{Splices, newline, next_line};
use crate::raw_entry::SyntaxError;
use crate::yaml;

/// Indentation of a text that has none.
const UNIT: &str = "  ";

/// Adds an entry to the map at a key, or replaces one.
///
/// # Errors
///
/// [`TextError`], also if the entry exists and is not to be replaced.
pub(super) fn insert(
    text: &str,
    path: &[&str],
    name: &str,
    members: &JsonObject,
    replaces: bool,
) -> Result<String, TextError> {
    let file = value(text)?;
    let container = container(&file, path)?;
    if container.is_some_and(|entries| entries.contains_key(name)) {
        if !replaces {
            return Err(TextError::Exists);
        }
        let rest = remove(text, path, name)?;
        return insert(&rest, path, name, members, false);
    }
    let (Some(file), [key]) = (file.as_object(), path) else {
        return Err(TextError::NotEditable("the file is not a map"));
    };
    if file.contains_key(*key) {
        return below(text, key, name, members);
    }
    Ok(appended(text, key, name, members))
}

/// Removes an entry from the map at a key.
///
/// # Errors
///
/// [`TextError`], also if there is no such entry.
pub(super) fn remove(text: &str, path: &[&str], name: &str) -> Result<String, TextError> {
    let file = value(text)?;
    let is_there = container(&file, path)?.is_some_and(|entries| entries.contains_key(name));
    let key = match path {
        [key] if is_there => key,
        _ => return Err(TextError::Absent),
    };
    let start = line_of(text, 0, 0, key).ok_or(NOT_BLOCK)?;
    let first = content_line(text, next_line(text, start)).ok_or(NOT_BLOCK)?;
    let depth = depth(&text[first..]);
    let entry = line_of(text, first, depth, name).ok_or(NOT_BLOCK)?;
    let end = end_of_entry(text, entry, depth);
    let mut splices = Splices::default();
    splices.delete(entry..end);
    Ok(splices.apply(text))
}

const NOT_BLOCK: TextError =
    TextError::NotEditable("the servers are not a map with one line for each key");

/// Returns the value of a text.
///
/// # Errors
///
/// [`SyntaxError`] if the text is not YAML.
pub(super) fn value(text: &str) -> Result<Value, SyntaxError> {
    let value = yaml::value(text)?;
    Ok(value.unwrap_or_else(|| Value::Object(JsonObject::new())))
}

/// Returns the lines of a new entry, for the user.
pub(super) fn lines(path: &[&str], name: &str, members: &JsonObject) -> String {
    let key = path.first().copied().unwrap_or_default();
    format!("{key}:\n{}", entry(UNIT, UNIT, name, members, "\n"))
}

fn container<'v>(file: &'v Value, path: &[&str]) -> Result<Option<&'v JsonObject>, TextError> {
    let mut value = file;
    for key in path {
        match value.get(key) {
            Some(inner) => value = inner,
            None => return Ok(None),
        }
    }
    match value {
        Value::Object(entries) => Ok(Some(entries)),
        Value::Null => Ok(None),
        _ => Err(NOT_BLOCK),
    }
}

/// Inserts an entry below the line of a key, before the other entries.
fn below(text: &str, key: &str, name: &str, members: &JsonObject) -> Result<String, TextError> {
    let start = line_of(text, 0, 0, key).ok_or(NOT_BLOCK)?;
    let line = &text[start..next_line(text, start)];
    let after = line
        .trim_end()
        .split_once(':')
        .map_or("", |(_, rest)| rest.trim());
    if !after.is_empty() && !after.starts_with('#') {
        return Err(NOT_BLOCK);
    }
    let newline = newline(text);
    let at = start + line.len();
    let own = content_line(text, at).map(|line| &text[line..]);
    let own = own
        .map(|rest| &rest[..depth(rest)])
        .filter(|indent| !indent.is_empty());
    let entry = entry(own.unwrap_or(UNIT), UNIT, name, members, newline);
    let mut splices = Splices::default();
    match line.ends_with('\n') {
        true => splices.insert(at, entry),
        false => splices.insert(at, format!("{newline}{}", entry.trim_end())),
    }
    Ok(splices.apply(text))
}

fn appended(text: &str, key: &str, name: &str, members: &JsonObject) -> String {
    let newline = newline(text);
    let bare = text.trim_start_matches('\u{feff}');
    let gap = match bare.is_empty() || text.ends_with('\n') {
        true => "",
        false => newline,
    };
    let entry = entry(UNIT, UNIT, name, members, newline);
    format!("{text}{gap}{key}:{newline}{entry}")
}

fn entry(indent: &str, unit: &str, name: &str, members: &JsonObject, newline: &str) -> String {
    let mut lines = format!("{indent}{}:{newline}", key(name));
    for (name, value) in members {
        // A value of JSON is a value of YAML.
        lines.push_str(&format!(
            "{indent}{unit}{}: {}{newline}",
            key(name),
            flow(value)
        ));
    }
    lines
}

fn flow(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members
                .map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), flow(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// Returns a key, in quotes if it could be another value than a text.
fn key(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let begins = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word));
    match begins && !is_word && name.bytes().all(is_plain) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

/// Returns the number of blanks at the beginning of a text.
fn depth(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Returns where the next line begins that has more than a comment, and is indented.
fn content_line(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while at < text.len() {
        let line = text[at..next_line(text, at)].trim();
        if !line.is_empty() && !line.starts_with('#') {
            return (depth(&text[at..]) > 0).then_some(at);
        }
        at = next_line(text, at);
    }
    None
}

/// Returns where the line of a key begins, at a depth.
fn line_of(text: &str, from: usize, level: usize, name: &str) -> Option<usize> {
    let bom = '\u{feff}'.len_utf8();
    let mut at = match from == 0 && text.starts_with('\u{feff}') {
        true => bom,
        false => from,
    };
    let quoted = Value::from(name).to_string();
    let single = format!("'{}'", name.replace('\'', "''"));
    while at < text.len() {
        let line = &text[at..next_line(text, at)];
        let (own, content) = (depth(line), line.trim());
        let is_content = !content.is_empty() && !content.starts_with('#');
        if is_content && own < level {
            return None;
        }
        let spellings = [name, quoted.as_str(), single.as_str()];
        let is_key = spellings.iter().any(|spelling| {
            let rest = content.strip_prefix(spelling);
            let rest = rest.and_then(|rest| rest.trim_start().strip_prefix(':'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
        });
        if is_key && own == level {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Returns the end of an entry: the next line that is not deeper. Blank lines and comments before it stay.
fn end_of_entry(text: &str, entry: usize, level: usize) -> usize {
    let mut at = next_line(text, entry);
    let mut end = at;
    while at < text.len() {
        let next = next_line(text, at);
        let line = &text[at..next];
        let is_blank = line.trim().is_empty();
        // A list may stand as deep as its key.
        if !is_blank && depth(line) <= level {
            break;
        }
        at = next;
        if !is_blank {
            end = at;
        }
    }
    end
}
