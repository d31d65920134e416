//! Entries in a text of JSON with comments. The rest of the text stays byte for byte.

use std::ops::Range;

use pintle_model::JsonObject;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::error::TextError;
use super::splice::{Splices, begins_line, indent, line_start, newline, space_before};
use crate::jsonc;
use crate::raw_entry::SyntaxError;

/// Indentation of a text that has none.
const UNIT: &str = "  ";

/// A text and its parts that decide where an entry stands.
struct Source<'t> {
    text: &'t str,
    /// The same text with blanks in place of comments.
    bare: String,
    /// The same text as JSON.
    plain: String,
}

/// The places of an object.
struct Object {
    open: usize,
    members: Vec<Member>,
    close: usize,
}

/// The places of a member.
struct Member {
    name: String,
    key: Range<usize>,
    value: Range<usize>,
}

/// Adds an entry to the object at a path of keys, or replaces one.
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
    let source = Source::new(text)?;
    let Some(mut object) = source.root()? else {
        let value = nested(path, name, members);
        return Ok(source.with_first(&value));
    };
    for (depth, key) in path.iter().enumerate() {
        match object.last(key) {
            Some(member) => object = source.object(member.value.start)?,
            None => {
                let value = nested(&path[depth + 1..], name, members);
                return Ok(source.with_member(&object, key, &value));
            }
        }
    }
    let value = Value::Object(members.clone());
    match object.last(name) {
        None => Ok(source.with_member(&object, name, &value)),
        Some(member) if replaces => Ok(source.with_value(member, &value)),
        Some(_) => Err(TextError::Exists),
    }
}

/// Removes every entry of a name from the object at a path of keys.
///
/// # Errors
///
/// [`TextError`], also if there is no such entry.
pub(super) fn remove(text: &str, path: &[&str], name: &str) -> Result<String, TextError> {
    let mut text = text.to_owned();
    let mut is_found = false;
    while let Some(shorter) = without_one(&text, path, name)? {
        (text, is_found) = (shorter, true);
    }
    match is_found {
        true => Ok(text),
        false => Err(TextError::Absent),
    }
}

fn without_one(text: &str, path: &[&str], name: &str) -> Result<Option<String>, TextError> {
    let source = Source::new(text)?;
    let Some(mut object) = source.root()? else {
        return Ok(None);
    };
    for key in path {
        match object.last(key) {
            Some(member) => object = source.object(member.value.start)?,
            None => return Ok(None),
        }
    }
    let position = object
        .members
        .iter()
        .rposition(|member| member.name == name);
    Ok(position.map(|position| source.without(&object, position)))
}

/// Returns the value of a text.
///
/// # Errors
///
/// [`SyntaxError`] if the text is not JSON with comments.
pub(super) fn value(text: &str) -> Result<Value, SyntaxError> {
    let plain = jsonc::plain(text);
    match plain.trim() {
        "" => Ok(Value::Object(JsonObject::new())),
        json => serde_json::from_str(json).map_err(|error| syntax_error(&plain, &error)),
    }
}

fn syntax_error(plain: &str, error: &serde_json::Error) -> SyntaxError {
    let before = plain.len() - plain.trim_start().len();
    let skipped = plain[..before].matches('\n').count();
    let message = error.to_string();
    let reason = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |parts| parts.0);
    SyntaxError {
        line: (skipped + error.line()).max(1),
        reason: reason.to_owned(),
    }
}

fn nested(path: &[&str], name: &str, members: &JsonObject) -> Value {
    let object = |key: &str, value| Value::Object([(key.to_owned(), value)].into_iter().collect());
    let entry = object(name, Value::Object(members.clone()));
    path.iter()
        .rev()
        .fold(entry, |inner, key| object(key, inner))
}

impl Object {
    /// Returns the member of a name that counts: the last one.
    fn last(&self, name: &str) -> Option<&Member> {
        self.members.iter().rev().find(|member| member.name == name)
    }
}

impl<'t> Source<'t> {
    fn new(text: &'t str) -> Result<Self, TextError> {
        let source = Self {
            text,
            bare: jsonc::without_comments(text),
            plain: jsonc::plain(text),
        };
        let json = source.plain.trim();
        if !json.is_empty()
            && let Err(error) = serde_json::from_str::<IgnoredAny>(json)
        {
            return Err(syntax_error(&source.plain, &error).into());
        }
        Ok(source)
    }

