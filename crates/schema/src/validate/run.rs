//! One check of one value.

use serde_json::Value;

use super::Validity;
use super::describe::describe;
use super::node::{Members, Node, NodeId, Rule};
use super::violation::{Segment, Violation, found, pointer};

mod combine;

/// How many steps one check may take: some tens of milliseconds.
const MAX_STEPS: usize = 2_000_000;

/// How deep a value may nest, in levels.
const MAX_LEVELS: usize = 64;

/// How deep nodes may refer to nodes, in calls: a bound on the stack.
const MAX_CALLS: usize = 512;

/// How many violations are reported; more would not help.
const MAX_VIOLATIONS: usize = 16;

/// The state of one check.
pub(super) struct Run<'v> {
    nodes: &'v [Node],
    path: Vec<Segment<'v>>,
    violations: Vec<Violation>,
    // Above zero while only the verdict matters.
    muted: usize,
    calls: usize,
    steps: usize,
    exhausted: bool,
    // Whether a value accepted since then may still be invalid, because some keyword is not
    // enforced.
    doubt: bool,
}

/// Whether a value fits a node, judged by the enforced keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    No,
    Perhaps,
    Yes,
}

impl<'v> Run<'v> {
    pub(super) fn new(nodes: &'v [Node]) -> Self {
        Self {
            nodes,
            path: Vec::new(),
            violations: Vec::new(),
            muted: 0,
            calls: 0,
            steps: 0,
            exhausted: false,
            doubt: false,
        }
    }

    /// Checks a whole value.
    pub(super) fn finish(mut self, value: &'v Value) -> Validity {
        let accepted = self.accepts(0, value);
        // The result of a check that was cut short is unknown, also under `not`.
        if self.exhausted {
            Validity::Unchecked
        } else if !accepted {
            Validity::Invalid(self.violations)
        } else if self.doubt {
            Validity::PartlyChecked
        } else {
            Validity::Valid
        }
    }

    /// The verdict of one node; a value that is too much to check does not fit.
    pub(super) fn fits(&mut self, id: NodeId, value: &'v Value) -> bool {
        self.quietly(id, value) != Fit::No && !self.exhausted
    }

    /// Whether a node accepts a value, judged by the enforced keywords.
    fn accepts(&mut self, id: NodeId, value: &'v Value) -> bool {
        if self.calls >= MAX_CALLS || self.path.len() > MAX_LEVELS {
            self.exhausted = true;
        }
        if !self.spend(1) {
            return false;
        }
        let node = &self.nodes[id];
        self.calls += 1;
        let accepted = self.checks_hold(id, node, value) && self.rules_hold(node, value);
        self.calls -= 1;
        self.doubt |= accepted && node.is_partial;
        accepted
    }

    fn checks_hold(&mut self, id: NodeId, node: &'v Node, value: &'v Value) -> bool {
        let cost = node.checks.iter().map(|check| check.cost(value)).sum();
        if !self.spend(cost) {
            return false;
        }
        let holds = node.checks.iter().all(|check| check.holds(value));
        if !holds {
            self.report(|nodes| describe(nodes, id), || found(value));
        }
        holds
    }

    fn rules_hold(&mut self, node: &'v Node, value: &'v Value) -> bool {
        let mut holds = true;
        for rule in &node.rules {
            holds &= self.rule_holds(rule, node, value);
            if !holds && self.has_heard_enough() {
                return false;
            }
        }
        holds
    }

    fn rule_holds(&mut self, rule: &'v Rule, node: &'v Node, value: &'v Value) -> bool {
        match rule {
            Rule::Required(names) => self.all_present(names, node, value),
            Rule::DependentRequired(lists) => self.dependents_present(lists, node, value),
            Rule::DependentSchemas(schemas) => self.dependents_accept(schemas, value),
            Rule::Dependencies { lists, schemas } => {
                self.dependents_present(lists, node, value) & self.dependents_accept(schemas, value)
            }
            Rule::Names(name) => self.names_fit(*name, value),
            Rule::Members(members) => self.members_fit(members, value),
            Rule::Items { prefix, rest } => self.items_fit(prefix, *rest, value),
            Rule::Contains { node, min, max } => self.contains(*node, *min, *max, value),
            Rule::All(nodes) => nodes
                .iter()
                .fold(true, |all, id| self.accepts(*id, value) & all),
            Rule::Any(nodes) => self.any(nodes, value),
            Rule::One(nodes) => self.one(nodes, value),
            Rule::Not(inner) => self.not(*inner, value),
            Rule::If {
                condition,
                then,
                otherwise,
            } => self.branch(*condition, *then, *otherwise, value),
        }
    }

    fn all_present(&mut self, names: &'v [String], node: &'v Node, value: &'v Value) -> bool {
        let Value::Object(members) = value else {
            return true;
        };
        let mut holds = true;
        for name in names
            .iter()
            .filter(|name| !members.contains_key(name.as_str()))
        {
            let schema_id = node.member(name);
            self.inside(Segment::Name(name), |run| {
                let expected =
                    |nodes: &_| schema_id.map_or("a value".to_owned(), |id| describe(nodes, id));
                run.report(expected, || "nothing, although it is required".to_owned());
            });
            holds = false;
        }
        holds
    }

    fn dependents_present(
        &mut self,
        lists: &'v [(String, Vec<String>)],
        node: &'v Node,
        value: &'v Value,
    ) -> bool {
        let is_asked = |name: &String| value.get(name).is_some();
        let applicable = lists.iter().filter(|(name, _)| is_asked(name));
        applicable.fold(true, |all, (_, names)| {
            self.all_present(names, node, value) & all
        })
    }

