//! One check of one value.

use serde_json::Value;

use super::check::pattern_cost;
use super::describe::{describe, describe_all};
use super::node::{Check, Members, Node, NodeId, Rule};
use super::violation::{Segment, Violation, counted, found, pointer};

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
        }
    }

    /// Checks a whole value.
    pub(super) fn finish(mut self, value: &'v Value) -> Result<(), Vec<Violation>> {
        let accepted = self.accepts(0, value);
        // Nothing is known of a value whose check was cut short: it is refused, whatever `not` made of it.
        if self.exhausted {
            return Err(vec![self.too_much()]);
        }
        if accepted {
            Ok(())
        } else {
            Err(self.violations)
        }
    }

    /// The verdict of one node; a value that is too much to check does not fit.
    pub(super) fn fits(&mut self, id: NodeId, value: &'v Value) -> bool {
        self.quietly(id, value) && !self.exhausted
    }

    /// Whether a node accepts a value, as far as it was checked.
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
            } => {
                let branch = if self.quietly(*condition, value) {
                    then
                } else {
                    otherwise
                };
                branch.is_none_or(|id| self.accepts(id, value))
            }
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
            let known = node.member(name);
            self.inside(Segment::Name(name), |run| {
                let expected =
                    |nodes: &_| known.map_or("a value".to_owned(), |id| describe(nodes, id));
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
        let asked = lists.iter().filter(|(name, _)| is_asked(name));
        asked.fold(true, |all, (_, names)| {
            self.all_present(names, node, value) & all
        })
    }

    fn dependents_accept(&mut self, schemas: &'v [(String, NodeId)], value: &'v Value) -> bool {
        let asked = schemas.iter().filter(|(name, _)| value.get(name).is_some());
        asked.fold(true, |all, (_, id)| self.accepts(*id, value) & all)
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
            let fits = run.fits(id, &text);
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
        for (regex, id) in &rules.by_pattern {
            if self.spend(pattern_cost(regex, name)) && regex.is_match(name) {
                is_known = true;
                holds &= self.accepts(*id, member);
            }
        }
        match rules.rest {
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
        let count = items.iter().filter(|item| self.quietly(id, item)).count() as u64;
        let holds = count >= min && max.is_none_or(|max| count <= max);
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

    fn any(&mut self, nodes: &'v [NodeId], value: &'v Value) -> bool {
        if nodes.iter().any(|id| self.quietly(*id, value)) {
            return true;
        }
        self.explain(nodes, value);
        false
    }

    fn one(&mut self, nodes: &'v [NodeId], value: &'v Value) -> bool {
        match nodes.iter().filter(|id| self.quietly(**id, value)).count() {
            1 => true,
            0 => {
                self.explain(nodes, value);
                false
            }
            count => {
                let fits = format!("one that fits {}", counted(count, "form"));
                let expected =
                    |nodes_of: &_| format!("exactly one of: {}", describe_all(nodes_of, nodes));
                self.report(expected, || fits);
                false
            }
        }
    }

    fn not(&mut self, id: NodeId, value: &'v Value) -> bool {
        let holds = !self.quietly(id, value);
        if !holds {
            self.report(
                |nodes| format!("anything but {}", describe(nodes, id)),
                || found(value),
            );
        }
        holds
    }

    /// Says why no branch fits: what the one branch that was meant lacks, if that is clear.
    fn explain(&mut self, nodes: &'v [NodeId], value: &'v Value) {
        if self.muted > 0 {
            return;
        }
        let meant: Vec<_> = nodes
            .iter()
            .filter(|id| self.is_meant(**id, value))
            .collect();
        match meant.as_slice() {
            [only] => drop(self.accepts(**only, value)),
            _ => self.report(|all| describe_all(all, nodes), || found(value)),
        }
    }

    /// Whether a branch has the type of the value, and every tag in it agrees.
    fn is_meant(&mut self, id: NodeId, value: &'v Value) -> bool {
        if !self.spend(1) {
            return false;
        }
        let node = &self.nodes[id];
        let refers = node.rules.iter().all(|rule| match rule {
            Rule::All(nodes) => nodes
                .iter()
                .all(|id| self.calls < 64 && self.descend(*id, value)),
            _ => true,
        });
        let tags_agree = node.members().all(|(name, id)| {
            let tag = self.nodes[id]
                .checks
                .iter()
                .find(|check| matches!(check, Check::Const(_)));
            tag.is_none_or(|tag| value.get(name).is_some_and(|member| tag.holds(member)))
        });
        refers && tags_agree && node.checks.iter().all(|check| check.holds(value))
    }

    fn descend(&mut self, id: NodeId, value: &'v Value) -> bool {
        self.calls += 1;
        let is_meant = self.is_meant(id, value);
        self.calls -= 1;
        is_meant
    }

    /// The verdict alone.
    fn quietly(&mut self, id: NodeId, value: &'v Value) -> bool {
        self.muted += 1;
        let accepted = self.accepts(id, value);
        self.muted -= 1;
        accepted
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

    fn too_much(&self) -> Violation {
        Violation {
            pointer: String::new(),
            expected: format!(
                "a value of at most {MAX_LEVELS} levels that is checked in {MAX_STEPS} steps"
            ),
            found: "a larger one".to_owned(),
        }
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
