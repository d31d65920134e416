//! What a schema wants at a place, as far as it helps to read what was typed.
//!
//! Every schema that may apply counts: references are followed, alternatives are taken together.
//! Whether a value fits is not decided here; the validator does that.

use pintle::model::JsonObject;
use serde_json::Value;

/// How far references and alternatives are followed.
const DEEPEST: usize = 16;

/// How many schemas count at one place.
const MOST: usize = 256;

/// How many lists within lists are put in words; a list may be said to be one of its own kind.
const DEEPEST_WORDS: usize = 4;

/// The schemas that may apply at a place.
#[derive(Debug, Clone)]
pub(crate) struct Guide<'s> {
    root: &'s JsonObject,
    schemas: Vec<&'s JsonObject>,
}

/// The kinds of values that are wanted. All are false where anything goes.
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
    /// What the schema wants as a whole.
    pub(crate) fn new(root: &'s JsonObject) -> Self {
        let mut guide = Self {
            root,
            schemas: Vec::new(),
        };
        guide.take(root, 0);
        guide
    }

    /// What is wanted as a member of what is wanted here.
    pub(crate) fn member(&self, name: &str) -> Self {
        let named = |schema: &'s JsonObject| {
            let member = schema
                .get("properties")
                .and_then(|members| members.get(name));
            member.or_else(|| schema.get("additionalProperties"))
        };
        self.below(named)
    }

    /// What is wanted as an item of what is wanted here.
    pub(crate) fn item(&self, index: usize) -> Self {
        self.below(|schema| {
            let fixed = schema.get("prefixItems").and_then(|items| items.get(index));
            fixed.or_else(|| schema.get("items"))
        })
    }

    /// The names of the members that the schema describes, in their order.
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

    /// Whether members that the schema does not describe are refused.
    pub(super) fn is_closed(&self) -> bool {
        let closed =
            |schema: &&JsonObject| schema.get("additionalProperties") == Some(&Value::Bool(false));
        self.schemas.iter().any(closed)
    }

    /// Whether a member has to be there.
    pub(crate) fn requires(&self, name: &str) -> bool {
        let lists = self
            .schemas
            .iter()
            .filter_map(|schema| schema.get("required")?.as_array());
        lists.flatten().any(|required| required == name)
    }

    /// The values that are listed, if they are.
    pub(crate) fn values(&self) -> impl Iterator<Item = &'s Value> + '_ {
        self.schemas.iter().flat_map(|schema| {
            let listed = schema.get("enum").and_then(Value::as_array);
            listed.into_iter().flatten().chain(schema.get("const"))
        })
    }

    /// What is said about the value.
    pub(crate) fn description(&self) -> Option<&'s str> {
        self.schemas
            .iter()
            .find_map(|schema| schema.get("description")?.as_str())
    }

    /// The kinds of values that are wanted.
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

    /// The kinds in words, such as `integer` or `string, list of numbers`.
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
                guide.take(schema, 0);
            }
        }
        guide
    }

    fn take(&mut self, schema: &'s JsonObject, depth: usize) {
        let is_known = self
            .schemas
            .iter()
            .any(|known| std::ptr::eq(*known, schema));
        if depth > DEEPEST || self.schemas.len() >= MOST || is_known {
            return;
        }
        self.schemas.push(schema);
        if let Some(target) = self.target(schema) {
            self.take(target, depth + 1);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let inner = schema.get(keyword).and_then(Value::as_array);
            for schema in inner.into_iter().flatten().filter_map(Value::as_object) {
                self.take(schema, depth + 1);
            }
        }
    }

    /// What a reference inside the schema refers to.
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

    /// Whether nothing is said.
    pub(super) fn is_any(self) -> bool {
        self == Self::default()
    }
}
