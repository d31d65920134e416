//! Description of the values that a schema permits at a place, to convert typed text.
//!
//! It uses every schema that may apply: it follows references and merges alternatives. The
//! validator decides whether a value fits.

use pintle::model::JsonObject;
use serde_json::Value;

/// Maximum depth of followed references and alternatives.
const DEEPEST: usize = 16;

/// Maximum number of schemas at one place.
const MOST: usize = 256;

/// Maximum depth of lists in a description, because a schema can define a list of itself.
const DEEPEST_WORDS: usize = 4;

/// Schemas that may apply at a place.
#[derive(Debug, Clone)]
pub(crate) struct Guide<'s> {
    root: &'s JsonObject,
    schemas: Vec<&'s JsonObject>,
}

/// Kinds of values that a schema permits. All are false if it permits any value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) number: bool,
    pub(super) integer: bool,
    pub(super) boolean: bool,
    pub(super) null: bool,
    pub(super) string: bool,
    pub(super) array: bool,
    pub(super) object: bool,
}

impl<'s> Guide<'s> {
    /// Returns the guide to the whole value.
    pub(crate) fn new(root: &'s JsonObject) -> Self {
        let mut guide = Self {
            root,
            schemas: Vec::new(),
        };
        guide.add(root, 0);
        guide
    }

    /// Returns the guide to a member of this value.
    pub(crate) fn member(&self, name: &str) -> Self {
        let named = |schema: &'s JsonObject| {
            let member = schema
                .get("properties")
                .and_then(|members| members.get(name));
            member.or_else(|| schema.get("additionalProperties"))
        };
        self.below(named)
    }

    /// Returns the guide to an item of this value.
    pub(crate) fn item(&self, index: usize) -> Self {
        self.below(|schema| {
            let fixed = schema.get("prefixItems").and_then(|items| items.get(index));
            fixed.or_else(|| schema.get("items"))
        })
    }

    /// Returns the names of the members that the schema describes, in their order.
    pub(crate) fn members(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        for schema in &self.schemas {
            let members = schema.get("properties").and_then(Value::as_object);
            for name in members.into_iter().flat_map(JsonObject::keys) {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Whether the schema rejects members that it does not describe.
    pub(super) fn is_closed(&self) -> bool {
        let closed =
            |schema: &&JsonObject| schema.get("additionalProperties") == Some(&Value::Bool(false));
        self.schemas.iter().any(closed)
    }

    /// Whether a member is required.
    pub(crate) fn requires(&self, name: &str) -> bool {
        let lists = self
            .schemas
            .iter()
            .filter_map(|schema| schema.get("required")?.as_array());
        lists.flatten().any(|required| required == name)
    }

    /// Returns the values that `enum` and `const` list.
    pub(crate) fn values(&self) -> impl Iterator<Item = &'s Value> + '_ {
        self.schemas.iter().flat_map(|schema| {
            let listed = schema.get("enum").and_then(Value::as_array);
            listed.into_iter().flatten().chain(schema.get("const"))
        })
    }

    /// Returns the description of the value.
    pub(crate) fn description(&self) -> Option<&'s str> {
        self.schemas
            .iter()
            .find_map(|schema| schema.get("description")?.as_str())
    }

    /// Returns the permitted kinds of values.
    pub(super) fn kinds(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for schema in &self.schemas {
            match schema.get("type") {
                Some(Value::String(kind)) => kinds.add(kind),
                Some(Value::Array(list)) => {
                    list.iter()
                        .filter_map(Value::as_str)
                        .for_each(|kind| kinds.add(kind));
                }
                _ => {
                    kinds.object |= schema.contains_key("properties");
                    kinds.array |= schema.contains_key("items");
                }
            }
        }
        kinds
    }

    /// Returns the kinds in words, such as `integer` or `string, list of numbers`.
    pub(crate) fn kind(&self) -> String {
        self.kind_within(1)
    }

    fn kind_within(&self, depth: usize) -> String {
        let kinds = self.kinds();
        let mut words = Vec::new();
        if kinds.array {
            words.push(self.list_kind(depth));
        }
        for (is, word) in [
            (kinds.string, "string"),
            (kinds.integer && !kinds.number, "integer"),
            (kinds.number, "number"),
            (kinds.boolean, "boolean"),
            (kinds.object, "object"),
            (kinds.null, "null"),
        ] {
            if is {
                words.push(word.to_owned());
            }
        }
        match words.is_empty() {
            true => "any".to_owned(),
            false => words.join(" or "),
        }
    }

    fn list_kind(&self, depth: usize) -> String {
        if depth == DEEPEST_WORDS {
            return "list".to_owned();
        }
        match self.item(0).kind_within(depth + 1).as_str() {
            "any" => "list".to_owned(),
            of => format!("list of {of}"),
        }
    }

    fn below(&self, find: impl Fn(&'s JsonObject) -> Option<&'s Value>) -> Self {
        let mut guide = Self {
            root: self.root,
            schemas: Vec::new(),
        };
        for schema in self.schemas.iter().filter_map(|schema| find(schema)) {
            if let Value::Object(schema) = schema {
                guide.add(schema, 0);
            }
        }
        guide
    }

    fn add(&mut self, schema: &'s JsonObject, depth: usize) {
        let is_known = self
            .schemas
            .iter()
            .any(|known| std::ptr::eq(*known, schema));
        if depth > DEEPEST || self.schemas.len() >= MOST || is_known {
            return;
        }
        self.schemas.push(schema);
        if let Some(target) = self.target(schema) {
            self.add(target, depth + 1);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let inner = schema.get(keyword).and_then(Value::as_array);
            for schema in inner.into_iter().flatten().filter_map(Value::as_object) {
                self.add(schema, depth + 1);
            }
        }
    }

    /// Returns the schema that a reference inside the root schema refers to.
    fn target(&self, schema: &JsonObject) -> Option<&'s JsonObject> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        let mut steps = pointer
            .split('/')
            .skip(1)
            .map(|step| step.replace("~1", "/").replace("~0", "~"));
        let first = match steps.next() {
            Some(first) => first,
            None => return Some(self.root),
        };
        let mut place = self.root.get(&first)?;
        for step in steps {
            place = match place {
                Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                place => place.get(&step)?,
            };
        }
        place.as_object()
    }
}

impl Kinds {
    fn add(&mut self, kind: &str) {
        match kind {
            "number" => self.number = true,
            "integer" => self.integer = true,
            "boolean" => self.boolean = true,
            "null" => self.null = true,
            "string" => self.string = true,
            "array" => self.array = true,
            "object" => self.object = true,
            _ => {}
        }
    }

    /// Whether the schema permits any kind.
    pub(super) fn is_any(self) -> bool {
        self == Self::default()
    }
}
