//! Variables as the types that handlers ask for.

use super::error::VariableFault;
use super::variables::VariableValue;

/// A type that can be made from a template's variable.
pub trait FromVariable: Sized {
    /// Makes it from a value that was matched.
    ///
    /// # Errors
    ///
    /// [`VariableFault`] says what is wrong; it is the peer's mistake.
    fn from_variable(value: &VariableValue) -> Result<Self, VariableFault>;

    /// Makes it where the URI has no value.
    ///
    /// # Errors
    ///
    /// [`VariableFault::Missing`], unless the type has a meaning for that.
    fn when_absent() -> Result<Self, VariableFault> {
        Err(VariableFault::Missing)
    }
}

impl FromVariable for String {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableFault> {
        text(value).map(str::to_owned)
    }
}

impl FromVariable for bool {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableFault> {
        match text(value)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(VariableFault::Type {
                expected: "`true` or `false`",
            }),
        }
    }
}

impl FromVariable for Vec<String> {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableFault> {
        match value {
            VariableValue::List(texts) => Ok(texts.clone()),
            VariableValue::Text(text) => Ok(vec![text.clone()]),
            VariableValue::Map(_) => Err(VariableFault::Type { expected: "a list" }),
        }
    }

    fn when_absent() -> Result<Self, VariableFault> {
        Ok(Vec::new())
    }
}

impl<T: FromVariable> FromVariable for Option<T> {
    fn from_variable(value: &VariableValue) -> Result<Self, VariableFault> {
        T::from_variable(value).map(Some)
    }

    fn when_absent() -> Result<Self, VariableFault> {
        Ok(None)
    }
}

macro_rules! integers {
    ($($integer:ty => $expected:literal),* $(,)?) => {$(
        impl FromVariable for $integer {
            fn from_variable(value: &VariableValue) -> Result<Self, VariableFault> {
                text(value)?.parse().map_err(|_| VariableFault::Type { expected: $expected })
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
pub(super) fn text(value: &VariableValue) -> Result<&str, VariableFault> {
    match value {
        VariableValue::Text(text) => Ok(text),
        VariableValue::List(texts) => match texts.as_slice() {
            [only] => Ok(only),
            _ => Err(ONE_TEXT),
        },
        VariableValue::Map(_) => Err(ONE_TEXT),
    }
}

const ONE_TEXT: VariableFault = VariableFault::Type {
    expected: "a single text",
};
