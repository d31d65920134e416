//! JSON objects of the page, written member by member. They are texts from the beginning, because values and their
//! writers would be a large part of the program: each type has its own.

use std::fmt::Display;
use std::io::Write as _;

use pintle_model::write::write_json;
use serde::Serialize;

/// The text of a JSON object.
#[derive(Debug)]
pub(crate) struct Object(Vec<u8>);

impl Object {
    pub(crate) fn new() -> Self {
        Self(vec![b'{'])
    }

    /// Begins an event of the page.
    pub(crate) fn event(kind: &str) -> Self {
        let mut event = Self::new();
        event.text("type", kind);
        event
    }

    /// Adds a member whose value is a JSON text.
    pub(crate) fn raw(&mut self, name: &str, json: impl AsRef<[u8]>) -> &mut Self {
        self.name(name).extend_from_slice(json.as_ref());
        self
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) -> &mut Self {
        write_text(self.name(name), text);
        self
    }

    /// Adds a text, or null.
    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(name, text),
            None => self.null(name),
        }
    }

    pub(crate) fn null(&mut self, name: &str) -> &mut Self {
        self.raw(name, "null")
    }

    pub(crate) fn whole(&mut self, name: &str, number: u64) -> &mut Self {
        self.shown(name, &number)
    }

    /// Adds a number, or null if JSON has no such number.
    pub(crate) fn double(&mut self, name: &str, number: f64) -> &mut Self {
        match number.is_finite() {
            true => self.shown(name, &number),
            false => self.null(name),
        }
    }

    pub(crate) fn flag(&mut self, name: &str, is_true: bool) -> &mut Self {
        self.shown(name, &is_true)
    }

    pub(crate) fn texts(&mut self, name: &str, texts: &mut dyn Iterator<Item = &str>) -> &mut Self {
        let out = self.name(name);
        list(out, texts, write_text);
        self
    }

    pub(crate) fn objects(
        &mut self,
        name: &str,
        objects: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> &mut Self {
        let out = self.name(name);
        list(out, objects, |out, object| out.extend(object));
        self
    }

    /// Adds a value by its serializer. It is for small types, because the program has a writer of each.
    pub(crate) fn value(&mut self, name: &str, value: &impl Serialize) -> &mut Self {
        let out = self.name(name);
        let start = out.len();
        if write_json(out, value).is_err() {
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
        self
    }

    /// Returns the text of the object, and leaves an empty one.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        self.0.push(b'}');
        std::mem::replace(&mut self.0, vec![b'{'])
    }

    /// Returns the text of the members.
    pub(crate) fn members(&self) -> &[u8] {
        &self.0[1..]
    }

    fn shown(&mut self, name: &str, value: &dyn Display) -> &mut Self {
        // A vector accepts all bytes.
        let _ = write!(self.name(name), "{value}");
        self
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        write_text(&mut self.0, name);
        self.0.push(b':');
        &mut self.0
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    // A text is always writable.
    let _ = write_json(out, text);
}

fn list<T>(out: &mut Vec<u8>, items: &mut dyn Iterator<Item = T>, write: fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn members_are_written_in_order() {
        let mut object = Object::event("a\"b");
        object.whole("n", 7).double("d", 0.5).double("e", f64::NAN);
        object.flag("f", true).optional("o", None).raw("r", "[1]");
        object.texts("t", &mut ["x", "y"].into_iter());
        object.objects("l", &mut [Object::new().end()].into_iter());
        object.value("v", &json!({ "a": 1 }));
        let text = String::from_utf8(object.end()).expect("text");
        let expected = "{\"type\":\"a\\\"b\",\"n\":7,\"d\":0.5,\"e\":null,\"f\":true,\"o\":null,\"r\":[1],\
                        \"t\":[\"x\",\"y\"],\"l\":[{}],\"v\":{\"a\":1}}";
        assert_eq!(text, expected);
    }

    #[test]
    fn numbers_are_those_of_json() {
        for number in [0.0, -1.5, 1e21, 1e-7, 123456.0] {
            let text = Object::new().double("n", number).end();
            let read: Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(read["n"].as_f64(), Some(number));
        }
    }
}
