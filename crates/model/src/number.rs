//! Whole numbers, as peers write them.
//!
//! The published schemas have `integer` where the specification has `number`. So `3.0` and even
//! `3.5` arrive for counts and sizes. They are read here and rounded towards zero. The output is
//! always an integer. For `object!`.

use serde::ser::{Serialize, Serializer};

use crate::read::{Event, Kind, Read, ReadError, Source, read_as};

/// Reads a count; a negative one becomes zero.
///
/// # Errors
///
/// If the member is not a number.
pub(crate) fn whole(source: &mut dyn Source<'_>) -> Result<u64, ReadError> {
    Whole::read(source).map(|whole| whole.0)
}

/// Reads a count that may be missing or null.
///
/// # Errors
///
/// If the member is neither null nor a number.
pub(crate) fn optional_whole(source: &mut dyn Source<'_>) -> Result<Option<u64>, ReadError> {
    Ok(Option::<Whole>::read(source)?.map(|whole| whole.0))
}

/// Returns a count as it is written.
pub(crate) fn shortest(number: &f64) -> Shortest {
    Shortest(*number)
}

/// A number that is written as JavaScript does: without a fraction if it has none (`1`, not `1.0`).
pub(crate) struct Shortest(f64);

impl Serialize for Shortest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_exact_integer(self.0) {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
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

impl Read for Whole {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "a number";
        read_as(source, Kind::Any, EXPECTED, |event| match event {
            Event::Unsigned(number) => Ok(Self(number)),
            Event::Signed(number) => Ok(Self(u64::try_from(number).unwrap_or(0))),
            // `as` saturates, and turns NaN into zero.
            Event::Float(number) => Ok(Self(number as u64)),
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::read::of_value;

    // spec: 2025-11-25 AMB-01
    #[test]
    fn any_number_is_read_as_a_count() {
        let read = |value: Value| whole(&mut of_value(value)).ok().unwrap();

        assert_eq!(read(json!(7)), 7);
        assert_eq!(read(json!(7.9)), 7);
        assert_eq!(read(json!(-7)), 0);
        assert_eq!(read(json!(1e300)), u64::MAX);
    }

    #[test]
    fn an_integer_is_written_without_a_fraction() {
        let written = |number: f64| serde_json::to_value(shortest(&number));
        for (number, text) in [
            (1.0, "1"),
            (0.0, "0"),
            (-3.0, "-3"),
            (0.5, "0.5"),
            (-0.0, "-0.0"),
            (1e300, "1e+300"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(written(number).unwrap().to_string(), text);
        }
    }

    #[test]
    fn text_is_not_a_count() {
        assert!(whole(&mut of_value(json!("7"))).is_err());
        assert_eq!(
            optional_whole(&mut of_value(Value::Null)).ok().unwrap(),
            None
        );
    }
}
