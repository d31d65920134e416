//! The comparison of two surfaces.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::surface::{Definition, EntryKind, Surface, key};

/// Every difference between two surfaces.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Comparison {
    changes: Vec<Change>,
}

/// One entry that differs, or the server itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// The kind of the entry; `None` for the name, the version and the instructions of the server.
    pub kind: Option<EntryKind>,
    /// The name or URI of the entry; of the server its old name.
    pub key: String,
    /// The difference between the old and the new entry.
    #[serde(flatten)]
    pub difference: Difference,
}

/// The difference of one entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "change")]
#[non_exhaustive]
pub enum Difference {
    /// Only the new surface has the entry.
    Added {
        /// The new definition.
        definition: Map<String, Value>,
    },
    /// Only the old surface has the entry.
    Removed {
        /// The old definition.
        definition: Map<String, Value>,
    },
    /// Both have the entry, with different members.
    Changed {
        /// The members that differ; at least one.
        members: Vec<MemberChange>,
    },
}

/// One member that differs. At least one value is present.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemberChange {
    /// JSON pointer (RFC 6901) to the member in the definition.
    pub pointer: String,
    /// The old value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

impl Comparison {
    /// Returns true if the surfaces are equal.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes: of the server first, then tools, prompts, resources and templates, each in the order of keys.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl Surface {
    /// Compares this surface, the old one, with a new one.
    pub fn compare(&self, new: &Self) -> Comparison {
        let mut changes = Vec::new();
        changes.extend(changed(None, &self.name, &self.server(), &new.server()));
        for kind in EntryKind::ALL {
            compare_lists(
                kind,
                self.definitions(kind),
                new.definitions(kind),
                &mut changes,
            );
        }
        Comparison { changes }
    }

    fn server(&self) -> Definition {
        let mut server = Map::new();
        server.insert("name".to_owned(), self.name.as_str().into());
        server.insert("version".to_owned(), self.version.as_str().into());
        if let Some(instructions) = &self.instructions {
            server.insert("instructions".to_owned(), instructions.as_str().into());
        }
        server
    }
}

/// The definitions of one key in the old and in the new surface. Most have one of each.
type Sides<'d> = [Vec<&'d Definition>; 2];

fn compare_lists(
    kind: EntryKind,
    old: &[Definition],
    new: &[Definition],
    changes: &mut Vec<Change>,
) {
    let mut by_key: BTreeMap<&str, Sides<'_>> = BTreeMap::new();
    for (side, definitions) in [old, new].into_iter().enumerate() {
        for definition in definitions {
            let sides = by_key.entry(key(kind, definition)).or_default();
            sides[side].push(definition);
        }
    }
    for (key, sides) in by_key {
        changes.extend(compare_sides(kind, key, sides));
    }
}

/// Compares the entries of one key. A server may list several: equal ones are paired, then the others in their order.
fn compare_sides(kind: EntryKind, key: &str, sides: Sides<'_>) -> Vec<Change> {
    let [old, new] = without_equal(sides);
    let change = |difference| Change {
        kind: Some(kind),
        key: key.to_owned(),
        difference,
    };
    let paired = old.len().min(new.len());
    let pairs = old.iter().zip(&new);
    let changed = pairs.filter_map(|(old, new)| changed(Some(kind), key, old, new));
    let removed = old.iter().skip(paired).map(|definition| {
        let definition = (*definition).clone();
        change(Difference::Removed { definition })
    });
    let added = new.iter().skip(paired).map(|definition| {
        let definition = (*definition).clone();
        change(Difference::Added { definition })
    });
    changed.chain(removed).chain(added).collect()
}

