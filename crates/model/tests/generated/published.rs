//! The published schemas, and how a value is wrapped for them.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::{Draft, Validator};
use pintle_model::{Feature, Revision};
use serde_json::{Map, Value, json};

use crate::documents;

/// Which schema a value is held against, and what must be put around it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wrap {
    /// The definition itself.
    Bare(&'static str),
    /// A result; has `resultType` in the revisions with that member.
    Result(&'static str),
    /// A result of another type.
    ResultOf(&'static str, &'static str),
    /// The parameters of this request: definition and method.
    Request(&'static str, &'static str),
    /// The parameters of this request, which is put inside a result where results ask:
    /// definition and method.
    Question(&'static str, &'static str),
    /// The parameters of this notification: definition and method.
    Notice(&'static str, &'static str),
}

impl Wrap {
    fn definition(self) -> &'static str {
        match self {
            Self::Bare(name)
            | Self::Result(name)
            | Self::ResultOf(name, _)
            | Self::Request(name, _)
            | Self::Question(name, _)
            | Self::Notice(name, _) => name,
        }
    }

    fn around(self, revision: Revision, mut value: Value) -> Value {
        match self {
            Self::Bare(_) => value,
            Self::Result(_) => stamped(revision, value, "complete"),
            Self::ResultOf(_, result_type) => stamped(revision, value, result_type),
            Self::Notice(_, method) => json!({"jsonrpc": "2.0", "method": method, "params": value}),
            Self::Question(_, method) => {
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": value})
            }
            Self::Request(_, method) => {
                if revision.has(Feature::Envelope) {
                    let meta = value["_meta"]
                        .as_object_mut()
                        .map(std::mem::take)
                        .unwrap_or_default();
                    value["_meta"] = Value::Object(enveloped(revision, meta));
                }
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": value})
            }
        }
    }
}

fn stamped(revision: Revision, mut value: Value, result_type: &str) -> Value {
    if revision.has(Feature::ResultType) {
        value["resultType"] = json!(result_type);
    }
    value
}

fn enveloped(revision: Revision, mut meta: Map<String, Value>) -> Map<String, Value> {
    meta.insert(
        pintle_model::Meta::PROTOCOL_VERSION.to_owned(),
        json!(revision.as_str()),
    );
    meta.insert(
        pintle_model::Meta::CLIENT_CAPABILITIES.to_owned(),
        json!({}),
    );
    meta
}

/// The schemas in `PINTLE_SPEC_DIR`, if it is set.
pub(crate) static PUBLISHED: LazyLock<Option<Published>> = LazyLock::new(Published::open);

pub(crate) struct Published {
    schemas: HashMap<Revision, Value>,
    validators: Mutex<HashMap<(Revision, &'static str), &'static Validator>>,
}

/// Forbids every member that a published schema does not name, except in maps and those that
/// `tolerated` names.
///
/// The published schemas allow any member anywhere. What we send must not use that: a peer is
/// sent nothing that its revision does not know.
fn closed(mut schema: Value, revision: Revision) -> Value {
    for home in ["$defs", "definitions"] {
        let definitions = schema.get_mut(home).and_then(Value::as_object_mut);
        for (name, definition) in definitions.into_iter().flatten() {
            if !name.ends_with("MetaObject") {
                close(definition, name, revision);
            }
        }
    }
    schema
}

fn close(schema: &mut Value, name: &str, revision: Revision) {
    match schema {
        Value::Object(members) => {
            let parts = members
                .iter_mut()
                .filter(|(name, _)| !OPEN.contains(&name.as_str()));
            parts.for_each(|(name, part)| close(part, name, revision));
            let is_map = members.contains_key("additionalProperties");
            if members.contains_key("properties") && !is_map {
                members.insert("additionalProperties".to_owned(), json!(false));
                members.insert("patternProperties".to_owned(), tolerated(name, revision));
            }
        }
        Value::Array(parts) => parts
            .iter_mut()
            .for_each(|part| close(part, name, revision)),
        _ => {}
    }
}

/// Members that hold maps although the published schemas list a few of their members, and
/// lists of alternatives that are merged.
const OPEN: [&str; 4] = ["inputSchema", "outputSchema", "_meta", "allOf"];

/// Returns the members that are allowed although the definition `name` does not list them.
fn tolerated(name: &str, revision: Revision) -> Value {
    // Generated `extra` members; what older requests inherit; prose; an extension.
    let mut names = vec!["x-", "jsonrpc$", "id$", "pattern$", "taskIds$"];
    // Parameters have `_meta` by prose, and a task is also a result.
    if ["params", "Task"].contains(&name) && !revision.has(Feature::InputRequired) {
        names.push("_meta$");
    }
    // By convention before they were published.
    if revision.has(Feature::Extensions) {
        names.push("extensions$");
    }
    json!({format!("^({})", names.join("|")): {}})
}

impl Published {
    fn open() -> Option<Self> {
        let folder = documents::folder("PINTLE_SPEC_DIR")?;
        let read = |revision: Revision| {
            let path = folder.join(revision.as_str()).join("schema.json");
            let text =
                std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (
                revision,
                closed(
                    serde_json::from_slice(&text).expect("a published schema is JSON"),
                    revision,
                ),
            )
        };
        Some(Self {
            schemas: Revision::ALL.into_iter().map(read).collect(),
            validators: Mutex::default(),
        })
    }

    /// Checks a value with the published schema of `revision` and returns the faults. Returns
    /// `None` too if the revision has no such definition.
    ///
    /// # Panics
    ///
    /// When no revision has such a definition.
    pub(crate) fn faults(&self, revision: Revision, wrap: Wrap, value: Value) -> Option<String> {
        assert!(
            self.is_defined(wrap.definition()),
            "{wrap:?} is in no published schema"
        );
        let validator = self.validator(revision, wrap.definition())?;
        let value = wrap.around(revision, value);
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|fault| format!("{} at {}", fault, fault.instance_path()))
            .collect();
        (!faults.is_empty()).then(|| format!("{revision} {wrap:?}: {faults:#?}\n{value:#}"))
    }

    fn is_defined(&self, name: &str) -> bool {
        let is_in = |schema: &Value, home: &str| {
            schema
                .get(home)
                .is_some_and(|home| home.get(name).is_some())
        };
        self.schemas
            .values()
            .any(|schema| is_in(schema, "$defs") || is_in(schema, "definitions"))
    }

    fn validator(&self, revision: Revision, name: &'static str) -> Option<&'static Validator> {
        let mut validators = self
            .validators
            .lock()
            .expect("no test panics while it holds the lock");
        if let Some(validator) = validators.get(&(revision, name)) {
            return Some(validator);
        }
        let schema = &self.schemas[&revision];
        let home = ["$defs", "definitions"]
            .into_iter()
            .find(|home| schema.get(home).is_some())?;
        schema[home].get(name)?;
        let mut root = schema.clone();
        root["$ref"] = json!(format!("#/{home}/{name}"));
        let draft = if home == "$defs" {
            Draft::Draft202012
        } else {
            Draft::Draft7
        };
        let validator = jsonschema::options()
            .with_draft(draft)
            .build(&root)
            .unwrap_or_else(|error| panic!("{revision} {name}: {error}"));
        let validator: &'static Validator = Box::leak(Box::new(validator));
        validators.insert((revision, name), validator);
        Some(validator)
    }
}
