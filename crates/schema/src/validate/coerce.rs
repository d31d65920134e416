//! Small corrections of values that mean the right thing.

use serde_json::{Number, Value};

use super::node::{Node, NodeId, Rule};
use super::run::Run;

/// How many nodes are visited at most; what lies beyond stays as it is.
const MAX_STEPS: usize = 1_000_000;

/// How deep corrections go, in calls: a bound on the stack.
const MAX_CALLS: usize = 512;

/// Kind of correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Correction {
    /// `5.0` becomes `5` where an integer belongs.
    Integers,
    /// An optional member that is null and may not be goes.
    Nulls,
}

/// One correction of one value.
pub(super) struct Coercion<'v> {
    nodes: &'v [Node],
    correction: Correction,
    steps: usize,
    calls: usize,
}

impl<'v> Coercion<'v> {
    pub(super) fn new(nodes: &'v [Node], correction: Correction) -> Self {
        Self {
            nodes,
            correction,
            steps: 0,
            calls: 0,
        }
    }

    pub(super) fn apply(mut self, value: &mut Value) {
        self.visit(0, value);
    }

    fn visit(&mut self, id: NodeId, value: &mut Value) {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.calls > MAX_CALLS {
            return;
        }
        self.calls += 1;
        let node = &self.nodes[id];
        match self.correction {
            Correction::Integers if node.wants_integer() => write_as_integer(value),
            Correction::Integers => {}
            Correction::Nulls => self.drop_nulls(node, value),
        }
        for rule in &node.rules {
            self.follow(rule, value);
        }
        self.calls -= 1;
    }

    fn follow(&mut self, rule: &'v Rule, value: &mut Value) {
        match rule {
            Rule::All(ids) | Rule::Any(ids) | Rule::One(ids) => {
                ids.iter().for_each(|id| self.visit(*id, value));
            }
            Rule::If {
                then, otherwise, ..
            } => {
                then.iter()
                    .chain(otherwise)
                    .for_each(|id| self.visit(*id, value));
            }
            Rule::Members(members) => {
                for (name, member) in value.as_object_mut().into_iter().flatten() {
                    if let Some(id) = members.by_name.get(name).copied().or(members.rest) {
                        self.visit(id, member);
                    }
                }
            }
            Rule::Items { prefix, rest } => {
                let items = value.as_array_mut().into_iter().flatten();
                for (index, item) in items.enumerate() {
                    if let Some(id) = prefix.get(index).copied().or(*rest) {
                        self.visit(id, item);
                    }
                }
            }
            _ => {}
        }
    }

    fn drop_nulls(&self, node: &Node, value: &mut Value) {
        let Value::Object(members) = value else {
            return;
        };
        for (name, id) in node.members() {
            let is_null = members.get(name).is_some_and(Value::is_null);
            if is_null && !node.requires(name) && !Run::new(self.nodes).fits(id, &Value::Null) {
                members.shift_remove(name);
            }
        }
    }
}

/// Writes a float without a fraction as the integer that it is.
pub fn write_as_integer(value: &mut Value) {
    let Value::Number(number) = value else {
        return;
    };
    if number.is_i64() || number.is_u64() {
        return;
    }
    if let Some(integer) = number.as_f64().and_then(integer) {
        *number = integer;
    }
}

/// The integer that a float is, if it has no fraction and fits 64 bits.
fn integer(float: f64) -> Option<Number> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if float.fract() != 0.0 {
        None
    } else if (-TWO_TO_63..TWO_TO_63).contains(&float) {
        Some(Number::from(float as i64))
    } else if (0.0..2.0 * TWO_TO_63).contains(&float) {
        Some(Number::from(float as u64))
    } else {
        None
    }
}
