//! The serializer: one value.

use serde::ser::{Serialize, Serializer};

use super::WriteError;
use super::compound::{Compound, Struct};
use super::quote::quoted;

/// Writes one value.
pub(crate) struct Writer<'w> {
    pub(super) out: &'w mut Vec<u8>,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(out: &'w mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Returns the same writer, for a nested value.
    pub(super) fn again(&mut self) -> Writer<'_> {
        Writer { out: self.out }
    }

    pub(super) fn push(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    /// Delegates a value to `serde_json`: numbers, and types of `serde_json`.
    pub(crate) fn delegate<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        serde_json::to_writer(self.out, value)
    }

    /// Writes a number with a fraction, such as `1.0`.
    pub(crate) fn double(mut self, value: f64) -> Result<(), WriteError> {
        let digit = |number: u32| b'0' + (number % 10) as u8;
        match whole(value) {
            None => return self.delegate(&value),
            // Most steps of progress are small, and are written without a loop.
            Some(number @ 0..10) => self.push(&[digit(number), b'.', b'0']),
            Some(number @ 10..100) => {
                self.push(&[digit(number / 10), digit(number), b'.', b'0']);
            }
            Some(number @ 100..1_000) => {
                let [hundreds, tens] = [digit(number / 100), digit(number / 10)];
                self.push(&[hundreds, tens, digit(number), b'.', b'0']);
            }
            Some(number) => {
                self.again().delegate(&number)?;
                self.push(b".0");
            }
        }
        Ok(())
    }

    /// Opens the object of a variant with content.
    fn open_variant(&mut self, variant: &str) {
        self.push(b"{");
        quoted(self.out, variant);
        self.push(b":");
    }
}

macro_rules! numbers {
    ($($method:ident $type:ty),+ $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), WriteError> {
            self.delegate(&value)
        })+
    };
}

/// Returns a number without sign and fraction as an integer, as most progress values are. An
/// integer is written in fewer steps.
fn whole(value: f64) -> Option<u32> {
    let number = value as u32;
    (f64::from(number).to_bits() == value.to_bits()).then_some(number)
}

impl<'w> Serializer for Writer<'w> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Struct<'w>;
    type SerializeStructVariant = Struct<'w>;

    numbers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128,
        serialize_f32 f32,
    }

    fn serialize_f64(self, value: f64) -> Result<(), WriteError> {
        self.double(value)
    }

    fn serialize_bool(mut self, value: bool) -> Result<(), WriteError> {
        self.push(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), WriteError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), WriteError> {
        quoted(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), WriteError> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(self)
    }

    fn serialize_unit(mut self) -> Result<(), WriteError> {
        self.push(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), WriteError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.open_variant(variant);
        value.serialize(self.again())?;
        self.push(b"}");
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'w>, WriteError> {
        Ok(Compound::open(self, b"[", b"]"))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Compound<'w>, WriteError> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Compound<'w>, WriteError> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'w>, WriteError> {
        self.open_variant(variant);
        Ok(Compound::open(self, b"[", b"]}"))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'w>, WriteError> {
        Ok(Compound::open(self, b"{", b"}"))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Struct<'w>, WriteError> {
        Ok(Struct::open(self, name))
    }

    fn serialize_struct_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Struct<'w>, WriteError> {
        self.open_variant(variant);
        Ok(Struct::Own(Compound::open(self, b"{", b"}}")))
    }
}