    fn dependents_accept(&mut self, schemas: &'v [(String, NodeId)], value: &'v Value) -> bool {
        let applicable = schemas.iter().filter(|(name, _)| value.get(name).is_some());
        applicable.fold(true, |all, (_, id)| self.accepts(*id, value) & all)
    }

    fn names_fit(&mut self, id: NodeId, value: &'v Value) -> bool {
        let Value::Object(members) = value else {
            return true;
        };
        members.keys().fold(true, |all, name| {
            // A name is checked as a value of its own, which ends here.
            let mut run = Run {
                steps: self.steps,
                calls: self.calls,
                ..Run::new(self.nodes)
            };
            let text = Value::String(name.clone());
            let fit = run.quietly(id, &text);
            let fits = fit != Fit::No && !run.exhausted;
            self.doubt |= fit == Fit::Perhaps;
            (self.steps, self.exhausted) = (run.steps, self.exhausted | run.exhausted);
            if !fits {
                self.inside(Segment::Name(name), |run| {
                    let expected =
                        |nodes: &_| format!("a member whose name is {}", describe(nodes, id));
                    run.report(expected, || "this name".to_owned());
                });
            }
            fits & all
        })
    }

    fn members_fit(&mut self, rules: &'v Members, value: &'v Value) -> bool {
        let Value::Object(members) = value else {
            return true;
        };
        let mut holds = true;
        for (name, member) in members {
            holds &= self.inside(Segment::Name(name), |run| {
                run.member_fits(rules, name, member)
            });
            if !holds && self.has_heard_enough() {
                return false;
            }
        }
        holds
    }

    fn member_fits(&mut self, rules: &'v Members, name: &'v str, member: &'v Value) -> bool {
        let named = rules.by_name.get(name);
        let mut is_known = named.is_some();
        let mut holds = named.is_none_or(|id| self.accepts(*id, member));
        for (pattern, id) in &rules.by_pattern {
            if self.spend(pattern.cost(name)) && pattern.is_match(name) {
                is_known = true;
                holds &= self.accepts(*id, member);
            }
        }
        // Any name may match what cannot be read.
        let rest = rules.rest.filter(|_| !rules.has_unread_patterns);
        match rest {
            Some(rest) if !is_known && self.nodes[rest].is_never() => {
                self.report(|_| no_such_member(&rules.names), || found(member));
                false
            }
            Some(rest) if !is_known => self.accepts(rest, member),
            _ => holds,
        }
    }

    fn items_fit(&mut self, prefix: &'v [NodeId], rest: Option<NodeId>, value: &'v Value) -> bool {
        let Value::Array(items) = value else {
            return true;
        };
        let mut holds = true;
        for (index, item) in items.iter().enumerate() {
            let Some(id) = prefix.get(index).copied().or(rest) else {
                break;
            };
            holds &= self.inside(Segment::Index(index), |run| run.accepts(id, item));
            if !holds && self.has_heard_enough() {
                return false;
            }
        }
        holds
    }

    fn contains(&mut self, id: NodeId, min: u64, max: Option<u64>, value: &'v Value) -> bool {
        let Value::Array(items) = value else {
            return true;
        };
        let (mut count, mut perhaps) = (0_u64, 0_u64);
        for item in items {
            match self.quietly(id, item) {
                Fit::Yes => count += 1,
                Fit::Perhaps => perhaps += 1,
                Fit::No => {}
            }
        }
        let is_too_many = |count: u64| max.is_some_and(|max| count > max);
        let holds = count + perhaps >= min && !is_too_many(count);
        self.doubt |= holds && (count < min || is_too_many(count + perhaps));
        if !holds {
            let range = max.map_or(format!("at least {min}"), |max| format!("{min} to {max}"));
            self.report(
                |nodes| {
                    format!(
                        "an array in which {range} of the items are {}",
                        describe(nodes, id)
                    )
                },
                || format!("an array with {count} of them"),
            );
        }
        holds
    }

    /// The verdict alone.
    fn quietly(&mut self, id: NodeId, value: &'v Value) -> Fit {
        let doubt = std::mem::take(&mut self.doubt);
        self.muted += 1;
        let accepted = self.accepts(id, value);
        self.muted -= 1;
        match (accepted, std::mem::replace(&mut self.doubt, doubt)) {
            (false, _) => Fit::No,
            (true, true) => Fit::Perhaps,
            (true, false) => Fit::Yes,
        }
    }

    fn inside<T>(&mut self, segment: Segment<'v>, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(segment);
        let done = work(self);
        self.path.pop();
        done
    }

    fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        self.exhausted |= self.steps > MAX_STEPS;
        !self.exhausted
    }

    fn has_heard_enough(&self) -> bool {
        self.muted > 0 || self.exhausted || self.violations.len() >= MAX_VIOLATIONS
    }

    fn report(&mut self, expected: impl FnOnce(&[Node]) -> String, found: impl FnOnce() -> String) {
        if !self.has_heard_enough() {
            self.violations.push(Violation {
                pointer: pointer(&self.path),
                expected: expected(self.nodes),
                found: found(),
            });
        }
    }
}

/// Returns the violation for a value that is too large to check.
pub(super) fn too_much() -> Violation {
    Violation {
        pointer: String::new(),
        expected: format!(
            "a value of at most {MAX_LEVELS} levels that is checked in {MAX_STEPS} steps"
        ),
        found: "a larger one".to_owned(),
    }
}

fn no_such_member(names: &[String]) -> String {
    match names {
        [] => "no members".to_owned(),
        names => format!(
            "no member of this name (the known ones are {})",
            names.join(", ")
        ),
    }
}
