//! Whole numbers, as peers write them.
//!
//! The published schemas have `integer` where the specification has `number`. So `3.0` and even
//! `3.5` arrive for counts and sizes. They are read here and rounded towards zero. The output is
//! always an integer. For `#[serde(deserialize_with = "…")]`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::Serializer;

/// Reads a count; a negative one becomes zero.
///
/// # Errors
///
/// If the member is not a number.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Whole::deserialize(deserializer).map(|whole| whole.0)
}

/// Reads a count that may be missing or null.
///
/// # Errors
///
/// If the member is neither null nor a number.
pub(crate) fn optional_whole<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Whole>::deserialize(deserializer)?.map(|whole| whole.0))
}

/// Writes a number as JavaScript does: without a fraction if it has none (`1`, not `1.0`).
///
/// # Errors
///
/// The errors of the serializer.
pub(crate) fn shortest<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match *number {
        None => serializer.serialize_none(),
        Some(number) if is_exact_integer(number) => serializer.serialize_i64(number as i64),
        Some(number) => serializer.serialize_f64(number),
    }
}

/// Returns true if a double distinguishes the integer from its neighbours, and it is not negative
/// zero.
fn is_exact_integer(number: f64) -> bool {
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 && !is_negative_zero
}

/// A number read as a count.
struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Whole, E> {
        Ok(Whole(u64::try_from(number).unwrap_or(0)))
    }

    // `as` saturates, and turns NaN into zero.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
        Ok(Whole(number as u64))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    // spec: 2025-11-25 AMB-01
    #[test]
    fn any_number_is_read_as_a_count() {
        let read = |value: Value| whole(value).unwrap();

        assert_eq!(read(json!(7)), 7);
        assert_eq!(read(json!(7.9)), 7);
        assert_eq!(read(json!(-7)), 0);
        assert_eq!(read(json!(1e300)), u64::MAX);
    }

    #[test]
    fn an_integer_is_written_without_a_fraction() {
        let written = |number: Option<f64>| shortest(&number, serde_json::value::Serializer);
        for (number, text) in [
            (1.0, "1"),
            (0.0, "0"),
            (-3.0, "-3"),
            (0.5, "0.5"),
            (-0.0, "-0.0"),
            (1e300, "1e+300"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(written(Some(number)).unwrap().to_string(), text);
        }
        assert_eq!(written(None).unwrap(), Value::Null);
    }

    #[test]
    fn text_is_not_a_count() {
        assert!(whole(json!("7")).is_err());
        assert_eq!(optional_whole(Value::Null).unwrap(), None);
    }
}
