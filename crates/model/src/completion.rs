//! Completion of an argument while a user types it.
//!
//! Spec: [2026-07-28, Completion](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion).

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::Serializer;

use crate::fit::drop_without;
use crate::object::object;
use crate::read::{Members, Object, ReadError, deserialize_by_read, read_by_build};
use crate::tagged::{Tagged, tag};
use crate::{Extra, Feature, Fit, FitError, JsonObject, Meta, Revision, number};

tag!(PromptTag = "ref/prompt");
tag!(ResourceTemplateTag = "ref/resource");

/// Parameters of `completion/complete`: the reference, the argument and its context.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompleteParams {
    /// The prompt or template the argument belongs to; `ref` on the wire.
    pub reference: CompletionReference,
    /// The argument.
    pub argument: CompletionArgument,
    /// Arguments that were completed before.
    pub context: Option<CompletionContext>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CompleteParams {
    "ref" => required reference,
    "argument" => required argument,
    "context" => optional context,
    "_meta" => optional meta,
});

impl CompleteParams {
    /// Creates the parameters for the argument `name` with the typed text `value`.
    pub fn new(
        reference: impl Into<CompletionReference>,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self {
            reference: reference.into(),
            argument: CompletionArgument {
                name: name.into(),
                value: value.into(),
                extra: Extra::new(),
            },
            context: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// Prompt or resource template that an argument belongs to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt.
    Prompt(PromptReference),
    /// A resource or a resource template.
    ResourceTemplate(ResourceTemplateReference),
    /// A reference of unknown type, kept unchanged.
    Unknown(JsonObject),
}

impl CompletionReference {
    /// Refers to the prompt called `name`.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference {
            kind: PromptTag,
            name: name.into(),
            title: None,
            extra: Extra::new(),
        })
    }

    /// Refers to a resource, or to a template by its pattern.
    pub fn resource_template(uri: impl Into<String>) -> Self {
        Self::ResourceTemplate(ResourceTemplateReference {
            kind: ResourceTemplateTag,
            uri: uri.into(),
            extra: Extra::new(),
        })
    }
}

/// The prompt whose argument a client completes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptReference {
    kind: PromptTag,
    /// Name of the prompt.
    pub name: String,
    /// The prompt's name for people; without meaning here.
    pub title: Option<String>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(PromptReference {
    "type" => default kind,
    "name" => required name,
    "title" => optional title,
});

/// Refers to a resource or a resource template.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    kind: ResourceTemplateTag,
    /// URI of the resource, or the pattern of the template.
    pub uri: String,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ResourceTemplateReference {
    "type" => default kind,
    "uri" => required uri,
});

/// Argument to complete, with the text typed until now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Name of the argument.
    pub name: String,
    /// Text typed until now; used for matching.
    pub value: String,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CompletionArgument {
    "name" => required name,
    "value" => required value,
});

/// Arguments that were completed before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionContext {
    /// Other arguments, by name.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CompletionContext {
    "arguments" => optional arguments,
});

impl From<BTreeMap<String, String>> for CompletionContext {
    fn from(arguments: BTreeMap<String, String>) -> Self {
        Self {
            arguments: Some(arguments),
            extra: Extra::new(),
        }
    }
}

/// Result of `completion/complete`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The proposed completions.
    pub completion: Completion,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CompleteResult {
    "completion" => required completion,
    "_meta" => optional meta,
});

impl From<Completion> for CompleteResult {
    fn from(completion: Completion) -> Self {
        Self {
            completion,
            ..Self::default()
        }
    }
}

/// Values an argument may take.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// The values, the best first; at most [`Completion::MAX_VALUES`].
    pub values: Vec<String>,
    /// Total number of values, if known.
    pub total: Option<u64>,
    /// Whether more values exist.
    pub has_more: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Completion {
    "values" => required values,
    "total" => optional total (read number::optional_whole),
    "hasMore" => optional has_more,
});

impl Completion {
    /// Maximum number of values in one result.
    pub const MAX_VALUES: usize = 100;

