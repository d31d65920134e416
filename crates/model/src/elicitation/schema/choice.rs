//! Fields that choose among words: one or some, with titles or without.

use serde::{Deserialize, Serialize};

use crate::Extra;
use crate::tagged::tag;

tag! {
    /// The type of a word.
    StringType = "string"
}

/// A value of a choice and its title.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Choice {
    /// Value that the response has.
    #[serde(rename = "const")]
    pub value: String,
    /// Text that the user sees.
    pub title: String,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

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
        pub struct $name:ident { $( $(#[$member_meta:meta])* pub $member:ident: $type:ty ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name {
            r#type: StringType,
            /// Title of the field.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            /// Description of the field.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            $( $(#[$member_meta])* pub $member: $type, )+
            /// Initial value.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub default: Option<String>,
            /// Members this version does not know.
            #[serde(flatten)]
            pub extra: Extra,
        }
    };
}

single_select! {
    /// A field that chooses one word.
    pub struct UntitledSingleSelectEnumSchema {
        /// The words.
        #[serde(rename = "enum")]
        pub words: Vec<String>,
    }
}

single_select! {
    /// A field that chooses one word with a title, since 2025-11-25.
    pub struct TitledSingleSelectEnumSchema {
        /// The words and their titles.
        pub one_of: Vec<Choice>,
    }
}

single_select! {
    /// A field that chooses one word, with the titles in a list beside the words.
    ///
    /// The only titled choice of 2025-06-18, and deprecated since.
    pub struct LegacyTitledEnumSchema {
        /// The words.
        #[serde(rename = "enum")]
        pub words: Vec<String>,
        /// The titles in the order of the words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub enum_names: Option<Vec<String>>,
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
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name {
            r#type: ArrayType,
            /// Title of the field.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            /// Description of the field.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            /// Minimum number of values.
            #[serde(
                default,
                deserialize_with = "crate::number::optional_whole",
                skip_serializing_if = "Option::is_none"
            )]
            pub min_items: Option<u64>,
            /// Maximum number of values.
            #[serde(
                default,
                deserialize_with = "crate::number::optional_whole",
                skip_serializing_if = "Option::is_none"
            )]
            pub max_items: Option<u64>,
            /// Values that the user can choose.
            pub items: $items,
            /// Initial values.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub default: Option<Vec<String>>,
            /// Members this version does not know.
            #[serde(flatten)]
            pub extra: Extra,
        }
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MultiSelectItems {
    #[serde(default)]
    r#type: StringType,
    /// The words.
    #[serde(rename = "enum")]
    pub words: Vec<String>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The words of a multiple choice, with titles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledMultiSelectItems {
    /// The words and their titles; `oneOf`, as an early proposal had it, is read too.
    #[serde(alias = "oneOf")]
    pub any_of: Vec<Choice>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

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
