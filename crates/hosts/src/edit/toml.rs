//! Entries in a TOML text. The rest of the text stays byte for byte.
//!
//! A new entry is a table at the end of the text, because a header there cannot change another table.

use pintle_model::JsonObject;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::TextError;
use super::splice::{Splices, newline, next_line, space_before};
use crate::raw_entry::SyntaxError;
use crate::toml::{fault, object};

/// Adds an entry to the table at a path of keys, or replaces one.
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
    let file = parsed(text)?;
    match find(file.get_ref(), path, name) {
        Some(_) if replaces => {
            let rest = remove(text, path, name)?;
            insert(&rest, path, name, members, false)
        }
        Some(_) => Err(TextError::Exists),
        None => {
            let section = section(path, name, members, newline(text));
            Ok(appended(text, &section))
        }
    }
}

/// Removes an entry from the table at a path of keys.
///
/// # Errors
///
/// [`TextError`], also if there is no such entry.
pub(super) fn remove(text: &str, path: &[&str], name: &str) -> Result<String, TextError> {
    let file = parsed(text)?;
    let entry = find(file.get_ref(), path, name).ok_or(TextError::Absent)?;
    let reason = "the entry has no table of its own";
    let mut headers = Vec::new();
    collect_headers(text, file.get_ref(), &mut headers);
    headers.sort_unstable();
    let mut own = Vec::new();
    own_headers(text, entry, &mut own);
    if own.is_empty() {
        return Err(TextError::NotEditable(reason));
    }
    let mut splices = Splices::default();
    for start in own {
        let next = headers.iter().copied().find(|header| *header > start);
        let end = end_of_section(text, next.unwrap_or(text.len()));
        splices.delete(section_start(text, start, end)..end);
    }
    Ok(splices.apply(text))
}

/// Returns the value of a text.
///
/// # Errors
///
/// [`SyntaxError`] if the text is not TOML.
pub(super) fn value(text: &str) -> Result<Value, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = DeTable::parse(text).map_err(|error| fault(text, &error))?;
    Ok(Value::Object(object(file.get_ref())))
}

fn parsed(text: &str) -> Result<Spanned<DeTable<'_>>, SyntaxError> {
    DeTable::parse(text).map_err(|error| fault(text, &error))
}

fn find<'f, 't>(
    file: &'f DeTable<'t>,
    path: &[&str],
    name: &str,
) -> Option<&'f Spanned<DeValue<'t>>> {
    let mut table = file;
    for key in path {
        match table.get(*key)?.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return None,
        }
    }
    table.get(name)
}

/// Collects where the headers of all tables stand.
fn collect_headers(text: &str, table: &DeTable<'_>, headers: &mut Vec<usize>) {
    for (_, value) in table {
        own_headers(text, value, headers);
    }
}

/// Collects where the headers of a table stand, and those of the tables in it.
fn own_headers(text: &str, value: &Spanned<DeValue<'_>>, headers: &mut Vec<usize>) {
    match value.get_ref() {
        DeValue::Table(table) => {
            let start = value.span().start;
            if text[start..].starts_with('[') && !headers.contains(&start) {
                headers.push(start);
            }
            collect_headers(text, table, headers);
        }
        DeValue::Array(items) => items
            .iter()
            .for_each(|item| own_headers(text, item, headers)),
        _ => {}
    }
}

/// Returns the end of a section without the blank lines and comments before the next header.
fn end_of_section(text: &str, next: usize) -> usize {
    if next == text.len() {
        return next;
    }
    let mut end = next;
    loop {
        let before = text[..end].trim_end_matches(['\r', '\n', ' ', '\t']).len();
        let line = text[..before].rfind('\n').map_or(0, |feed| feed + 1);
        match text[line..before].trim_start().starts_with('#') {
            true => end = line,
            false => return next_line(text, before).min(end),
        }
    }
}

/// Returns the start of a section with one blank line before it.
fn section_start(text: &str, header: usize, end: usize) -> usize {
    let lines = match end == text.len() && !text.ends_with('\n') {
        // The text had no line end before the section was added.
        true => 2,
        false => 1,
    };
    let mut start = header;
    for _ in 0..lines {
        let before = &text[..start];
        let shorter = before
            .strip_suffix("\r\n")
            .or_else(|| before.strip_suffix('\n'));
        match shorter {
            // The line end of the line before stays.
            Some(shorter) if lines == 2 || is_blank_line(shorter) => start = shorter.len(),
            _ => break,
        }
    }
    start.max(space_before(text, header))
}

fn is_blank_line(before: &str) -> bool {
    before.is_empty() || before.ends_with('\n') || before == "\u{feff}"
}

fn appended(text: &str, section: &str) -> String {
    let newline = newline(text);
    let bare = text.trim_start_matches('\u{feff}');
    match (bare.is_empty(), text.ends_with('\n')) {
        (true, _) => format!("{text}{section}"),
        (false, true) => format!("{text}{newline}{section}"),
        (false, false) => format!("{text}{newline}{newline}{}", section.trim_end()),
    }
}

fn section(path: &[&str], name: &str, members: &JsonObject, newline: &str) -> String {
    let keys: Vec<_> = path.iter().chain([&name]).map(|part| key(part)).collect();
    let mut section = format!("[{}]{newline}", keys.join("."));
    for (name, value) in members {
        section.push_str(&format!("{} = {}{newline}", key(name), written(value)));
    }
    section
}

fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.to_owned(),
        false => string(name),
    }
}

/// Returns a basic string. The escapes of JSON are a part of those of TOML.
fn string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(name, value)| format!("{} = {}", key(name), written(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}
