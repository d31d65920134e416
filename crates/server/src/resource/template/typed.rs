//! Variables as the types that handlers ask for.

use super::error::VariableErrorKind;
use super::variables::VariableValue;

/// A type that can be made from a template's variable.
pub trait FromVariable: Sized {
    /// Makes it from a value that was matched.
    ///
    /// # Errors
    ///
    /// [`VariableErrorKind`] says what is wrong; it is the peer's mistake.
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind>;

    /// Makes it where the URI has no value.
    ///
    /// # Errors
    ///
    /// [`VariableErrorKind::Missing`], unless the type has a meaning for that.
    fn when_absent() -> Result<Self, VariableErrorKind> {
        Err(VariableErrorKind::Missing)
    }
}

impl FromVariable for String {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
        text(value).map(str::to_owned)
    }
}

impl FromVariable for bool {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
        match text(value)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(VariableErrorKind::Type {
                expected: "`true` or `false`",
            }),
        }
    }
}

impl FromVariable for Vec<String> {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
        match value {
            VariableValue::List(texts) => Ok(texts.clone()),
            VariableValue::Text(text) => Ok(vec![text.clone()]),
            VariableValue::Map(_) => Err(VariableErrorKind::Type { expected: "a list" }),
        }
    }

    fn when_absent() -> Result<Self, VariableErrorKind> {
        Ok(Vec::new())
    }
}

impl<T: FromVariable> FromVariable for Option<T> {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
        T::from_variable(value).map(Some)
    }

    fn when_absent() -> Result<Self, VariableErrorKind> {
        Ok(None)
    }
}

macro_rules! integers {
    ($($integer:ty => $expected:literal),* $(,)?) => {$(
        impl FromVariable for $integer {
            fn from_variable(value: &VariableValue) -> Result<Self, VariableErrorKind> {
                text(value)?.parse().map_err(|_| VariableErrorKind::Type { expected: $expected })
            }
        }
    )*};
}

integers! {
    u8 => "an integer between 0 and 255",
    u16 => "an integer between 0 and 65535",
    u32 => "an integer between 0 and 4294967295",
    u64 => "an integer of 64 bits, zero or more",
    usize => "an integer, zero or more",
    i8 => "an integer between -128 and 127",
    i16 => "an integer between -32768 and 32767",
    i32 => "an integer between -2147483648 and 2147483647",
    i64 => "an integer of 64 bits",
    isize => "an integer",
}

/// The one text of a value.
pub(super) fn text(value: &VariableValue) -> Result<&str, VariableErrorKind> {
    match value {
        VariableValue::Text(text) => Ok(text),
        VariableValue::List(texts) => match texts.as_slice() {
            [only] => Ok(only),
            _ => Err(ONE_TEXT),
        },
        VariableValue::Map(_) => Err(ONE_TEXT),
    }
}

const ONE_TEXT: VariableErrorKind = VariableErrorKind::Type {
    expected: "a single text",
};
