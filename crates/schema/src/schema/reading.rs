//! How a schema is read: in which dialect, and how forgivingly.
//!
//! Our servers offer 2020-12, and a keyword that cannot be enforced is refused. A schema of another
//! server is read in the dialect it names, and such a keyword is left out.

use pintle_model::JsonObject;
use serde_json::Value;

use super::SchemaError;
use super::keywords::{Child, children, join, value_of};

/// How one document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    dialect: Dialect,
    origin: SchemaAuthor,
}

/// The side that wrote a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaAuthor {
    Ours,
    Foreign,
}

/// A dialect of JSON Schema, in the order of their dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dialect {
    /// Draft 7, and draft 6, of which it is a superset.
    Draft7,
    Draft2019,
    Draft2020,
}

/// The dialects that are read, by `$schema` without its scheme and without an empty fragment.
const DIALECTS: [(&str, Dialect); 4] = [
    ("json-schema.org/draft-06/schema", Dialect::Draft7),
    ("json-schema.org/draft-07/schema", Dialect::Draft7),
    ("json-schema.org/draft/2019-09/schema", Dialect::Draft2019),
    ("json-schema.org/draft/2020-12/schema", Dialect::Draft2020),
];

/// Keywords that older dialects do not have, and the first that has them.
const SINCE: [(&str, Dialect); 10] = [
    ("prefixItems", Dialect::Draft2020),
    ("$dynamicRef", Dialect::Draft2020),
    ("$recursiveRef", Dialect::Draft2019),
    ("dependentRequired", Dialect::Draft2019),
    ("dependentSchemas", Dialect::Draft2019),
    ("minContains", Dialect::Draft2019),
    ("maxContains", Dialect::Draft2019),
    ("unevaluatedItems", Dialect::Draft2019),
    ("unevaluatedProperties", Dialect::Draft2019),
    ("contentSchema", Dialect::Draft2019),
];

impl Reading {
    /// Of a schema that is offered here.
    pub(crate) const OURS: Self = Self {
        dialect: Dialect::Draft2020,
        origin: SchemaAuthor::Ours,
    };

    /// Returns the reading of a schema that another server sent. The default dialect is 2020-12.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Dialect`] if it names one that is not read.
    pub(crate) fn foreign(schema: &JsonObject) -> Result<Self, SchemaError> {
        let dialect = match schema.get("$schema") {
            None => Some(Dialect::Draft2020),
            Some(named) => named.as_str().and_then(dialect),
        };
        let dialect = dialect.ok_or_else(|| SchemaError::Dialect {
            dialect: named(schema),
        })?;
        Ok(Self {
            dialect,
            origin: SchemaAuthor::Foreign,
        })
    }

    pub(crate) fn is_foreign(self) -> bool {
        self.origin == SchemaAuthor::Foreign
    }

    /// Whether a keyword applies in a schema. Some dialects do not have the keyword, and draft 7
    /// ignores keywords beside `$ref`.
    pub(crate) fn knows(self, schema: &JsonObject, keyword: &str) -> bool {
        let stands_beside = !["$ref", "definitions", "$defs"].contains(&keyword);
        let is_overruled =
            self.dialect == Dialect::Draft7 && stands_beside && schema.contains_key("$ref");
        let since = SINCE.iter().find(|(known, _)| *known == keyword);
        !is_overruled && since.is_none_or(|(_, since)| *since <= self.dialect)
    }

    /// Whether `items` may be a list that `additionalItems` continues, and `dependencies` exist.
    /// 2019-09 has no `dependencies`, but its readers still support them.
    pub(crate) fn has_older_forms(self) -> bool {
        self.is_foreign() && self.dialect < Dialect::Draft2020
    }

