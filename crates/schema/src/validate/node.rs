//! A compiled schema: one node per subschema, referring to each other by number.

use std::collections::HashMap;

use serde_json::{Number, Value};

use super::format::Format;
use super::pattern::Pattern;

/// The number of a node.
pub(super) type NodeId = usize;

/// Names, each with a list of names.
pub(super) type NameLists = Vec<(String, Vec<String>)>;

/// One subschema, compiled.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// Checks of the value itself.
    pub(super) checks: Vec<Check>,
    /// Rules for the parts of the value, and for alternatives.
    pub(super) rules: Vec<Rule>,
    /// Whether some keyword is not enforced: an accepted value may still be invalid.
    pub(super) is_partial: bool,
}

impl Node {
    /// Whether nothing is accepted.
    pub(super) fn is_never(&self) -> bool {
        matches!(self.checks.as_slice(), [Check::Never])
    }

    /// The named members, in the order of the schema.
    pub(super) fn members(&self) -> impl Iterator<Item = (&str, NodeId)> {
        let members = self.rules.iter().filter_map(|rule| match rule {
            Rule::Members(members) => Some(members),
            _ => None,
        });
        members.flat_map(|members| {
            let names = members.names.iter();
            names.filter_map(|name| Some((name.as_str(), *members.by_name.get(name)?)))
        })
    }

    /// The node of a named member.
    pub(super) fn member(&self, name: &str) -> Option<NodeId> {
        self.members()
            .find_map(|(known, id)| (known == name).then_some(id))
    }

    /// Whether a member must be there.
    pub(super) fn requires(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| match rule {
            Rule::Required(names) => names.iter().any(|required| required == name),
            _ => false,
        })
    }

    /// Whether a number must be an integer.
    pub(super) fn wants_integer(&self) -> bool {
        let mut types = self.checks.iter();
        types.any(|check| matches!(check, Check::Types(types) if types.wants_integer()))
    }
}

/// A check of one value that looks at no other node.
#[derive(Debug, Clone)]
pub(super) enum Check {
    Never,
    Types(Types),
    Enum(Vec<Value>),
    Const(Value),
    Minimum(Number),
    Maximum(Number),
    Above(Number),
    Below(Number),
    MultipleOf(Number),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Format(Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    MinMembers(u64),
    MaxMembers(u64),
}

/// A rule that hands the value, or its parts, to other nodes.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Required(Vec<String>),
    DependentRequired(NameLists),
    DependentSchemas(Vec<(String, NodeId)>),
    Dependencies {
        lists: NameLists,
        schemas: Vec<(String, NodeId)>,
    },
    Names(NodeId),
    Members(Members),
    Items {
        prefix: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    Contains {
        node: NodeId,
        min: u64,
        max: Option<u64>,
    },
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    One(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
}

/// `properties`, `patternProperties` and `additionalProperties`, which depend on each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    pub(super) by_name: HashMap<String, NodeId>,
    /// The names in the order of the schema, for messages.
    pub(super) names: Vec<String>,
    pub(super) by_pattern: Vec<(Pattern, NodeId)>,
    pub(super) rest: Option<NodeId>,
    /// Whether there are patterns that cannot be read: any name may match one.
    pub(super) has_unread_patterns: bool,
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Types(u8);

/// The types in the order of their bits, with what a value of it is called.
const TYPES: [(&str, &str); 7] = [
    ("integer", "an integer"),
    ("number", "a number"),
    ("string", "a string"),
    ("boolean", "a boolean"),
    ("array", "an array"),
    ("object", "an object"),
    ("null", "null"),
];

impl Types {
    const INTEGER: Self = Self(1);
    const NUMBER: Self = Self(1 << 1);

    /// The type of this name, if there is one.
    pub(super) fn named(name: &str) -> Option<Self> {
        let bit = TYPES.iter().position(|(known, _)| *known == name)?;
        Some(Self(1 << bit))
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a number must be an integer.
    pub(super) fn wants_integer(self) -> bool {
        self.contains(Self::INTEGER) && !self.contains(Self::NUMBER)
    }

    pub(super) fn accepts(self, value: &Value) -> bool {
        let name = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Number(number) => {
                return self.contains(Self::NUMBER)
                    || (self.contains(Self::INTEGER) && is_integer(number));
            }
        };
        Self::named(name).is_some_and(|kind| self.contains(kind))
    }

    /// Returns the names of these types, in a fixed order.
    pub(super) fn nouns(self) -> Vec<&'static str> {
        let is_in = |bit: usize| self.contains(Self(1 << bit));
        let nouns = TYPES.iter().enumerate();
        nouns
            .filter(|(bit, _)| is_in(*bit))
            .map(|(_, (_, noun))| *noun)
            .collect()
    }

    fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Whether a number has no fraction: `5` and `5.0` are integers.
fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
