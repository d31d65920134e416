//! YAML as JSON: the part of YAML that frontmatter needs.
//!
//! The parser is a crate; this file turns its events into JSON. Plain scalars follow the core schema
//! of YAML 1.2. Anchors, aliases, tags and a second document are rejected, because they make small
//! text large or mean different things to different readers. Duplicate keys, keys that are not text,
//! and nesting beyond [`DEPTH`] are rejected as well.

use pintle::model::JsonObject;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Number, Value};

use crate::error::SkillErrorKind;

/// Maximum nesting of values.
const DEPTH: usize = 32;

/// Reads a mapping.
///
/// # Errors
///
/// [`SkillErrorKind::Yaml`] with the line.
pub(crate) fn object(text: &str) -> Result<JsonObject, SkillErrorKind> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| fault(error.marker().line(), error.info()))?;
        reader.take(event, &span)?;
    }
    match reader.root {
        Some(Value::Object(members)) => Ok(members),
        _ => Err(fault(1, "it is not a mapping")),
    }
}

fn fault(line: usize, reason: impl Into<String>) -> SkillErrorKind {
    SkillErrorKind::Yaml {
        line,
        reason: reason.into(),
    }
}

/// Builds a value from events.
#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    root: Option<Value>,
}

/// A collection that is not complete.
enum Open {
    List(Vec<Value>),
    Map(JsonObject, Option<String>),
}

impl Reader {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), SkillErrorKind> {
        let line = span.start.line();
        match event {
            Event::Alias(_) => Err(fault(line, "aliases are not read")),
            Event::Scalar(text, style, anchor, tag) => {
                refuse(line, anchor != 0, tag.is_some())?;
                let value = match style {
                    ScalarStyle::Plain => plain(&text),
                    _ => Value::String(text.into_owned()),
                };
                self.put(value, line)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(line, anchor != 0, tag.is_some())?;
                self.begin(Open::List(Vec::new()), line)
            }
            Event::MappingStart(anchor, tag) => {
                refuse(line, anchor != 0, tag.is_some())?;
                self.begin(Open::Map(JsonObject::new(), None), line)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(line),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(fault(line, "there is a second document"))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, open: Open, line: usize) -> Result<(), SkillErrorKind> {
        if self.open.len() == DEPTH {
            return Err(fault(line, "it is nested too deep"));
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self, line: usize) -> Result<(), SkillErrorKind> {
        match self.open.pop() {
            Some(Open::List(items)) => self.put(items.into(), line),
            Some(Open::Map(members, _)) => self.put(members.into(), line),
            None => Ok(()),
        }
    }

    fn put(&mut self, value: Value, line: usize) -> Result<(), SkillErrorKind> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(members, key @ None)) => {
                let Value::String(name) = value else {
                    return Err(fault(line, "a key is not text"));
                };
                if members.contains_key(&name) {
                    return Err(fault(line, format!("`{name}` occurs twice")));
                }
                *key = Some(name);
            }
            Some(Open::Map(members, key)) => {
                members.extend(key.take().map(|key| (key, value)));
            }
        }
        Ok(())
    }
}

fn refuse(line: usize, is_anchored: bool, is_tagged: bool) -> Result<(), SkillErrorKind> {
    match (is_anchored, is_tagged) {
        (true, _) => Err(fault(line, "anchors are not read")),
        (_, true) => Err(fault(line, "tags are not read")),
        _ => Ok(()),
    }
}

/// Returns the value of a plain scalar in the core schema.
// `pintle-hosts` has a function like this one. See decision 27 for the differences.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// A number, if the core schema reads one and JSON can represent it.
fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(unsigned(digits)?, 8)
            .ok()
            .map(Into::into);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(unsigned(digits)?, 16)
            .ok()
            .map(Into::into);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = digits.contains(|c: char| c.is_ascii_digit())
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
    if !is_number {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let integer = text.parse::<i64>().map(Number::from);
    let integer = integer.or_else(|_| text.parse::<u64>().map(Number::from));
    integer
        .ok()
        .or_else(|| Number::from_f64(text.parse().ok()?))
}

/// Digits without a sign, because the parser of Rust accepts a sign.
fn unsigned(digits: &str) -> Option<&str> {
    (!digits.starts_with(['+', '-'])).then_some(digits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        Value::Object(object(text).unwrap_or_else(|fault| panic!("{text:?}: {fault}")))
    }

    fn line_of(text: &str) -> (usize, String) {
        match object(text) {
            Err(SkillErrorKind::Yaml { line, reason }) => (line, reason),
            other => panic!("{text:?}: {other:?}"),
        }
    }

    // spec: 2026-07-28 X-SKILL-04
    #[test]
    fn every_value_of_frontmatter_becomes_json() {
        let text = "name: a\ndescription: >\n  two\n  lines\nmetadata:\n  version: \"1.0\"\n  n: 1.0\n\
                    list: [x, 'y', 3, -4, .5, 1e3, true, no, ~, 0x1F, 0o17, 1.2.3, +7, 12e]\n\
                    block: |\n  a: b\n  c\nempty:\nquoted: \"\\u00fc: #\" # comment\n";
        assert_eq!(
            read(text),
            json!({"name": "a", "description": "two lines\n",
                "metadata": {"version": "1.0", "n": 1.0},
                "list": ["x", "y", 3, -4, 0.5, 1000.0, true, "no", null, 31, 15, "1.2.3", 7, "12e"],
                "block": "a: b\nc\n", "empty": null, "quoted": "ü: #"})
        );
    }

    #[test]
    fn growing_or_ambiguous_yaml_is_rejected() {
        for (text, line, word) in [
            ("a: &x [1]\nb: *x", 1, "anchor"),
            ("a: 1\nb: *x", 2, ""),
            ("a: !!binary x", 1, "tag"),
            ("a: 1\na: 2", 2, "twice"),
            ("1: a", 1, "key"),
            ("[a]: b", 1, "key"),
            ("- a", 1, "mapping"),
            ("", 1, "mapping"),
            ("a: [1", 1, ""),
            ("a: 1\n--- \nb: 2", 2, "second"),
        ] {
            let (found, reason) = line_of(text);
            assert!(
                found >= line && reason.contains(word),
                "{text:?}: {found} {reason}"
            );
        }
        let deep = format!("a: {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        assert!(line_of(&deep).1.contains("deep"));
    }
}
