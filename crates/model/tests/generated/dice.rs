//! Values drawn from bytes: fewer bytes, and smaller ones, are simpler values, so that a
//! failing case shrinks well.

use pintle_model::{Extra, JsonObject, Meta};
use serde_json::{Value, json};

pub(crate) struct Dice<'a>(std::slice::Iter<'a, u8>);

impl<'a> Dice<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// One of the numbers from 0 up to, and without, `count`.
    pub(crate) fn choice_of(&mut self, count: u8) -> u8 {
        self.byte() % count
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.choice_of(2) == 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[usize::from(self.byte()) % values.len()].clone()
    }

    pub(crate) fn maybe<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| draw(self))
    }

    pub(crate) fn list<T>(&mut self, mut draw: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.choice_of(4)).map(|_| draw(self)).collect()
    }

    pub(crate) fn text(&mut self) -> String {
        self.pick(&[
            "",
            "a",
            "two words",
            "\"quoted\" \\ \n\u{1}",
            "ünï → 🌍",
            "null",
        ])
        .to_owned()
    }

    pub(crate) fn texts(&mut self) -> Vec<String> {
        self.list(Self::text)
    }

    pub(crate) fn word(&mut self) -> String {
        self.pick(&["add", "get_weather", "a", "b", "c-1", "x.y"])
            .to_owned()
    }

    pub(crate) fn uri(&mut self) -> String {
        self.pick(&[
            "file:///a",
            "https://example.com/x?y=1#z",
            "docs://p/1",
            "data:text/plain,x",
        ])
        .to_owned()
    }

    pub(crate) fn count(&mut self) -> u64 {
        self.pick(&[0, 1, 100, 9_007_199_254_740_991])
    }

    /// From 0 to 1, and exact in binary.
    pub(crate) fn share(&mut self) -> f64 {
        f64::from(self.choice_of(65)) / 64.0
    }

    pub(crate) fn value(&mut self) -> Value {
        match self.choice_of(8) {
            0 => json!({}),
            1 => Value::Null,
            2 => json!(self.flag()),
            3 => json!(self.pick(&[0_i64, -1, i64::MAX, i64::MIN])),
            4 => json!(self.pick(&[0.5, -2.25, 1e100])),
            5 => json!(self.text()),
            6 => Value::Array(self.list(Self::value)),
            _ => Value::Object(self.object()),
        }
    }

    pub(crate) fn object(&mut self) -> JsonObject {
        self.list(|dice| (dice.word(), dice.value()))
            .into_iter()
            .collect()
    }

    /// Neither null nor a fraction: the published `JSONValue` forgets both.
    fn plain_value(&mut self) -> Value {
        match self.choice_of(4) {
            0 => Value::Object(self.plain_object()),
            1 => json!(self.flag()),
            2 => json!(self.text()),
            _ => Value::Array(self.list(Self::plain_value)),
        }
    }

    pub(crate) fn plain_object(&mut self) -> JsonObject {
        self.list(|dice| (dice.word(), dice.plain_value()))
            .into_iter()
            .collect()
    }

    /// An object whose members are objects.
    pub(crate) fn settings(&mut self) -> JsonObject {
        self.list(|dice| (dice.word(), Value::Object(dice.plain_object())))
            .into_iter()
            .collect()
    }

    pub(crate) fn extra(&mut self) -> Extra {
        self.list(|dice| (format!("x-{}", dice.word()), dice.value()))
            .into_iter()
            .collect()
    }

    pub(crate) fn meta(&mut self) -> Meta {
        self.list(|dice| (format!("com.example/{}", dice.word()), dice.value()))
            .into_iter()
            .collect()
    }
}

/// Builds a value and sets some of its members.
macro_rules! build {
    ($base:expr; $($member:ident = $value:expr),+ $(,)?) => {{
        let mut built = $base;
        $( built.$member = $value; )+
        built
    }};
}
pub(crate) use build;
