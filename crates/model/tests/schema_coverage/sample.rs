//! The smallest and the largest value of a definition, made from its schema.

use serde_json::{Map, Value, json};

/// Which members a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Only the required ones.
    Smallest,
    /// All of them.
    Largest,
}

/// How far definitions are followed; they are recursive.
const DEPTH: usize = 8;

/// The definitions of one published schema.
pub(crate) struct Definitions(Map<String, Value>);

impl Definitions {
    /// # Panics
    ///
    /// When the document has no definitions.
    pub(crate) fn of(mut schema: Value) -> Self {
        let home = ["$defs", "definitions"]
            .into_iter()
            .find(|home| schema.get(home).is_some());
        let definitions = schema[home.expect("a schema has definitions")].take();
        Self(
            definitions
                .as_object()
                .cloned()
                .expect("definitions are an object"),
        )
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn sample(&self, name: &str, size: Size) -> Value {
        self.value(&self.0[name], size, DEPTH)
    }

    fn value(&self, schema: &Value, size: Size, depth: usize) -> Value {
        if let Some(target) = schema["$ref"].as_str() {
            let name = target
                .rsplit('/')
                .next()
                .expect("a reference has a last part");
            return self.value(&self.0[name], size, depth.saturating_sub(1));
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(value) = schema["enum"].get(0) {
            return value.clone();
        }
        if let Some(first) = schema["anyOf"].get(0) {
            return self.value(first, size, depth);
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return self.merged(parts, size, depth);
        }
        let kind = schema["type"].get(0).unwrap_or(&schema["type"]);
        match kind.as_str() {
            Some("object") => self.object(schema, size, depth),
            Some("array") if size == Size::Largest && depth > 0 => {
                json!([self.value(&schema["items"], size, depth - 1)])
            }
            Some("array") => json!([]),
            Some("string") if schema["format"] == "byte" => json!("YQ=="),
            Some("string") => json!("file:///x"),
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            _ => json!({}),
        }
    }

    fn merged(&self, parts: &[Value], size: Size, depth: usize) -> Value {
        let objects = parts
            .iter()
            .filter_map(|part| match self.value(part, size, depth) {
                Value::Object(members) => Some(members),
                _ => None,
            });
        Value::Object(objects.flatten().collect())
    }

    fn object(&self, schema: &Value, size: Size, depth: usize) -> Value {
        let required = |name: &String| {
            schema["required"]
                .as_array()
                .is_some_and(|names| names.contains(&json!(name)))
        };
        let is_wanted = |name: &String| required(name) || (size == Size::Largest && depth > 0);
        let members = schema["properties"].as_object().into_iter().flatten();
        let members = members.filter(|(name, _)| is_wanted(name));
        let sample = |(name, member): (&String, &Value)| {
            (
                name.clone(),
                self.value(member, size, depth.saturating_sub(1)),
            )
        };
        let mut object: Map<String, Value> = members.map(sample).collect();
        if object.is_empty()
            && size == Size::Largest
            && depth > 0
            && let Some(more @ Value::Object(_)) = schema.get("additionalProperties")
        {
            object.insert("key".to_owned(), self.value(more, size, depth - 1));
        }
        Value::Object(object)
    }
}
