//! The serializer: values with members.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::WriteError;
use super::key::Key;
use super::quote::quoted;
use super::writer::Writer;

/// How the names begin under which `serde_json` passes values to itself.
const FOREIGN: &str = "$serde_json";

/// An array or an object that is being written.
pub(crate) struct Compound<'w> {
    writer: Writer<'w>,
    is_empty: bool,
    end: &'static [u8],
}

impl<'w> Compound<'w> {
    pub(super) fn open(mut writer: Writer<'w>, begin: &[u8], end: &'static [u8]) -> Self {
        writer.push(begin);
        Self {
            writer,
            is_empty: true,
            end,
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.separate();
        value.serialize(self.writer.again())
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), WriteError> {
        self.separate();
        quoted(self.writer.out, name);
        self.value(value)
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.writer.push(b":");
        value.serialize(self.writer.again())
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_empty) {
            self.writer.push(b",");
        }
    }

    fn close(mut self) -> Result<(), WriteError> {
        self.writer.push(self.end);
        Ok(())
    }
}

macro_rules! items {
    ($($trait:ident $method:ident),+ $(,)?) => {
        $(impl $trait for Compound<'_> {
            type Ok = ();
            type Error = WriteError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                self.item(value)
            }

            fn end(self) -> Result<(), WriteError> {
                self.close()
            }
        })+
    };
}

items! {
    SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field,
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.separate();
        key.serialize(Key(self.writer.out))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.value(value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.close()
    }
}

/// A value with named members that is being written.
pub(crate) enum Struct<'w> {
    Own(Compound<'w>),
    /// Something of `serde_json`'s own, such as raw JSON. Each of these has one member.
    Foreign(Writer<'w>, &'static str),
}

impl<'w> Struct<'w> {
    pub(super) fn open(writer: Writer<'w>, name: &'static str) -> Self {
        match name.starts_with(FOREIGN) {
            true => Self::Foreign(writer, name),
            false => Self::Own(Compound::open(writer, b"{", b"}")),
        }
    }
}

/// One member of a type of `serde_json`.
struct Foreign<'t, T: ?Sized> {
    name: &'static str,
    member: &'static str,
    value: &'t T,
}

impl<T: Serialize + ?Sized> Serialize for Foreign<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_struct(self.name, 1)?;
        whole.serialize_field(self.member, self.value)?;
        whole.end()
    }
}

macro_rules! members {
    ($($trait:ident),+) => {
        $(impl $trait for Struct<'_> {
            type Ok = ();
            type Error = WriteError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                member: &'static str,
                value: &T,
            ) -> Result<(), WriteError> {
                match self {
                    Self::Own(own) => own.member(member, value),
                    Self::Foreign(writer, name) => {
                        let name = *name;
                        writer.again().delegate(&Foreign { name, member, value })
                    }
                }
            }

            fn end(self) -> Result<(), WriteError> {
                match self {
                    Self::Own(own) => own.close(),
                    Self::Foreign(..) => Ok(()),
                }
            }
        })+
    };
}

members!(SerializeStruct, SerializeStructVariant);
