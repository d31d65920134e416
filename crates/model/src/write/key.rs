//! The serializer: the keys of maps, which are text, or something that is written like text.

use serde::Serialize;
use serde::ser::{Error, Impossible, Serializer};

use super::WriteError;
use super::quote::quoted;

/// Writes one key.
pub(super) struct Key<'w>(pub(super) &'w mut Vec<u8>);

impl Key<'_> {
    /// Writes a key that is not text and needs no escapes, between quotes.
    fn plain(self, key: &impl Serialize) -> Result<(), WriteError> {
        self.0.push(b'"');
        serde_json::to_writer(&mut *self.0, key)?;
        self.0.push(b'"');
        Ok(())
    }
}

fn no_text<T>() -> Result<T, WriteError> {
    Err(WriteError::custom("key must be a string"))
}

macro_rules! plain {
    ($($method:ident $type:ty),+ $(,)?) => {
        $(fn $method(self, key: $type) -> Result<(), WriteError> {
            self.plain(&key)
        })+
    };
}

macro_rules! refused {
    ($($method:ident($($argument:ty),*) $given:ty),+ $(,)?) => {
        $(fn $method(self $(, _: $argument)*) -> Result<$given, WriteError> {
            no_text()
        })+
    };
}

impl Serializer for Key<'_> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Impossible<(), WriteError>;
    type SerializeTuple = Impossible<(), WriteError>;
    type SerializeTupleStruct = Impossible<(), WriteError>;
    type SerializeTupleVariant = Impossible<(), WriteError>;
    type SerializeMap = Impossible<(), WriteError>;
    type SerializeStruct = Impossible<(), WriteError>;
    type SerializeStructVariant = Impossible<(), WriteError>;

    fn serialize_str(self, key: &str) -> Result<(), WriteError> {
        quoted(self.0, key);
        Ok(())
    }

    fn serialize_char(self, key: char) -> Result<(), WriteError> {
        self.serialize_str(key.encode_utf8(&mut [0; 4]))
    }

    plain! {
        serialize_bool bool,
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128,
    }

    fn serialize_f32(self, key: f32) -> Result<(), WriteError> {
        match key.is_finite() {
            true => self.plain(&key),
            false => no_text(),
        }
    }

    fn serialize_f64(self, key: f64) -> Result<(), WriteError> {
        match key.is_finite() {
            true => self.plain(&key),
            false => no_text(),
        }
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
        key: &T,
    ) -> Result<(), WriteError> {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<(), WriteError> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _key: &T,
    ) -> Result<(), WriteError> {
        no_text()
    }

    refused! {
        serialize_bytes(&[u8]) (),
        serialize_none() (),
        serialize_unit() (),
        serialize_unit_struct(&'static str) (),
        serialize_seq(Option<usize>) Self::SerializeSeq,
        serialize_tuple(usize) Self::SerializeTuple,
        serialize_tuple_struct(&'static str, usize) Self::SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) Self::SerializeTupleVariant,
        serialize_map(Option<usize>) Self::SerializeMap,
        serialize_struct(&'static str, usize) Self::SerializeStruct,
        serialize_struct_variant(&'static str, u32, &'static str, usize) Self::SerializeStructVariant,
    }
}
