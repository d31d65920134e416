//! What a node asks for, in words: "an integer between 1 and 50".

use serde_json::Value;

use super::node::{Check, Node, NodeId, Rule, Types};

/// How many alternatives are spelled out.
const MAX_CHOICES: usize = 20;

/// How far references are followed for a description, in nodes.
const MAX_DEPTH: usize = 4;

/// Describes what one node asks for.
pub(super) fn describe(nodes: &[Node], id: NodeId) -> String {
    node_at(nodes, id, 0)
}

/// Describes what several nodes ask for, one of which is enough.
pub(super) fn describe_all(nodes: &[Node], ids: &[NodeId]) -> String {
    choice(nodes, ids, 0)
}

fn node_at(nodes: &[Node], id: NodeId, depth: usize) -> String {
    let node = &nodes[id];
    if depth >= MAX_DEPTH {
        return "a value".to_owned();
    }
    if let Some(tag) = tag(nodes, node) {
        return tag;
    }
    match (node.checks.as_slice(), node.rules.as_slice()) {
        ([], [Rule::All(ids)]) if ids.len() == 1 => node_at(nodes, ids[0], depth + 1),
        ([], [Rule::Any(ids) | Rule::One(ids)]) => choice(nodes, ids, depth + 1),
        ([], [Rule::Required(names), ..]) => format!("an object with {}", names.join(", ")),
        (checks, _) => of_checks(checks),
    }
}

fn choice(nodes: &[Node], ids: &[NodeId], depth: usize) -> String {
    let mut choices: Vec<String> = Vec::new();
    for text in ids.iter().map(|id| node_at(nodes, *id, depth)) {
        if !choices.contains(&text) {
            choices.push(text);
        }
    }
    shortened(choices, " or ")
}

/// Describes a variant by the constant member that distinguishes it: `an object with kind
/// "circle"`.
fn tag(nodes: &[Node], node: &Node) -> Option<String> {
    node.members().find_map(|(name, id)| {
        let checks = nodes[id].checks.iter();
        let constant = checks.filter_map(|check| match check {
            Check::Const(value) => Some(value),
            _ => None,
        });
        constant
            .last()
            .map(|value| format!("an object with {name} {value}"))
    })
}

fn of_checks(checks: &[Check]) -> String {
    let mut text = noun(checks);
    for part in [range(checks), lengths(checks), counts(checks)]
        .into_iter()
        .flatten()
    {
        text.push(' ');
        text.push_str(&part);
    }
    for check in checks {
        match check {
            Check::MultipleOf(divisor) => {
                text.push_str(&format!(" that is a multiple of {divisor}"))
            }
            Check::Pattern(pattern) => text.push_str(&format!(" that matches `{pattern}`")),
            Check::Format(format) => text.push_str(&format!(" that is {}", format.noun())),
            Check::UniqueItems => text.push_str(" in which no two items are the same"),
            _ => {}
        }
    }
    text
}

fn noun(checks: &[Check]) -> String {
    let exact = checks.iter().find_map(|check| match check {
        Check::Never => Some("nothing".to_owned()),
        Check::Const(value) => Some(value.to_string()),
        Check::Enum(values) => Some(enumerated(values)),
        _ => None,
    });
    exact.unwrap_or_else(|| match types(checks) {
        Some(types) => types.nouns().join(" or "),
        None => checks
            .iter()
            .find_map(implied)
            .unwrap_or("a value")
            .to_owned(),
    })
}

fn enumerated(values: &[Value]) -> String {
    let values: Vec<_> = values.iter().map(Value::to_string).collect();
    match values.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}", shortened(values, ", ")),
    }
}

fn shortened(mut choices: Vec<String>, separator: &str) -> String {
    if choices.len() > MAX_CHOICES {
        choices.truncate(MAX_CHOICES);
        choices.push("…".to_owned());
    }
    choices.join(separator)
}

fn types(checks: &[Check]) -> Option<Types> {
    checks.iter().find_map(|check| match check {
        Check::Types(types) => Some(*types),
        _ => None,
    })
}

/// Returns the type that a check is about, for schemas without `type`.
fn implied(check: &Check) -> Option<&'static str> {
    match check {
        Check::Minimum(_) | Check::Maximum(_) | Check::Above(_) | Check::Below(_) => {
            Some("a number")
        }
        Check::MultipleOf(_) => Some("a number"),
        Check::MinLength(_) | Check::MaxLength(_) => Some("a string"),
        Check::Pattern(_) | Check::Format(_) => Some("a string"),
        Check::MinItems(_) | Check::MaxItems(_) | Check::UniqueItems => Some("an array"),
        Check::MinMembers(_) | Check::MaxMembers(_) => Some("an object"),
        Check::Never | Check::Types(_) | Check::Enum(_) | Check::Const(_) => None,
    }
}

fn range(checks: &[Check]) -> Option<String> {
    let low = checks.iter().find_map(|check| match check {
        Check::Minimum(bound) => Some((bound, "at least")),
        Check::Above(bound) => Some((bound, "above")),
        _ => None,
    });
    let high = checks.iter().find_map(|check| match check {
        Check::Maximum(bound) => Some((bound, "at most")),
        Check::Below(bound) => Some((bound, "below")),
        _ => None,
    });
    match (low, high) {
        (Some((low, "at least")), Some((high, "at most"))) => {
            Some(format!("between {low} and {high}"))
        }
        (Some((low, above)), Some((high, below))) => {
            Some(format!("{above} {low} and {below} {high}"))
        }
        (Some((bound, side)), None) | (None, Some((bound, side))) => {
            Some(format!("{side} {bound}"))
        }
        (None, None) => None,
    }
}

fn lengths(checks: &[Check]) -> Option<String> {
    let min = checks.iter().find_map(|check| match check {
        Check::MinLength(min) => Some(*min),
        _ => None,
    });
    let max = checks.iter().find_map(|check| match check {
        Check::MaxLength(max) => Some(*max),
        _ => None,
    });
    amount(min, max, "character").map(|amount| format!("of {amount}"))
}

fn counts(checks: &[Check]) -> Option<String> {
    let mut bounds = (None, None, "item");
    for check in checks {
        match check {
            Check::MinItems(min) => bounds.0 = Some(*min),
            Check::MaxItems(max) => bounds.1 = Some(*max),
            Check::MinMembers(min) => bounds = (Some(*min), bounds.1, "member"),
            Check::MaxMembers(max) => bounds = (bounds.0, Some(*max), "member"),
            _ => {}
        }
    }
    amount(bounds.0, bounds.1, bounds.2).map(|amount| format!("of {amount}"))
}

fn amount(min: Option<u64>, max: Option<u64>, noun: &str) -> Option<String> {
    let plural = |count: u64| {
        if count == 1 {
            noun.to_owned()
        } else {
            format!("{noun}s")
        }
    };
    match (min, max) {
        (Some(min), Some(max)) if min == max => Some(format!("exactly {min} {}", plural(min))),
        (Some(min), Some(max)) => Some(format!("{min} to {max} {}", plural(max))),
        (Some(min), None) => Some(format!("at least {min} {}", plural(min))),
        (None, Some(max)) => Some(format!("at most {max} {}", plural(max))),
        (None, None) => None,
    }
}
