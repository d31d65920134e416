//! Whether a schema has rules that decoding into its type does not enforce.

use pintle_model::JsonObject;
use serde_json::Value;

use crate::schema::keywords::{Child, children};

/// Where a schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaSource {
    /// From a type, with the formats that name its integers.
    Derived,
    /// From somewhere else: nothing is known of the type that is decoded.
    Written,
}

/// Bounds that no decoder enforces by itself. Each applies to values of one type only.
pub(super) const BOUNDS: [&str; 10] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
];

/// Other keywords that no decoder enforces by itself.
const CONSTRAINTS: [&str; 16] = [
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "allOf",
    "not",
    "if",
    "const",
    "then",
    "else",
];

/// The integer types that schemars names, and the bounds it gives them.
const INTEGERS: [(&str, Option<i64>, Option<i64>); 12] = [
    ("uint8", Some(0), Some(255)),
    ("uint16", Some(0), Some(65_535)),
    ("uint32", Some(0), None),
    ("uint64", Some(0), None),
    ("uint128", Some(0), None),
    ("uint", Some(0), None),
    ("int8", Some(-128), Some(127)),
    ("int16", Some(-32_768), Some(32_767)),
    ("int32", None, None),
    ("int64", None, None),
    ("int128", None, None),
    ("int", None, None),
];

/// Whether the schema constrains more than the types in it.
pub(super) fn says_more(schema: &Value, origin: SchemaSource) -> bool {
    let mut open = vec![(String::new(), Place::Plain, schema)];
    while let Some((pointer, place, schema)) = open.pop() {
        let Value::Object(schema) = schema else {
            // A `false` schema forbids a member. Decoders ignore members that they do not know.
            if *schema == Value::Bool(false) {
                return true;
            }
            continue;
        };
        if constrains(schema, origin, place) {
            return true;
        }
        for child in children(schema, &pointer) {
            let place = place.of(&child);
            open.push((child.pointer, place, child.schema));
        }
    }
    false
}

/// Position of a schema relative to the one that an enum was derived to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    Variant,
    Tag,
}

impl Place {
    fn of(self, child: &Child<'_>) -> Self {
        match (child.keyword, self) {
            ("oneOf", _) => Self::Variant,
            ("properties", Self::Variant) => Self::Tag,
            _ => Self::Plain,
        }
    }
}

fn constrains(schema: &JsonObject, origin: SchemaSource, place: Place) -> bool {
    let is_enforced =
        |keyword: &str| origin == SchemaSource::Derived && decodes(schema, place, keyword);
    let mut keywords = schema.keys().map(String::as_str);
    let constrains = |keyword: &str| BOUNDS.contains(&keyword) || CONSTRAINTS.contains(&keyword);
    keywords.any(|keyword| constrains(keyword) && !is_enforced(keyword))
}

/// Whether decoding a derived type enforces one of its schema's keywords.
fn decodes(schema: &JsonObject, place: Place, keyword: &str) -> bool {
    match keyword {
        "minimum" => integer_bounds(schema).is_some_and(|(min, _)| schema["minimum"] == min),
        "maximum" => integer_bounds(schema).is_some_and(|(_, max)| schema["maximum"] == max),
        "const" => place != Place::Plain,
        "minItems" | "maxItems" => {
            let fixed = schema
                .get("prefixItems")
                .and_then(Value::as_array)
                .map(Vec::len);
            fixed.is_some() && schema[keyword].as_u64() == fixed.map(|length| length as u64)
        }
        _ => false,
    }
}

fn integer_bounds(schema: &JsonObject) -> Option<(Value, Value)> {
    let format = schema.get("format")?.as_str()?;
    let (_, min, max) = INTEGERS.iter().find(|(name, ..)| *name == format)?;
    Some((Value::from(*min), Value::from(*max)))
}
