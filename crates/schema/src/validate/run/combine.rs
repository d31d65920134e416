//! Schemas of schemas: what several verdicts on one value come to.

use serde_json::Value;

use super::{Fit, Run};
use crate::validate::describe::{describe, describe_all};
use crate::validate::node::{Check, NodeId, Rule};
use crate::validate::violation::{counted, found};

impl<'v> Run<'v> {
    pub(super) fn branch(
        &mut self,
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
        value: &'v Value,
    ) -> bool {
        let branch = match self.quietly(condition, value) {
            Fit::Yes => then,
            Fit::No => otherwise,
            Fit::Perhaps => {
                self.doubt = true;
                return true;
            }
        };
        branch.is_none_or(|id| self.accepts(id, value))
    }

    pub(super) fn any(&mut self, nodes: &'v [NodeId], value: &'v Value) -> bool {
        let mut best = Fit::No;
        for id in nodes {
            match self.quietly(*id, value) {
                Fit::Yes => return true,
                Fit::Perhaps => best = Fit::Perhaps,
                Fit::No => {}
            }
        }
        if best == Fit::No {
            self.explain(nodes, value);
            return false;
        }
        self.doubt = true;
        true
    }

    pub(super) fn one(&mut self, nodes: &'v [NodeId], value: &'v Value) -> bool {
        let (mut count, mut perhaps) = (0, 0);
        for id in nodes {
            match self.quietly(*id, value) {
                Fit::Yes => count += 1,
                Fit::Perhaps => perhaps += 1,
                Fit::No => {}
            }
        }
        match (count, perhaps) {
            (1, 0) => true,
            (0, 0) => {
                self.explain(nodes, value);
                false
            }
            (0 | 1, _) => {
                self.doubt = true;
                true
            }
            (count, _) => {
                let fits = format!("one that fits {}", counted(count, "form"));
                let expected =
                    |nodes_of: &_| format!("exactly one of: {}", describe_all(nodes_of, nodes));
                self.report(expected, || fits);
                false
            }
        }
    }

    pub(super) fn not(&mut self, id: NodeId, value: &'v Value) -> bool {
        let fit = self.quietly(id, value);
        self.doubt |= fit == Fit::Perhaps;
        if fit == Fit::Yes {
            self.report(
                |nodes| format!("anything but {}", describe(nodes, id)),
                || found(value),
            );
        }
        fit != Fit::Yes
    }

    /// Reports why no branch fits. If one branch was clearly meant, reports the members it lacks.
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
}