/// Drops pairs of equal definitions.
fn without_equal([old, mut new]: Sides<'_>) -> Sides<'_> {
    let differs = |definition: &&Definition| {
        let equal = new.iter().position(|other| other == definition);
        equal.map(|at| new.remove(at)).is_none()
    };
    let old = old.into_iter().filter(differs).collect();
    [old, new]
}

fn changed(
    kind: Option<EntryKind>,
    key: &str,
    old: &Definition,
    new: &Definition,
) -> Option<Change> {
    let mut members = Vec::new();
    compare_objects("", old, new, &mut members);
    (!members.is_empty()).then(|| Change {
        kind,
        key: key.to_owned(),
        difference: Difference::Changed { members },
    })
}

fn compare_objects(
    pointer: &str,
    old: &Definition,
    new: &Definition,
    changes: &mut Vec<MemberChange>,
) {
    let added = new.keys().filter(|name| !old.contains_key(*name));
    for name in old.keys().chain(added) {
        let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        compare_values(pointer, old.get(name), new.get(name), changes);
    }
}

fn compare_values(
    pointer: String,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<MemberChange>,
) {
    match (old, new) {
        (old, new) if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            compare_objects(&pointer, old, new, changes);
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare_values(format!("{pointer}/{index}"), Some(old), Some(new), changes);
            }
        }
        (old, new) => changes.push(MemberChange {
            pointer,
            old: old.cloned(),
            new: new.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::Tool;
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: Value) -> Tool {
        Tool::new(name, schema.as_object().cloned().unwrap_or_default())
    }

    fn pointers(old: Value, new: Value) -> Vec<String> {
        let surface = |schema| Surface::new("s", "1").with_tools([&tool("t", schema)]);
        let comparison = surface(old).compare(&surface(new));
        let members = comparison
            .changes()
            .iter()
            .flat_map(|change| match &change.difference {
                Difference::Changed { members } => members.clone(),
                other => panic!("{other:?}"),
            });
        members.map(|member| member.pointer).collect()
    }

    #[test]
    fn a_change_has_a_pointer_to_the_deepest_member() {
        let old =
            json!({ "properties": { "a/b": { "type": "string" }, "c": {} }, "required": ["c"] });
        let new = json!({ "properties": { "a/b": { "type": "number" } }, "required": ["d"] });
        let expected = [
            "/inputSchema/properties/a~1b/type",
            "/inputSchema/properties/c",
            "/inputSchema/required/0",
        ];
        assert_eq!(pointers(old, new), expected);
        let expected = ["/inputSchema/required"];
        assert_eq!(
            pointers(
                json!({ "required": ["a"] }),
                json!({ "required": ["a", "b"] })
            ),
            expected
        );
    }

    #[test]
    fn entries_are_added_removed_and_changed() {
        let old = Surface::new("s", "1").with_tools(["a", "b"].map(Tool::without_arguments).iter());
        let new = Surface::new("s", "2").with_tools(["b", "c"].map(Tool::without_arguments).iter());
        let comparison = old.compare(&new);
        let kinds: Vec<_> = comparison
            .changes()
            .iter()
            .map(|change| match &change.difference {
                Difference::Added { .. } => (change.key.as_str(), "added"),
                Difference::Removed { .. } => (change.key.as_str(), "removed"),
                Difference::Changed { .. } => (change.key.as_str(), "changed"),
            })
            .collect();
        assert_eq!(kinds, [("s", "changed"), ("a", "removed"), ("c", "added")]);
        assert!(old.compare(&old).is_empty());
    }

    #[test]
    fn a_second_tool_of_the_same_name_is_a_change() {
        let one = tool("t", json!({}));
        let two = tool("t", json!({ "title": "x" }));
        let old = Surface::new("s", "1").with_tools([&one]);
        let new = Surface::new("s", "1").with_tools([&one, &two]);
        assert_eq!(old.compare(&new).changes().len(), 1);
        assert_eq!(new.compare(&old).changes().len(), 1);
        assert!(new.compare(&new.clone()).is_empty());
    }

    #[test]
    fn a_comparison_is_json_for_programs() {
        let old = Surface::new("s", "1");
        let json = serde_json::to_value(old.compare(&Surface::new("s", "2"))).expect("JSON");
        let expected = json!({ "changes": [{ "kind": null, "key": "s", "change": "changed",
            "members": [{ "pointer": "/version", "old": "1", "new": "2" }] }] });
        assert_eq!(json, expected);
    }
}
