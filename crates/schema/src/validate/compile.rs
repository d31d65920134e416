//! From JSON to nodes.
//!
//! Subschemas are compiled from a queue, each once, whatever refers to it. So recursion in the
//! schema costs nothing here, and none of it is on the stack.

use std::collections::HashMap;

use pintle_model::JsonObject;
use serde_json::Value;

use super::format::Format;
use super::node::{Check, Members, Node, NodeId, Rule, Types};
use super::pattern::{FOREIGN_SIZE, OUR_SIZE, Pattern};
use super::reader::Reader;
use super::{Formats, UnenforcedKeyword};
use crate::schema::check::MAX_SUBSCHEMAS;
use crate::schema::keywords::join;
use crate::schema::reading::Reading;
use crate::schema::reference::{Document, Located};
use crate::schema::{SchemaError, survey};

mod older;

/// Keywords that forbid something and are not enforced here.
const UNSUPPORTED: [&str; 9] = [
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
    "$vocabulary",
    // Of older dialects: 2020-12 ignores them, their authors do not expect that.
    "dependencies",
    "additionalItems",
    "extends",
    "disallow",
];

/// The ones among them that are left out of a foreign schema; it may have the others as notes.
const LEFT_OUT: [&str; 4] = [
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
];

/// How many patterns of a foreign schema are enforced: a bound on the memory they take.
const MAX_FOREIGN_PATTERNS: usize = 64;

/// A schema as nodes, and the list of its keywords that are not enforced.
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    pub(super) unenforced: Vec<UnenforcedKeyword>,
}

/// Compiles a schema that has been checked; the first node is the root.
pub(super) fn compile(
    schema: &JsonObject,
    reading: Reading,
    formats: Formats,
) -> Result<Compiled, SchemaError> {
    let mut compiler = Compiler {
        document: survey(schema, reading)?,
        reading,
        formats,
        ids: HashMap::from([(String::new(), 0)]),
        queue: vec![(0, String::new(), Schema::Object(schema))],
        nodes: vec![Node::default()],
        unenforced: Vec::new(),
        patterns: 0,
    };
    while let Some((id, pointer, schema)) = compiler.queue.pop() {
        // References may lead to schemas that the survey did not count.
        if compiler.nodes.len() > MAX_SUBSCHEMAS {
            return Err(SchemaError::TooLarge {
                limit: MAX_SUBSCHEMAS,
            });
        }
        compiler.nodes[id] = compiler.node(&pointer, schema)?;
    }
    Ok(Compiled {
        nodes: compiler.nodes,
        unenforced: compiler.unenforced,
    })
}

struct Compiler<'a> {
    document: Document<'a>,
    reading: Reading,
    formats: Formats,
    ids: HashMap<String, NodeId>,
    queue: Vec<(NodeId, String, Schema<'a>)>,
    nodes: Vec<Node>,
    unenforced: Vec<UnenforcedKeyword>,
    patterns: usize,
}

#[derive(Clone, Copy)]
enum Schema<'a> {
    Object(&'a JsonObject),
    Boolean(bool),
}

impl<'a> Compiler<'a> {
    fn node(&mut self, pointer: &str, schema: Schema<'a>) -> Result<Node, SchemaError> {
        let schema = match schema {
            Schema::Object(schema) => schema,
            Schema::Boolean(true) => return Ok(Node::default()),
            Schema::Boolean(false) => return Ok(never()),
        };
        let reader = Reader {
            pointer,
            schema,
            reading: self.reading,
        };
        let before = self.unenforced.len();
        if !self.leave_out(&reader)? {
            return Ok(Node {
                is_partial: true,
                ..Node::default()
            });
        }
        Ok(Node {
            checks: self.checks(&reader)?,
            rules: self.rules(&reader)?,
            is_partial: self.unenforced.len() > before,
        })
    }

    /// Lists keywords that are not enforced, or refuses them in a schema of ours. Returns true if
    /// other keywords are left.
    fn leave_out(&mut self, reader: &Reader<'_, 'a>) -> Result<bool, SchemaError> {
        if !self.reading.is_foreign() {
            return refuse_unsupported(reader).map(|()| true);
        }
        if let (false, Some(keyword)) = (
            reader.pointer.is_empty(),
            self.reading.identity(reader.schema),
        ) {
            self.not_enforced(reader.pointer.to_owned(), keyword);
            return Ok(false);
        }
        for keyword in LEFT_OUT {
            if reader.get(keyword).is_some() {
                self.not_enforced(reader.at(keyword), keyword);
            }
        }
        Ok(true)
    }

    fn not_enforced(&mut self, pointer: String, keyword: &str) {
        self.unenforced.push(UnenforcedKeyword {
            pointer,
            keyword: keyword.to_owned(),
        });
    }