    /// Returns the outermost object; `None` if the text has no value.
    fn root(&self) -> Result<Option<Object>, TextError> {
        match self.skip_blanks(0) {
            start if start == self.plain.len() => Ok(None),
            start => self.object(start).map(Some),
        }
    }

    fn object(&self, open: usize) -> Result<Object, TextError> {
        if self.byte(open) != b'{' {
            let reason = "a value on the path to the servers is not an object";
            return Err(TextError::NotEditable(reason));
        }
        let mut object = Object {
            open,
            members: Vec::new(),
            close: open,
        };
        let mut at = self.skip_blanks(open + 1);
        while self.byte(at) == b'"' {
            let key = at..jsonc::end_of_string(self.plain.as_bytes(), at);
            let start = self.skip_blanks(self.skip_blanks(key.end) + 1);
            let value = start..self.end_of_value(start);
            at = self.skip_blanks(value.end);
            if self.byte(at) == b',' {
                at = self.skip_blanks(at + 1);
            }
            object.members.push(Member {
                name: serde_json::from_str(&self.plain[key.clone()]).unwrap_or_default(),
                key,
                value,
            });
        }
        object.close = at;
        Ok(object)
    }

    /// Returns the byte at a position; zero after the end.
    fn byte(&self, at: usize) -> u8 {
        self.plain.as_bytes().get(at).copied().unwrap_or_default()
    }

    fn skip_blanks(&self, at: usize) -> usize {
        let rest = self.plain.get(at..).unwrap_or_default();
        self.plain.len() - rest.trim_start().len()
    }

