//! Definitions that are used once move to where they are used.
//!
//! Many hosts do not follow `$ref`, or show it to the model unresolved. The definitions that stay
//! in `$defs` are recursive, or shared and large.

use std::collections::HashMap;

use pintle_model::JsonObject;
use serde_json::Value;

use super::keywords::{for_each_child, join, visit};
use super::portable::VARIANT_DOCS;
use super::reference::canonical;

/// A definition of at most this many bytes of JSON is repeated rather than shared.
const SMALL: usize = 160;

/// Moves every definition of `root` that is used once, or is small, to where it is used.
pub(super) fn inline(root: &mut JsonObject) {
    while let Some(name) = next_movable(root) {
        let Some(definition) = take_definition(root, &name) else {
            return;
        };
        replace(root, &pointer_to(&name), &definition);
    }
    if root
        .get("$defs")
        .and_then(Value::as_object)
        .is_some_and(JsonObject::is_empty)
    {
        root.shift_remove("$defs");
    }
}

/// The first definition that refers to no other and can move, so that moving ends.
fn next_movable(root: &JsonObject) -> Option<String> {
    let definitions = root.get("$defs")?.as_object()?;
    let uses = count_uses(&Value::Object(root.clone()));
    let movable = |(name, definition): (&String, &Value)| {
        let target = pointer_to(name);
        let movable = match uses.get(&target) {
            Some(1) => true,
            Some(_) => is_small(definition),
            None => false,
        };
        let is_leaf = count_uses(definition).is_empty();
        (movable && is_leaf && !is_blocked(root, &target, definition)).then(|| name.clone())
    };
    definitions.iter().find_map(movable)
}

fn pointer_to(name: &str) -> String {
    join("/$defs", name)
}

fn is_small(definition: &Value) -> bool {
    let mut offered = definition.clone();
    offered
        .as_object_mut()
        .and_then(|schema| schema.shift_remove(VARIANT_DOCS));
    offered.to_string().len() <= SMALL
}

fn take_definition(root: &mut JsonObject, name: &str) -> Option<Value> {
    root.get_mut("$defs")?.as_object_mut()?.shift_remove(name)
}

fn count_uses(schema: &Value) -> HashMap<String, usize> {
    let mut uses = HashMap::new();
    visit(&mut schema.clone(), &mut |schema| {
        if let Some(target) = target(schema) {
            *uses.entry(target).or_default() += 1;
        }
    });
    uses
}

/// Whether some use of the definition has keywords beside it that cannot be merged with it.
fn is_blocked(root: &JsonObject, target: &str, definition: &Value) -> bool {
    let mut blocked = false;
    visit(&mut Value::Object(root.clone()), &mut |schema| {
        blocked |= refers_to(schema, target) && merged(schema, definition).is_none();
    });
    blocked
}

fn replace(root: &mut JsonObject, target: &str, definition: &Value) {
    for_each_child(root, &mut |child| {
        visit(child, &mut |schema| {
            if refers_to(schema, target)
                && let Some(merged) = merged(schema, definition)
            {
                *schema = merged;
            }
        });
    });
    // The root itself, when a whole type is a reference.
    if refers_to(root, target)
        && let Some(merged) = merged(root, definition)
    {
        *root = merged;
    }
}

fn refers_to(schema: &JsonObject, pointer: &str) -> bool {
    target(schema).as_deref() == Some(pointer)
}

fn target(schema: &JsonObject) -> Option<String> {
    canonical(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Merges the keywords beside a reference into its definition; `None` if they conflict.
fn merged(site: &JsonObject, definition: &Value) -> Option<JsonObject> {
    let Value::Object(definition) = definition else {
        return None;
    };
    let mut merged = JsonObject::new();
    for (keyword, value) in site {
        if keyword == "$ref" {
            for (keyword, value) in definition {
                merge_keyword(&mut merged, site, keyword, value)?;
            }
        } else if !(merged.contains_key(keyword) && definition.contains_key(keyword)) {
            merged.insert(keyword.clone(), value.clone());
        }
    }
    describe_variants(&mut merged, site);
    Some(merged)
}

/// Adds the docs of an enum's variants to the description of the place that uses the enum.
fn describe_variants(merged: &mut JsonObject, site: &JsonObject) {
    let own = site.get("description").and_then(Value::as_str);
    let docs = merged.get(VARIANT_DOCS).and_then(Value::as_str);
    if let (Some(own), Some(docs)) = (own, docs) {
        let both = format!("{own}\n\n{docs}");
        merged.insert("description".to_owned(), Value::String(both));
    }
}

fn merge_keyword(
    merged: &mut JsonObject,
    site: &JsonObject,
    keyword: &str,
    value: &Value,
) -> Option<()> {
    match (keyword, site.get(keyword)) {
        (_, None) => drop(merged.insert(keyword.to_owned(), value.clone())),
        ("description" | "title" | "default", Some(_)) => {}
        (_, Some(same)) if same == value => {}
        // Tagged variants: the tag's property beside the fields of the variant's type.
        ("properties" | "required", Some(_)) if is_open_object(site) => {
            let both = union(site.get(keyword)?, value)?;
            merged.insert(keyword.to_owned(), both);
        }
        _ => return None,
    }
    Some(())
}

fn is_open_object(site: &JsonObject) -> bool {
    site.keys().all(|keyword| {
        matches!(
            keyword.as_str(),
            "type" | "properties" | "required" | "$ref" | "description" | "title"
        )
    })
}

/// Both lists, or both maps if they share no name.
fn union(first: &Value, second: &Value) -> Option<Value> {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            let disjoint = second.keys().all(|name| !first.contains_key(name));
            let both = first
                .iter()
                .chain(second)
                .map(|(name, value)| (name.clone(), value.clone()));
            disjoint.then(|| Value::Object(both.collect()))
        }
        (Value::Array(first), Value::Array(second)) => {
            Some(Value::Array([first.as_slice(), second].concat()))
        }
        _ => None,
    }
}