    /// Builds a completion from all values, the best first. Values beyond the limit are dropped,
    /// but `total` counts them.
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let mut values: Vec<String> = values.into_iter().map(Into::into).collect();
        let all = values.len();
        let has_more = all > Self::MAX_VALUES;
        values.truncate(Self::MAX_VALUES);
        Self {
            values,
            total: u64::try_from(all).ok(),
            has_more: Some(has_more),
            extra: Extra::new(),
        }
    }
}

impl Serialize for CompletionReference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Prompt(prompt) => prompt.serialize(serializer),
            Self::ResourceTemplate(template) => template.serialize(serializer),
            Self::Unknown(members) => members.serialize(serializer),
        }
    }
}

impl Object for CompletionReference {
    const EXPECTED: &'static str = "a reference to a prompt or a resource template";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut reference: Tagged<'_, '_, String> = Tagged::read(members, "type")?;
        let kind = reference.kind.take();
        match kind.as_deref() {
            Some("ref/prompt") => reference.decode().map(Self::Prompt),
            Some("ref/resource") => reference.decode().map(Self::ResourceTemplate),
            _ => reference.decode_unknown("type", kind).map(Self::Unknown),
        }
    }
}

read_by_build!(CompletionReference);
deserialize_by_read!(CompletionReference);

impl Fit for CompleteParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::CompletionContext, revision, &mut self.context);
        if let CompletionReference::Prompt(prompt) = &mut self.reference {
            drop_without(Feature::Titles, revision, &mut prompt.title);
        }
        Ok(())
    }
}

impl Fit for CompleteResult {
    /// Drops values beyond the limit of all revisions.
    fn fit(&mut self, _: Revision) -> Result<(), FitError> {
        let completion = &mut self.completion;
        if completion.values.len() > Completion::MAX_VALUES {
            completion.values.truncate(Completion::MAX_VALUES);
            completion.has_more = Some(true);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2026-07-28 N-COMP-02
    #[test]
    fn references_are_written_as_they_were_read() {
        for reference in [
            json!({"type": "ref/prompt", "name": "a", "title": "A", "x": 1}),
            json!({"type": "ref/resource", "uri": "a:{b}", "x": 1}),
            json!({"type": "ref/other", "x": 1}),
        ] {
            let wire = json!({"ref": reference, "argument": {"name": "b", "value": "c"},
                "context": {"arguments": {"d": "e"}}, "_meta": {}});
            let params: CompleteParams = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(params).unwrap(), wire);
        }
    }

    // spec: 2026-07-28 N-COMP-03
    // spec: 2025-11-25 AMB-65 (a hundred values)
    #[test]
    fn values_that_are_too_many_are_cut_off_and_counted() {
        let completion = Completion::new((0..250).map(|n| n.to_string()));

        assert_eq!(completion.values.len(), 100);
        assert_eq!(
            (completion.total, completion.has_more),
            (Some(250), Some(true))
        );
        let completion = Completion::new(["a"]);
        assert_eq!(
            (completion.total, completion.has_more),
            (Some(1), Some(false))
        );
    }

    // spec: 2026-07-28 N-COMP-03
    #[test]
    fn values_that_are_too_many_are_never_sent() {
        let mut result = CompleteResult::from(Completion::default());
        result.completion.values = vec![String::new(); 101];
        result.fit(Revision::LATEST).unwrap();

        assert_eq!(result.completion.values.len(), 100);
        assert_eq!(result.completion.has_more, Some(true));
    }

    // spec: 2025-11-25 D0326-06
    #[test]
    fn the_context_is_dropped_before_2025_06_18() {
        let reference = CompletionReference::prompt("a");
        let mut params = CompleteParams::new(reference, "b", "c");
        params.context = Some(BTreeMap::from([("d".to_owned(), "e".to_owned())]).into());

        params.fit(Revision::V2025_06_18).unwrap();
        assert!(params.context.is_some());
        params.fit(Revision::V2025_03_26).unwrap();
        assert_eq!(params.context, None);
    }
}
