//! Where schemas stand inside a schema, and how to point at them.
//!
//! A keyword such as `enum` or `default` holds data, and `properties` holds names: neither is
//! looked into for keywords. The one place that knows which is which.

use pintle_model::JsonObject;
use serde_json::Value;

/// The schemas in the value of a keyword. Closed: schemas stand in a schema in these forms only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Subschemas<'s> {
    /// The value is a schema.
    One(&'s Value),
    /// The value is a list of schemas.
    List(&'s [Value]),
    /// The value has a schema for each name.
    Map(&'s JsonObject),
}

/// Returns the schemas in the value of a keyword, in any dialect since draft 4; `None` if it has none.
///
/// An entry of `dependencies` may be a list of names.
pub fn subschemas<'s>(keyword: &str, value: &'s Value) -> Option<Subschemas<'s>> {
    match value {
        Value::Object(map) if MAPS.contains(&keyword) || keyword == OLD_MAP => {
            Some(Subschemas::Map(map))
        }
        Value::Array(list) if LISTS.contains(&keyword) || keyword == OLD_LIST => {
            Some(Subschemas::List(list))
        }
        Value::Object(_) | Value::Bool(_)
            if SINGLES.contains(&keyword) || keyword == OLD_SINGLE =>
        {
            Some(Subschemas::One(value))
        }
        _ => None,
    }
}

/// The keyword before 2019-09 that maps names to schemas.
const OLD_MAP: &str = "dependencies";
/// The keyword that may list schemas before 2020-12.
const OLD_LIST: &str = "items";
/// The keyword before 2020-12 that holds one schema.
const OLD_SINGLE: &str = "additionalItems";

/// Keywords that map names to schemas.
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// Keywords that list schemas.
const LISTS: [&str; 4] = ["prefixItems", "allOf", "anyOf", "oneOf"];

/// Keywords that hold one schema.
const SINGLES: [&str; 11] = [
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// A schema inside another one.
pub(crate) struct Child<'a> {
    /// The keyword it stands under.
    pub(crate) keyword: &'a str,
    /// Its name under that keyword, if the keyword maps names.
    pub(crate) name: Option<&'a str>,
    /// Its own pointer.
    pub(crate) pointer: String,
    /// The schema: an object or a boolean, if it is well-formed.
    pub(crate) schema: &'a Value,
}

/// How many members are looked at one by one: to hash a keyword costs as much as that.
const FEW: usize = 16;

/// Returns the value of a keyword. Every keyword is looked up, and most are absent.
pub(crate) fn value_of<'a>(schema: &'a JsonObject, keyword: &str) -> Option<&'a Value> {
    if schema.len() > FEW {
        return schema.get(keyword);
    }
    let mut members = schema.iter();
    let found = members.find(|(name, _)| name.as_str() == keyword);
    found.map(|(_, value)| value)
}

/// Lists the schemas directly inside `schema`, in the order they are written.
pub(crate) fn children<'a>(schema: &'a JsonObject, pointer: &str) -> Vec<Child<'a>> {
    let mut children = Vec::new();
    for (keyword, value) in schema {
        if SINGLES.contains(&keyword.as_str()) {
            children.push(Child {
                keyword,
                name: None,
                pointer: join(pointer, keyword),
                schema: value,
            });
        } else if let (true, Some(map)) = (MAPS.contains(&keyword.as_str()), value.as_object()) {
            let at = join(pointer, keyword);
            children.extend(map.iter().map(|(name, schema)| Child {
                keyword,
                name: Some(name),
                pointer: join(&at, name),
                schema,
            }));
        } else if let (true, Some(list)) = (LISTS.contains(&keyword.as_str()), value.as_array()) {
            let at = join(pointer, keyword);
            children.extend(list.iter().enumerate().map(|(index, schema)| Child {
                keyword,
                name: None,
                pointer: join(&at, &index.to_string()),
                schema,
            }));
        }
    }
    children
}

/// Changes the schemas directly inside `schema`, in the order they are written.
pub(crate) fn for_each_child(schema: &mut JsonObject, change: &mut dyn FnMut(&mut Value)) {
    for (keyword, value) in schema {
        if SINGLES.contains(&keyword.as_str()) {
            change(value);
        } else if MAPS.contains(&keyword.as_str()) {
            value
                .as_object_mut()
                .into_iter()
                .flatten()
                .for_each(|(_, schema)| change(schema));
        } else if LISTS.contains(&keyword.as_str()) {
            value
                .as_array_mut()
                .into_iter()
                .flatten()
                .for_each(&mut *change);
        }
    }
}

/// Calls `change` for every schema, inner ones first.
pub(crate) fn visit(schema: &mut Value, change: &mut dyn FnMut(&mut JsonObject)) {
    if let Value::Object(schema) = schema {
        for_each_child(schema, &mut |child| visit(child, change));
        change(schema);
    }
}

/// Appends one segment to a JSON pointer (RFC 6901).
pub(crate) fn join(pointer: &str, segment: &str) -> String {
    let mut joined = String::with_capacity(pointer.len() + segment.len() + 1);
    joined.push_str(pointer);
    push(&mut joined, segment);
    joined
}

/// Appends one segment to a JSON pointer in place.
pub(crate) fn push(pointer: &mut String, segment: &str) {
    pointer.push('/');
    if !segment.contains(['~', '/']) {
        return pointer.push_str(segment);
    }
    for character in segment.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_keyword_is_found_among_few_and_among_many() {
        for count in [1, FEW, FEW + 1, 40] {
            let schema: JsonObject = (0..count).map(|at| (format!("k{at}"), json!(at))).collect();
            let last = format!("k{}", count - 1);
            assert_eq!(value_of(&schema, &last), Some(&json!(count - 1)));
            assert_eq!(value_of(&schema, "k"), None);
        }
    }

    #[test]
    fn keywords_of_each_dialect_hold_schemas_in_their_form() {
        let (object, list) = (json!({ "a": {} }), json!([{}]));
        let map = object.as_object().expect("an object");
        let items = list.as_array().expect("a list");
        for keyword in ["properties", "$defs", "definitions", "dependencies"] {
            assert_eq!(
                subschemas(keyword, &object),
                Some(Subschemas::Map(map)),
                "{keyword}"
            );
        }
        for keyword in ["allOf", "prefixItems", "items"] {
            assert_eq!(
                subschemas(keyword, &list),
                Some(Subschemas::List(items)),
                "{keyword}"
            );
        }
        for keyword in ["items", "not", "additionalItems"] {
            assert_eq!(
                subschemas(keyword, &object),
                Some(Subschemas::One(&object)),
                "{keyword}"
            );
        }
        assert_eq!(
            subschemas("not", &json!(true)),
            Some(Subschemas::One(&json!(true)))
        );
        for (keyword, value) in [
            ("enum", &list),
            ("default", &object),
            ("not", &list),
            ("allOf", &object),
            ("$ref", &object),
        ] {
            assert_eq!(subschemas(keyword, value), None, "{keyword}");
        }
    }

    #[test]
    fn data_and_names_are_not_schemas() {
        let schema = json!({
            "properties": { "items": { "type": "string" }, "a/b": true },
            "enum": [{ "items": {} }],
            "default": { "not": {} },
            "anyOf": [{}],
        });
        let found: Vec<String> = children(schema.as_object().unwrap(), "")
            .into_iter()
            .map(|child| child.pointer)
            .collect();
        assert_eq!(found, ["/properties/items", "/properties/a~1b", "/anyOf/0"]);
    }
}
