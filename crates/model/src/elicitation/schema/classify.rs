//! The shape of a field, decided by its members.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::object::peek;
use crate::read::{Read, ReadError, Source, deserialize_by_read, from_text, read_text};

use super::PrimitiveSchema;

/// The members that decide.
struct Shape {
    r#type: Option<Type>,
    words: Option<IgnoredAny>,
    enum_names: Option<IgnoredAny>,
    one_of: Option<IgnoredAny>,
    items: Option<ItemsShape>,
}

peek!(Shape {
    "type" => optional r#type,
    "enum" => optional words,
    "enumNames" => optional enum_names,
    "oneOf" => optional one_of,
    "items" => optional items,
});

/// The members of `items` that decide.
struct ItemsShape {
    words: Option<IgnoredAny>,
    any_of: Option<IgnoredAny>,
    one_of: Option<IgnoredAny>,
}

peek!(ItemsShape {
    "enum" => optional words,
    "anyOf" => optional any_of,
    "oneOf" => optional one_of,
});

enum Type {
    String,
    Number,
    Boolean,
    Array,
    Other,
}

impl Read for Type {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read_text(source, "a type", |word| match &*word {
            "string" => Self::String,
            "number" | "integer" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::Array,
            _ => Self::Other,
        })
    }
}

impl Read for PrimitiveSchema {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        classify(&source.raw()?).map_err(|error| ReadError::of(&error))
    }
}

deserialize_by_read!(PrimitiveSchema);

fn classify(raw: &RawValue) -> serde_json::Result<PrimitiveSchema> {
    // An object of unknown shape is stored raw. Other JSON is an error.
    let Ok(shape) = from_text::<Shape>(raw.get()) else {
        return read(raw, PrimitiveSchema::Unknown);
    };
    match shape.r#type {
        Some(Type::String) => of_string(raw, &shape),
        Some(Type::Number) => read(raw, PrimitiveSchema::Number),
        Some(Type::Boolean) => read(raw, PrimitiveSchema::Boolean),
        Some(Type::Array) => of_array(raw, shape.items.as_ref()),
        Some(Type::Other) | None => read(raw, PrimitiveSchema::Unknown),
    }
}

fn of_string(raw: &RawValue, shape: &Shape) -> serde_json::Result<PrimitiveSchema> {
    if shape.one_of.is_some() {
        read(raw, PrimitiveSchema::TitledSingleSelect)
    } else if shape.words.is_none() {
        read(raw, PrimitiveSchema::String)
    } else if shape.enum_names.is_some() {
        read(raw, PrimitiveSchema::LegacyTitled)
    } else {
        read(raw, PrimitiveSchema::SingleSelect)
    }
}

fn of_array(raw: &RawValue, items: Option<&ItemsShape>) -> serde_json::Result<PrimitiveSchema> {
    match items {
        Some(items) if items.any_of.is_some() || items.one_of.is_some() => {
            read(raw, PrimitiveSchema::TitledMultiSelect)
        }
        Some(items) if items.words.is_some() => read(raw, PrimitiveSchema::MultiSelect),
        _ => read(raw, PrimitiveSchema::Unknown),
    }
}

fn read<T: Read>(
    raw: &RawValue,
    shape: impl FnOnce(T) -> PrimitiveSchema,
) -> serde_json::Result<PrimitiveSchema> {
    from_text(raw.get()).map(shape)
}