    /// Whether a schema inside a document begins a document of its own, or has a name there.
    pub(crate) fn identity(self, schema: &JsonObject) -> Option<&'static str> {
        let is_anchor = |id: &Value| id.as_str().is_some_and(|id| id.starts_with('#'));
        match (value_of(schema, "$id"), self.origin) {
            (Some(id), SchemaAuthor::Foreign) if is_anchor(id) => None,
            (Some(_), _) => Some("$id"),
            // What does not begin a document cannot change the dialect.
            (None, SchemaAuthor::Foreign) => None,
            (None, SchemaAuthor::Ours) => value_of(schema, "$schema").map(|_| "$schema"),
        }
    }

    /// Lists the schemas directly inside `schema`, in the order they are written.
    pub(crate) fn children<'a>(self, schema: &'a JsonObject, pointer: &str) -> Vec<Child<'a>> {
        let mut found = children(schema, pointer);
        if !self.is_foreign() {
            return found;
        }
        let is_list = |child: &Child<'_>| child.keyword == "items" && child.schema.is_array();
        found.retain(|child| self.knows(schema, child.keyword) && !is_list(child));
        if self.has_older_forms() {
            found.extend(older_children(schema, pointer));
        }
        found
    }
}

/// The schemas under the keywords, and in the forms, that 2020-12 no longer has.
fn older_children<'a>(schema: &'a JsonObject, pointer: &str) -> Vec<Child<'a>> {
    let items = schema.get_key_value("items").into_iter();
    let items = items.flat_map(|(keyword, items)| {
        let items = items.as_array().into_iter().flatten().enumerate();
        items.map(move |(index, schema)| (keyword, index.to_string(), None, schema))
    });
    let dependencies = schema.get_key_value("dependencies").into_iter();
    let dependencies = dependencies.flat_map(|(keyword, schemas)| {
        let schemas = schemas.as_object().into_iter().flatten();
        let schemas = schemas.filter(|(_, schema)| !schema.is_array());
        schemas.map(move |(name, schema)| (keyword, name.clone(), Some(name.as_str()), schema))
    });
    let mut found: Vec<Child<'a>> = items
        .chain(dependencies)
        .map(|(keyword, segment, name, schema)| Child {
            keyword,
            name,
            pointer: join(&join(pointer, keyword), &segment),
            schema,
        })
        .collect();
    let rest = schema.get_key_value("additionalItems");
    found.extend(rest.map(|(keyword, schema)| Child {
        keyword,
        name: None,
        pointer: join(pointer, keyword),
        schema,
    }));
    found
}

fn dialect(name: &str) -> Option<Dialect> {
    let name = name.strip_suffix('#').unwrap_or(name);
    let name = name
        .strip_prefix("https://")
        .or_else(|| name.strip_prefix("http://"))?;
    let row = DIALECTS.iter().find(|(known, _)| *known == name);
    row.map(|(_, dialect)| *dialect)
}

/// Returns the value of `$schema`, for error texts.
pub(crate) fn named(schema: &JsonObject) -> String {
    match schema.get("$schema") {
        Some(Value::String(name)) => name.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reading(dialect: &str) -> Result<Reading, SchemaError> {
        Reading::foreign(json!({ "$schema": dialect }).as_object().unwrap())
    }

    // spec: 2026-07-28 N-SCH-01, N-SCH-02, N-SCH-03
    // spec: 2025-11-25 JSCH-01, JSCH-02, JSCH-06, JSCH-07
    #[test]
    fn a_foreign_schema_is_read_in_the_dialect_it_names() {
        for (name, expected) in [
            ("http://json-schema.org/draft-06/schema#", Dialect::Draft7),
            ("http://json-schema.org/draft-07/schema#", Dialect::Draft7),
            ("https://json-schema.org/draft-07/schema", Dialect::Draft7),
            (
                "https://json-schema.org/draft/2019-09/schema",
                Dialect::Draft2019,
            ),
            (
                "https://json-schema.org/draft/2020-12/schema#",
                Dialect::Draft2020,
            ),
        ] {
            assert_eq!(reading(name).unwrap().dialect, expected, "{name}");
        }
        let none = Reading::foreign(&JsonObject::new()).unwrap();
        assert_eq!(none.dialect, Dialect::Draft2020);
        for name in [
            "http://json-schema.org/draft-04/schema#",
            "https://a.example/own",
            "",
        ] {
            let refused = reading(name);
            assert!(
                matches!(refused, Err(SchemaError::Dialect { dialect }) if dialect == name),
                "{name}"
            );
        }
        let number = json!({ "$schema": 7 });
        assert!(Reading::foreign(number.as_object().unwrap()).is_err());
    }
}
