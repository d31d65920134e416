//! The restricted schema of a form: a flat object of primitive fields.
//!
//! Shapes overlap, so a field is classified by the members it has: `oneOf` is a titled choice,
//! `enum` with `enumNames` the older titled choice, `enum` a choice, an array of these a
//! multiple choice, and text otherwise.
//!
//! Spec: [2026-07-28, Elicitation, Requested schema][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema

mod choice;
mod classify;
mod fields;
mod primitive;

pub use choice::{
    Choice, LegacyTitledEnumSchema, MultiSelectItems, TitledMultiSelectEnumSchema,
    TitledMultiSelectItems, TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema,
    UntitledSingleSelectEnumSchema,
};
pub use fields::ElicitFields;
pub use primitive::{BooleanSchema, NumberKind, NumberSchema, StringFormat, StringSchema};

use serde::Serialize;

use crate::object::object;
use crate::tagged::tag;
use crate::{Extra, JsonObject};

/// The schema of a form.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ElicitSchema {
    /// The dialect; 2020-12 when missing.
    pub dialect: Option<String>,
    r#type: ObjectType,
    /// The fields in their order.
    pub properties: ElicitFields,
    /// Names of the required fields.
    pub required: Option<Vec<String>>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ElicitSchema {
    "$schema" => optional dialect,
    "type" => required r#type,
    "properties" => required properties,
    "required" => optional required,
});

impl ElicitSchema {
    /// Creates a form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an optional field. A field of the same name is replaced.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        self.properties.insert(name, field);
        self
    }

    /// Adds a required field. A field of the same name is replaced.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        self.required.get_or_insert_default().push(name.clone());
        self.optional(name, field)
    }

    /// Returns true if the field `name` is required.
    pub fn is_required(&self, name: &str) -> bool {
        self.required
            .iter()
            .flatten()
            .any(|required| required == name)
    }
}

tag! {
    /// The type of a form.
    ObjectType = "object"
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// A text.
    String(StringSchema),
    /// A number or an integer.
    Number(NumberSchema),
    /// A boolean.
    Boolean(BooleanSchema),
    /// One of several words.
    SingleSelect(UntitledSingleSelectEnumSchema),
    /// One of several words with titles.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// One of several words, with titles in a list of their own.
    LegacyTitled(LegacyTitledEnumSchema),
    /// Some of several words.
    MultiSelect(UntitledMultiSelectEnumSchema),
    /// Some of several words with titles.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// A field of unknown shape, kept as it was read.
    Unknown(JsonObject),
}

macro_rules! into_primitive {
    ($( $schema:ident => $variant:ident ),+ $(,)?) => {
        $(
            impl From<$schema> for PrimitiveSchema {
                fn from(schema: $schema) -> Self {
                    Self::$variant(schema)
                }
            }
        )+

        impl Serialize for PrimitiveSchema {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(schema) => schema.serialize(serializer), )+
                    Self::Unknown(members) => members.serialize(serializer),
                }
            }
        }
    };
}

into_primitive! {
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    UntitledSingleSelectEnumSchema => SingleSelect,
    TitledSingleSelectEnumSchema => TitledSingleSelect,
    LegacyTitledEnumSchema => LegacyTitled,
    UntitledMultiSelectEnumSchema => MultiSelect,
    TitledMultiSelectEnumSchema => TitledMultiSelect,
}
