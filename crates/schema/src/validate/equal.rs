//! When two JSON values are the same: numbers by value, objects in any order.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Whether two values are the same.
pub(super) fn same(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Number(first), Value::Number(second)) => {
            compare(first, second) == Some(Ordering::Equal)
        }
        (Value::Array(first), Value::Array(second)) => {
            first.len() == second.len() && first.iter().zip(second).all(|(a, b)| same(a, b))
        }
        (Value::Object(first), Value::Object(second)) => {
            first.len() == second.len()
                && first
                    .iter()
                    .all(|(name, value)| second.get(name).is_some_and(|other| same(value, other)))
        }
        _ => first == second,
    }
}

/// Compares two numbers: exactly if both are integers.
pub(super) fn compare(first: &Number, second: &Number) -> Option<Ordering> {
    match (first.as_i128(), second.as_i128()) {
        (Some(first), Some(second)) => Some(first.cmp(&second)),
        _ => first.as_f64()?.partial_cmp(&second.as_f64()?),
    }
}

/// Whether no two items are the same, in time linear in their size.
pub(super) fn all_differ(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let mut text = String::new();
        write_canonical(item, &mut text);
        seen.insert(text)
    })
}

/// How many values there are in a value, itself included.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}

/// Writes a value such that two values have one text exactly if they are the same.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => write_number(number, text),
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| {
                write_canonical(item, text);
                text.push(',');
            });
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            members.into_iter().for_each(|(name, member)| {
                let _ = write!(text, "{name:?}:");
                write_canonical(member, text);
                text.push(',');
            });
            text.push('}');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}

fn write_number(number: &Number, text: &mut String) {
    let _ = match (number.as_i128(), number.as_f64()) {
        (None, Some(float)) if float.fract() == 0.0 && float.abs() < 1e38 => {
            write!(text, "{}", float as i128)
        }
        _ => write!(text, "{number}"),
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_the_same_by_value() {
        assert!(same(
            &json!([1, { "a": 2.0, "b": 0 }]),
            &json!([1.0, { "b": -0.0, "a": 2 }])
        ));
        assert!(!same(&json!(1), &json!("1")));
        assert!(!same(
            &json!(9_007_199_254_740_993_i64),
            &json!(9_007_199_254_740_992_i64)
        ));
    }

    #[test]
    fn items_differ_unless_two_are_the_same() {
        assert!(all_differ(&[
            json!("1"),
            json!(1),
            json!([1]),
            json!({ "a": 1 }),
            json!(true)
        ]));
        assert!(!all_differ(&[
            json!({ "a": 1, "b": 2 }),
            json!({ "b": 2, "a": 1.0 })
        ]));
        assert!(!all_differ(&[json!(0), json!(-0.0)]));
    }
}
