//! Checks of one value.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::equal::{all_differ, compare, same, weight};
use super::node::Check;

impl Check {
    /// Whether the value satisfies this. A check of another type's values holds.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Never => false,
            Self::Types(types) => types.accepts(value),
            Self::Enum(values) => values.iter().any(|allowed| same(allowed, value)),
            Self::Const(allowed) => same(allowed, value),
            _ => match value {
                Value::Number(number) => self.holds_for_number(number),
                Value::String(text) => self.holds_for_text(text),
                Value::Array(items) => self.holds_for_items(items),
                Value::Object(members) => self.holds_for_members(members.len()),
                Value::Null | Value::Bool(_) => true,
            },
        }
    }

    /// Returns the cost of the check, in steps.
    pub(super) fn cost(&self, value: &Value) -> usize {
        match (self, value) {
            (Self::Enum(values), value) => values.len().saturating_mul(weight(value)),
            (Self::Pattern(pattern), Value::String(text)) => pattern.cost(text),
            (Self::UniqueItems, value) => weight(value),
            (_, Value::String(text)) => 1 + text.len() / 64,
            _ => 1,
        }
    }

    fn holds_for_number(&self, number: &Number) -> bool {
        let against = |bound| compare(number, bound);
        match self {
            Self::Minimum(bound) => against(bound) != Some(Ordering::Less),
            Self::Maximum(bound) => against(bound) != Some(Ordering::Greater),
            Self::Above(bound) => against(bound) == Some(Ordering::Greater),
            Self::Below(bound) => against(bound) == Some(Ordering::Less),
            Self::MultipleOf(divisor) => is_multiple(number, divisor),
            _ => true,
        }
    }

    fn holds_for_text(&self, text: &str) -> bool {
        match self {
            Self::MinLength(min) => length(text) >= *min,
            Self::MaxLength(max) => length(text) <= *max,
            Self::Pattern(pattern) => pattern.is_match(text),
            Self::Format(format) => format.accepts(text),
            _ => true,
        }
    }

    fn holds_for_items(&self, items: &[Value]) -> bool {
        match self {
            Self::MinItems(min) => items.len() as u64 >= *min,
            Self::MaxItems(max) => items.len() as u64 <= *max,
            Self::UniqueItems => all_differ(items),
            _ => true,
        }
    }

    fn holds_for_members(&self, count: usize) -> bool {
        match self {
            Self::MinMembers(min) => count as u64 >= *min,
            Self::MaxMembers(max) => count as u64 <= *max,
            _ => true,
        }
    }
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (number.as_i128(), divisor.as_i128()) {
        return number % divisor == 0;
    }
    let (Some(number), Some(divisor)) = (number.as_f64(), divisor.as_f64()) else {
        return false;
    };
    let quotient = number / divisor;
    if quotient.is_infinite() {
        return number % divisor == 0.0;
    }
    // 0.3 is three times 0.1, although the last binary digits differ.
    (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}