    fn checks(&mut self, reader: &Reader<'_, 'a>) -> Result<Vec<Check>, SchemaError> {
        let checks = [
            types(reader)?.map(Check::Types),
            reader.list("enum")?.map(listed),
            reader.get("const").map(|value| Check::Const(value.clone())),
            reader.number("minimum")?.map(Check::Minimum),
            reader.number("maximum")?.map(Check::Maximum),
            reader.number("exclusiveMinimum")?.map(Check::Above),
            reader.number("exclusiveMaximum")?.map(Check::Below),
            reader.divisor("multipleOf")?.map(Check::MultipleOf),
            reader.count("minLength")?.map(Check::MinLength),
            reader.count("maxLength")?.map(Check::MaxLength),
            self.text_pattern(reader)?.map(Check::Pattern),
            format(reader, self.formats)?.map(Check::Format),
            reader.count("minItems")?.map(Check::MinItems),
            reader.count("maxItems")?.map(Check::MaxItems),
            reader.flag("uniqueItems")?.then_some(Check::UniqueItems),
            reader.count("minProperties")?.map(Check::MinMembers),
            reader.count("maxProperties")?.map(Check::MaxMembers),
        ];
        Ok(checks.into_iter().flatten().collect())
    }

    fn text_pattern(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Pattern>, SchemaError> {
        match reader.text("pattern")? {
            Some(source) => self.pattern(&reader.at("pattern"), "pattern", source),
            None => Ok(None),
        }
    }

    /// Compiles a pattern; `None` if a foreign one cannot be used, or there are too many.
    fn pattern(
        &mut self,
        pointer: &str,
        keyword: &str,
        source: &str,
    ) -> Result<Option<Pattern>, SchemaError> {
        self.patterns += 1;
        let is_foreign = self.reading.is_foreign();
        if is_foreign && self.patterns > MAX_FOREIGN_PATTERNS {
            self.not_enforced(pointer.to_owned(), keyword);
            return Ok(None);
        }
        match Pattern::new(source, if is_foreign { FOREIGN_SIZE } else { OUR_SIZE }) {
            Ok(pattern) => Ok(Some(pattern)),
            Err(_) if is_foreign => {
                self.not_enforced(pointer.to_owned(), keyword);
                Ok(None)
            }
            Err(error) => Err(SchemaError::Pattern {
                pointer: pointer.to_owned(),
                reason: error.to_string(),
            }),
        }
    }

    fn rules(&mut self, reader: &Reader<'_, 'a>) -> Result<Vec<Rule>, SchemaError> {
        let rules = [
            self.reference(reader)?,
            reader.strings("required")?.map(Rule::Required),
            self.members(reader)?,
            reader
                .string_lists("dependentRequired")?
                .map(Rule::DependentRequired),
            self.dependent_schemas(reader)?,
            self.dependencies(reader)?,
            self.single(reader, "propertyNames")?.map(Rule::Names),
            self.items(reader)?,
            self.contains(reader)?,
            self.several(reader, "allOf")?.map(Rule::All),
            self.several(reader, "anyOf")?.map(Rule::Any),
            self.several(reader, "oneOf")?.map(Rule::One),
            self.single(reader, "not")?.map(Rule::Not),
            self.condition(reader)?,
        ];
        Ok(rules.into_iter().flatten().collect())
    }

    fn reference(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Rule>, SchemaError> {
        let Some(target) = reader.text("$ref")? else {
            return Ok(None);
        };
        let id = match self.document.resolve(reader.pointer, target)? {
            (pointer, Located::Root(root)) => self.open(pointer, Schema::Object(root)),
            (pointer, Located::Inside(schema)) => self.child(pointer, schema)?,
        };
        Ok(Some(Rule::All(vec![id])))
    }

    fn members(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Rule>, SchemaError> {
        let mut members = Members {
            rest: self.single(reader, "additionalProperties")?,
            ..Members::default()
        };
        for (name, schema) in reader.map("properties")?.into_iter().flatten() {
            let id = self.child(join(&reader.at("properties"), name), schema)?;
            members.by_name.insert(name.clone(), id);
            members.names.push(name.clone());
        }
        for (source, schema) in reader.map("patternProperties")?.into_iter().flatten() {
            let pointer = join(&reader.at("patternProperties"), source);
            match self.pattern(&pointer, "patternProperties", source)? {
                Some(pattern) => {
                    let id = self.child(pointer, schema)?;
                    members.by_pattern.push((pattern, id));
                }
                None => members.has_unread_patterns = true,
            }
        }
        let says_nothing =
            members.by_name.is_empty() && members.by_pattern.is_empty() && members.rest.is_none();
        Ok((!says_nothing).then_some(Rule::Members(members)))
    }

    fn dependent_schemas(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Rule>, SchemaError> {
        let Some(schemas) = reader.map("dependentSchemas")? else {
            return Ok(None);
        };
        let at = reader.at("dependentSchemas");
        let compiled = schemas
            .iter()
            .map(|(name, schema)| Ok((name.clone(), self.child(join(&at, name), schema)?)))
            .collect::<Result<_, SchemaError>>()?;
        Ok(Some(Rule::DependentSchemas(compiled)))
    }

    fn items(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Rule>, SchemaError> {
        let is_list = reader.get("items").is_some_and(Value::is_array);
        let (prefix, rest) = match is_list && self.reading.is_foreign() {
            true if self.reading.has_older_forms() => ("items", "additionalItems"),
            true => {
                // This is not valid in 2020-12, and the schema names no other dialect, so its
                // meaning is uncertain.
                self.not_enforced(reader.at("items"), "items");
                return Ok(None);
            }
            false => ("prefixItems", "items"),
        };
        let prefix = self.several(reader, prefix)?.unwrap_or_default();
        let rest = self.single(reader, rest)?;
        let says_nothing = prefix.is_empty() && rest.is_none();
        Ok((!says_nothing).then_some(Rule::Items { prefix, rest }))
    }

    fn contains(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Rule>, SchemaError> {
        let Some(node) = self.single(reader, "contains")? else {
            return Ok(None);
        };
        Ok(Some(Rule::Contains {
            node,
            min: reader.count("minContains")?.unwrap_or(1),
            max: reader.count("maxContains")?,
        }))
    }

    fn condition(&mut self, reader: &Reader<'_, 'a>) -> Result<Option<Rule>, SchemaError> {
        let Some(condition) = self.single(reader, "if")? else {
            return Ok(None);
        };
        Ok(Some(Rule::If {
            condition,
            then: self.single(reader, "then")?,
            otherwise: self.single(reader, "else")?,
        }))
    }

    fn single(
        &mut self,
        reader: &Reader<'_, 'a>,
        keyword: &str,
    ) -> Result<Option<NodeId>, SchemaError> {
        match reader.get(keyword) {
            Some(schema) => self.child(reader.at(keyword), schema).map(Some),
            None => Ok(None),
        }
    }

    fn several(
        &mut self,
        reader: &Reader<'_, 'a>,
        keyword: &str,
    ) -> Result<Option<Vec<NodeId>>, SchemaError> {
        let Some(schemas) = reader.list(keyword)? else {
            return Ok(None);
        };
        let at = reader.at(keyword);
        let compiled = schemas.iter().enumerate();
        compiled
            .map(|(index, schema)| self.child(join(&at, &index.to_string()), schema))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// The node of a subschema, compiled later if it is new.
    fn child(&mut self, pointer: String, schema: &'a Value) -> Result<NodeId, SchemaError> {
        match schema {
            Value::Object(schema) => Ok(self.open(pointer, Schema::Object(schema))),
            Value::Bool(boolean) => Ok(self.open(pointer, Schema::Boolean(*boolean))),
            _ => Err(SchemaError::Malformed {
                pointer,
                expected: "a schema: an object or a boolean",
            }),
        }
    }

    fn open(&mut self, pointer: String, schema: Schema<'a>) -> NodeId {
        let next = self.nodes.len();
        let id = *self.ids.entry(pointer.clone()).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
            self.queue.push((id, pointer, schema));
        }
        id
    }
}

fn never() -> Node {
    Node {
        checks: vec![Check::Never],
        ..Node::default()
    }
}

fn refuse_unsupported(reader: &Reader<'_, '_>) -> Result<(), SchemaError> {
    let found = UNSUPPORTED
        .into_iter()
        .find(|keyword| reader.schema.contains_key(*keyword));
    match found {
        Some(keyword) => Err(SchemaError::Unsupported {
            pointer: reader.at(keyword),
            keyword: keyword.to_owned(),
        }),
        None => Ok(()),
    }
}

/// A list of one value means the same as `const`, which can distinguish branches.
fn listed(values: &[Value]) -> Check {
    match values {
        [only] => Check::Const(only.clone()),
        values => Check::Enum(values.to_vec()),
    }
}

fn types(reader: &Reader<'_, '_>) -> Result<Option<Types>, SchemaError> {
    let names = match reader.get("type") {
        None => return Ok(None),
        Some(Value::Array(names)) if !names.is_empty() => names.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let types = names.iter().map(|name| Types::named(name.as_str()?));
    let union = types
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| SchemaError::Malformed {
            pointer: reader.at("type"),
            expected: "the name of a JSON type, or an array of them",
        })?;
    Ok(union.into_iter().reduce(Types::with))
}

fn format(reader: &Reader<'_, '_>, formats: Formats) -> Result<Option<Format>, SchemaError> {
    let name = reader.text("format")?;
    match formats {
        Formats::Noted => Ok(None),
        Formats::Enforced => Ok(name.and_then(Format::named)),
    }
}
