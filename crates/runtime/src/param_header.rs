//! Arguments that HTTP clients repeat in headers.

use pintle_model::JsonObject;
use serde_json::{Number, Value};

/// A parameter of a tool that HTTP clients repeat in a header `Mcp-Param-<name>`.
///
/// Spec: [2026-07-28, Streamable HTTP, custom headers][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamHeader {
    /// The header's name after `Mcp-Param-`.
    pub name: Box<str>,
    /// Where the value stands in the arguments: property names from the outside in.
    pub path: Box<[Box<str>]>,
}

impl ParamHeader {
    /// Binds the header `Mcp-Param-<name>` to the argument at `path`.
    pub fn new(name: impl Into<Box<str>>, path: impl Into<Box<[Box<str>]>>) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
        }
    }

    /// The text of the header for a call with these arguments, not encoded yet; none when the
    /// argument is absent, null, or of a kind that no header repeats.
    ///
    /// An integer is written without fraction and exponent, whichever way it is spelled.
    pub fn value(&self, arguments: &JsonObject) -> Option<Box<str>> {
        let (first, rest) = self.path.split_first()?;
        let found = rest
            .iter()
            .try_fold(arguments.get(&**first)?, |value, name| value.get(&**name))?;
        match found {
            Value::String(text) => Some(text.as_str().into()),
            Value::Bool(answer) => Some(answer.to_string().into()),
            Value::Number(number) => Some(number_text(number).into()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Beyond this, integers have gaps in floating point, so the number is not exact.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= LARGEST_EXACT => {
            format!("{:.0}", float + 0.0)
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2026-07-28 N-XHDR-08, N-XHDR-09
    #[test]
    fn the_argument_at_exactly_that_path_is_written_plainly() {
        let rows = [
            (json!({"a": "two words"}), Some("two words")),
            (json!({"a": ""}), Some("")),
            (json!({"a": "é\n"}), Some("é\n")),
            (json!({"a": 42}), Some("42")),
            (json!({"a": -42.0}), Some("-42")),
            (json!({"a": -0.0}), Some("0")),
            (
                json!({"a": 18_446_744_073_709_551_615_u64}),
                Some("18446744073709551615"),
            ),
            (
                json!({"a": 9_007_199_254_740_991.0}),
                Some("9007199254740991"),
            ),
            (json!({"a": true}), Some("true")),
            (json!({"a": null}), None),
            (json!({"a": [1]}), None),
            (json!({"b": 1}), None),
            (json!({}), None),
        ];
        let header = ParamHeader::new("A", [Box::from("a")]);
        for (arguments, expected) in rows {
            let arguments = arguments.as_object().expect("an object");
            assert_eq!(
                header.value(arguments).as_deref(),
                expected,
                "{arguments:?}"
            );
        }
        let deep = ParamHeader::new("D", [Box::from("a"), Box::from("b")]);
        for (arguments, expected) in [
            (json!({"a": {"b": "x"}}), Some("x")),
            (json!({"a": null}), None),
            (json!({"a": "b"}), None),
        ] {
            let arguments = arguments.as_object().expect("an object");
            assert_eq!(deep.value(arguments).as_deref(), expected, "{arguments:?}");
        }
        let fraction = json!({"a": 5.5});
        let fraction = fraction.as_object().expect("an object");
        assert_eq!(
            header.value(fraction).as_deref(),
            Some("5.5"),
            "the server refuses it"
        );
    }
}
