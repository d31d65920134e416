//! Fields that choose among words: one or some, with titles or without.

use crate::Extra;
use crate::object::object;
use crate::tagged::tag;

tag! {
    /// The type of a word.
    StringType = "string"
}

/// A value of a choice and its title.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// Value that the response has.
    pub value: String,
    /// Text that the user sees.
    pub title: String,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(Choice {
    "const" => required value,
    "title" => required title,
});

impl Choice {
    /// A word and its title.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
            extra: Extra::new(),
        }
    }
}

/// Declares a field that chooses one word.
macro_rules! single_select {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$member_meta:meta])* $key:literal => $kind:ident $member:ident: $type:ty ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            r#type: StringType,
            /// Title of the field.
            pub title: Option<String>,
            /// Description of the field.
            pub description: Option<String>,
            $( $(#[$member_meta])* pub $member: $type, )+
            /// Initial value.
            pub default: Option<String>,
            /// Members this version does not know.
            pub extra: Extra,
        }

        object!($name {
            "type" => required r#type,
            "title" => optional title,
            "description" => optional description,
            $( $key => $kind $member, )+
            "default" => optional default,
        });
    };
}

single_select! {
    /// A field that chooses one word.
    pub struct UntitledSingleSelectEnumSchema {
        /// The words.
        "enum" => required words: Vec<String>,
    }
}

single_select! {
    /// A field that chooses one word with a title, since 2025-11-25.
    pub struct TitledSingleSelectEnumSchema {
        /// The words and their titles.
        "oneOf" => required one_of: Vec<Choice>,
    }
}

single_select! {
    /// A field that chooses one word, with the titles in a list beside the words.
    ///
    /// The only titled choice of 2025-06-18, and deprecated since.
    pub struct LegacyTitledEnumSchema {
        /// The words.
        "enum" => required words: Vec<String>,
        /// The titles in the order of the words.
        "enumNames" => optional enum_names: Option<Vec<String>>,
    }
}

impl UntitledSingleSelectEnumSchema {
    /// Chooses among `words`.
    pub fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

impl TitledSingleSelectEnumSchema {
    /// Chooses among `choices`.
    pub fn new(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self {
            one_of: choices.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl From<TitledSingleSelectEnumSchema> for LegacyTitledEnumSchema {
    fn from(titled: TitledSingleSelectEnumSchema) -> Self {
        let (words, names) = titled
            .one_of
            .into_iter()
            .map(|choice| (choice.value, choice.title))
            .unzip();
        Self {
            r#type: titled.r#type,
            title: titled.title,
            description: titled.description,
            words,
            enum_names: Some(names),
            default: titled.default,
            extra: titled.extra,
        }
    }
}

/// Declares a field that chooses some words.
macro_rules! multi_select {
    ( $(#[$meta:meta])* pub struct $name:ident { items: $items:ty } ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            r#type: ArrayType,
            /// Title of the field.
            pub title: Option<String>,
            /// Description of the field.
            pub description: Option<String>,
            /// Minimum number of values.
            pub min_items: Option<u64>,
            /// Maximum number of values.
            pub max_items: Option<u64>,
            /// Values that the user can choose.
            pub items: $items,
            /// Initial values.
            pub default: Option<Vec<String>>,
            /// Members this version does not know.
            pub extra: Extra,
        }

        object!($name {
            "type" => required r#type,
            "title" => optional title,
            "description" => optional description,
            "minItems" => optional min_items (read crate::number::optional_whole),
            "maxItems" => optional max_items (read crate::number::optional_whole),
            "items" => required items,
            "default" => optional default,
        });
    };
}

tag! {
    /// The type of a multiple choice.
    ArrayType = "array"
}

multi_select! {
    /// A field that chooses some words, since 2025-11-25.
    pub struct UntitledMultiSelectEnumSchema { items: MultiSelectItems }
}

multi_select! {
    /// A field that chooses some words with titles, since 2025-11-25.
    pub struct TitledMultiSelectEnumSchema { items: TitledMultiSelectItems }
}

/// The words of a multiple choice.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct MultiSelectItems {
    r#type: StringType,
    /// The words.
    pub words: Vec<String>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(MultiSelectItems {
    "type" => default r#type,
    "enum" => required words,
});

/// The words of a multiple choice, with titles.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TitledMultiSelectItems {
    /// The words and their titles; `oneOf`, as an early proposal had it, is read too.
    pub any_of: Vec<Choice>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(TitledMultiSelectItems {
    "anyOf" | "oneOf" => required any_of,
});

impl UntitledMultiSelectEnumSchema {
    /// Chooses among `words`.
    pub fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self {
            items: MultiSelectItems {
                words,
                ..MultiSelectItems::default()
            },
            ..Self::default()
        }
    }
}

impl TitledMultiSelectEnumSchema {
    /// Chooses among `choices`.
    pub fn new(choices: impl IntoIterator<Item = Choice>) -> Self {
        let any_of = choices.into_iter().collect();
        Self {
            items: TitledMultiSelectItems {
                any_of,
                ..TitledMultiSelectItems::default()
            },
            ..Self::default()
        }
    }
}