    fn end_of_value(&self, start: usize) -> usize {
        let bytes = self.plain.as_bytes();
        let (mut at, mut depth) = (start, 0_usize);
        loop {
            match self.byte(at) {
                b'"' => at = jsonc::end_of_string(bytes, at),
                b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
                b'}' | b']' if depth > 0 => (at, depth) = (at + 1, depth - 1),
                byte if depth == 0 && is_delimiter(byte) => return at,
                _ => {
                    at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return at;
            }
        }
    }

    /// Returns the text with the first value.
    fn with_first(&self, value: &Value) -> String {
        let newline = newline(self.text);
        let has_lines = !self.text.trim_start_matches('\u{feff}').is_empty();
        let gap = match has_lines && !self.text.ends_with('\n') {
            true => newline,
            false => "",
        };
        let value = Style {
            newline,
            unit: UNIT,
        }
        .pretty(value, "");
        format!("{}{gap}{value}{newline}", self.text)
    }

    /// Returns the text with one more member at the end of an object.
    fn with_member(&self, object: &Object, name: &str, value: &Value) -> String {
        let style = self.style();
        let inner = self.inner_indent(object, &style);
        let entry = format!("{}: {}", Value::from(name), style.pretty(value, &inner));
        let (newline, outer) = (style.newline, indent(self.text, object.open));
        let end = space_before(self.text, object.close);
        let mut splices = Splices::default();
        let Some(last) = object.members.last() else {
            // A comment in the object stays before the entry.
            splices.replace(
                end..object.close,
                format!("{newline}{inner}{entry}{newline}{outer}"),
            );
            return splices.apply(self.text);
        };
        let comma = self.comma(last.value.end..object.close);
        if !begins_line(self.text, last.key.start) {
            let entry = format!("{}: {value}", Value::from(name));
            match comma {
                Some(comma) => splices.insert(comma + 1, format!(" {entry},")),
                None => splices.insert(last.value.end, format!(", {entry}")),
            }
            return splices.apply(self.text);
        }
        match comma {
            Some(_) => splices.insert(end, format!("{newline}{inner}{entry},")),
            None => {
                splices.insert(last.value.end, ",");
                splices.insert(end, format!("{newline}{inner}{entry}"));
            }
        }
        splices.apply(self.text)
    }

    fn with_value(&self, member: &Member, value: &Value) -> String {
        let value = match begins_line(self.text, member.key.start) {
            true => self
                .style()
                .pretty(value, indent(self.text, member.key.start)),
            false => value.to_string(),
        };
        let mut splices = Splices::default();
        splices.replace(member.value.clone(), value);
        splices.apply(self.text)
    }

    /// Returns the text without a member, the blanks before it, and one comma.
    fn without(&self, object: &Object, position: usize) -> String {
        let member = &object.members[position];
        let start = self.removal_start(member);
        let next = object.members.get(position + 1).map(|next| next.key.start);
        let mut splices = Splices::default();
        splices.delete(start..member.value.end);
        let after = self.comma(member.value.end..next.unwrap_or(object.close));
        let before = position.checked_sub(1).and_then(|position| {
            let end = object.members[position].value.end;
            self.comma(end..member.key.start)
        });
        if let Some(comma) = after.or(before) {
            splices.delete(comma..comma + 1);
        }
        let is_only = object.members.len() == 1;
        let rest = [
            object.open + 1..start,
            after.unwrap_or(member.value.end)..object.close,
        ];
        let is_bare = rest.into_iter().all(|part| is_bare(&self.text[part]));
        if is_only && is_bare {
            splices = Splices::default();
            splices.delete(object.open + 1..object.close);
        }
        splices.apply(self.text)
    }

    /// Returns where the blanks before a member begin. They stay if a comment before them would reach the text behind
    /// the member.
    fn removal_start(&self, member: &Member) -> usize {
        let start = space_before(self.text, member.key.start);
        let comments = self.bare[..start].trim_end().len();
        let has_comment = ends_in_line_comment(&self.text[comments..start]);
        let rest = self.text[member.value.end..]
            .lines()
            .next()
            .unwrap_or_default();
        match has_comment && !rest.trim_start_matches([',', ' ', '\t']).is_empty() {
            true => member.key.start,
            false => start,
        }
    }

    /// Returns the place of the first comma in a part that has only comments and commas.
    fn comma(&self, part: Range<usize>) -> Option<usize> {
        let start = part.start;
        self.bare[part].find(',').map(|at| start + at)
    }

    fn style(&self) -> Style<'_> {
        let root = self.root().ok().flatten();
        let first = root.and_then(|root| root.members.into_iter().next());
        let unit = first.map(|first| match begins_line(self.text, first.key.start) {
            true => indent(self.text, first.key.start),
            false => UNIT,
        });
        Style {
            newline: newline(self.text),
            unit: unit.filter(|unit| !unit.is_empty()).unwrap_or(UNIT),
        }
    }

    fn inner_indent(&self, object: &Object, style: &Style<'_>) -> String {
        let last = object.members.last().map(|member| member.key.start);
        match last.filter(|start| line_start(self.text, *start) > object.open) {
            Some(start) => indent(self.text, start).to_owned(),
            None => format!("{}{}", indent(self.text, object.open), style.unit),
        }
    }
}

/// Whether a text of blanks and comments ends in a comment that reaches to the end of its line.
fn ends_in_line_comment(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let (comment, end) = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(comment), _) => (comment, "\n"),
            (None, Some(comment)) => (comment, "*/"),
            (None, None) => return false,
        };
        match comment.split_once(end) {
            Some((_, next)) => rest = next.trim_start(),
            None => return end == "\n",
        }
    }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0 | b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
}

fn is_bare(text: &str) -> bool {
    text.trim_matches([' ', '\t', '\r', '\n', ',']).is_empty()
}

/// How values are laid out.
struct Style<'t> {
    newline: &'t str,
    unit: &'t str,
}

impl Style<'_> {
    /// Returns a value with a line for each member of its objects, and lists on one line.
    fn pretty(&self, value: &Value, outer: &str) -> String {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let inner = format!("{outer}{}", self.unit);
                let lines = members.iter().map(|(key, value)| {
                    let value = self.pretty(value, &inner);
                    format!(
                        "{}{inner}{}: {value}",
                        self.newline,
                        Value::from(key.as_str())
                    )
                });
                let lines: Vec<_> = lines.collect();
                format!("{{{}{}{outer}}}", lines.join(","), self.newline)
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(Value::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            _ => value.to_string(),
        }
    }
}
