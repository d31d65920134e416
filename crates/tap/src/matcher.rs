//! Finds the recorded answer to a request.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::RandomState;
use serde_json::Value;

use crate::exchanges::{RecordedExchange, normalized};

/// Maximum number of recorded requests that are compared for the nearest one.
const MAX_COMPARED: usize = 1_000;
/// Maximum number of differences that are stated.
const MAX_DIFFERENCES: usize = 5;
/// Maximum length of a stated value, in characters.
const MAX_VALUE_CHARS: usize = 60;
/// Maximum depth at which values are compared.
const MAX_DEPTH: usize = 32;

/// Finds recorded requests by method and parameters.
#[derive(Debug)]
pub struct Matcher {
    exchanges: Vec<RecordedExchange>,
    groups: HashMap<(String, String), Group, RandomState>,
}

/// Equal requests, in their order.
#[derive(Debug, Default)]
struct Group {
    exchanges: Vec<usize>,
    next: AtomicUsize,
}

/// A request without a recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miss {
    /// The method of the request.
    pub method: String,
    /// The parameters of the nearest recorded request, as JSON. Absent if the method was not recorded.
    pub nearest: Option<String>,
    /// The differences between the nearest request and this one.
    pub differences: Vec<String>,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = &self.method;
        match &self.nearest {
            None => write!(f, "the recording has no answer to {method}"),
            Some(nearest) => write!(
                f,
                "the recording has no answer to this {method}; the nearest is {nearest}: {}",
                self.differences.join("; ")
            ),
        }
    }
}

impl Matcher {
    /// Creates a matcher of recorded requests.
    pub fn new(exchanges: Vec<RecordedExchange>) -> Self {
        let mut groups: HashMap<_, Group, RandomState> = HashMap::default();
        for (index, exchange) in exchanges.iter().enumerate() {
            let group = groups
                .entry(key(&exchange.method, &exchange.params))
                .or_default();
            group.exchanges.push(index);
        }
        Self { exchanges, groups }
    }

    /// Returns the index of the next exchange for a request. Equal requests get their answers in the recorded order,
    /// and then the last one again.
    ///
    /// # Errors
    ///
    /// [`Miss`], if no equal request was recorded.
    pub fn next(&self, method: &str, params: &Value) -> Result<usize, Miss> {
        let params = normalized(Some(params));
        let Some(group) = self.groups.get(&key(method, &params)) else {
            return Err(self.miss(method, &params));
        };
        let last = group.exchanges.len() - 1;
        let advance = |next: usize| (next < last).then_some(next + 1);
        let (Ok(at) | Err(at)) =
            group
                .next
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, advance);
        Ok(group.exchanges[at.min(last)])
    }

    /// Returns an exchange by its index.
    pub fn exchange(&self, index: usize) -> Option<&RecordedExchange> {
        self.exchanges.get(index)
    }

    /// Returns true if a method was recorded.
    pub fn has_method(&self, method: &str) -> bool {
        self.exchanges
            .iter()
            .any(|exchange| exchange.method == method)
    }

    fn miss(&self, method: &str, params: &Value) -> Miss {
        let same_method = self
            .exchanges
            .iter()
            .filter(|exchange| exchange.method == method);
        let nearest = same_method.take(MAX_COMPARED).min_by_key(|exchange| {
            let name = |params: &Value| params.get("name").or(params.get("uri")).cloned();
            // A call of the same tool is nearer than one with the same arguments.
            let is_other = name(&exchange.params) != name(params);
            (is_other, differences(&exchange.params, params).len())
        });
        Miss {
            method: method.to_owned(),
            nearest: nearest.map(|exchange| short(&exchange.params)),
            differences: nearest.map_or_else(Vec::new, |exchange| {
                let mut found = differences(&exchange.params, params);
                found.truncate(MAX_DIFFERENCES);
                found
            }),
        }
    }
}

/// Returns text that is equal for equal parameters. The order of members does not matter.
fn key(method: &str, params: &Value) -> (String, String) {
    let mut params = params.clone();
    params.sort_all_objects();
    (method.to_owned(), params.to_string())
}

fn differences(recorded: &Value, requested: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(recorded, requested, "", MAX_DEPTH, &mut found);
    found
}

fn compare(recorded: &Value, requested: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
    if recorded == requested {
        return;
    }
    match (recorded, requested) {
        (Value::Object(one), Value::Object(other)) if depth > 0 => {
            let more = other.keys().filter(|name| !one.contains_key(*name));
            for name in one.keys().chain(more) {
                let path = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                match (one.get(name), other.get(name)) {
                    (Some(one), Some(other)) => compare(one, other, &path, depth - 1, found),
                    (Some(one), None) => {
                        found.push(format!("{path} is absent, {} was recorded", short(one)))
                    }
                    (None, Some(other)) => {
                        found.push(format!("{path} is {}, and was absent", short(other)))
                    }
                    (None, None) => {}
                }
            }
        }
        _ => found.push(format!(
            "{path} is {}, {} was recorded",
            short(requested),
            short(recorded)
        )),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    let mut cut: String = text.chars().take(MAX_VALUE_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matcher(params: &[Value]) -> Matcher {
        let exchange = |params: &Value| RecordedExchange {
            method: "tools/call".to_owned(),
            params: normalized(Some(params)),
            steps: Vec::new(),
            answer: Ok(Value::Null),
        };
        Matcher::new(params.iter().map(exchange).collect())
    }

    #[test]
    fn equal_requests_get_their_answers_in_order() {
        let a = json!({ "name": "a", "arguments": { "x": 1, "y": 2 } });
        let matcher = matcher(&[a.clone(), json!({ "name": "b" }), a]);
        let other_order = json!({ "arguments": { "y": 2, "x": 1 }, "name": "a", "_meta": {} });
        let found: Vec<_> = (0..4)
            .map(|_| matcher.next("tools/call", &other_order))
            .collect();
        assert_eq!(found, [Ok(0), Ok(2), Ok(2), Ok(2)]);
        assert_eq!(
            matcher.next("tools/call", &json!({ "name": "b", "arguments": {} })),
            Ok(1)
        );
    }

    #[test]
    fn a_miss_names_the_nearest_request_and_its_difference() {
        let matcher = matcher(&[
            json!({ "name": "a", "arguments": { "x": 1, "y": 2, "z": { "q": [1] } } }),
            json!({ "name": "b", "arguments": { "x": 5 } }),
        ]);
        let miss = matcher.next(
            "tools/call",
            &json!({ "name": "a", "arguments": { "x": 5, "z": { "q": [2] }, "n": null } }),
        );
        assert_eq!(
            miss.expect_err("a miss").differences,
            [
                "arguments.x is 5, 1 was recorded",
                "arguments.y is absent, 2 was recorded",
                "arguments.z.q is [2], [1] was recorded",
                "arguments.n is null, and was absent",
            ]
        );
        let other = matcher.next("prompts/get", &json!({})).expect_err("a miss");
        assert_eq!(
            other.to_string(),
            "the recording has no answer to prompts/get"
        );
    }
}
