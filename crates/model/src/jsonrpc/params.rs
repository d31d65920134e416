//! The parameters of a message.

use serde_json::value::RawValue;

use super::meta_outline::{MalformedMeta, MetaSpans};
use super::outline::{self, Member, Outline};
use crate::RawJson;

/// The parameters of a request or a notification: the text of a JSON object, read once.
///
/// The positions of the members that the protocol needs first are recorded.
#[derive(Debug, Clone, Copy)]
pub struct ParamsRef<'a> {
    text: &'a str,
    outline: Outline,
    meta: Result<MetaSpans, MalformedMeta>,
}

impl<'a> ParamsRef<'a> {
    /// Reads parameters. If they are not an object, [`RequestEnvelope::of_params`](crate::RequestEnvelope::of_params)
    /// returns the error.
    pub fn read(params: &'a RawValue) -> Self {
        Self::find(params.get())
    }

    /// Finds the members of `text`, which is JSON.
    pub(super) fn find(text: &'a str) -> Self {
        let (outline, meta) = outline::find(text);
        Self {
            text,
            outline,
            meta,
        }
    }

    /// The parameters with these members.
    #[inline]
    pub(super) fn outlined(text: &'a str, outline: Outline, meta: MetaSpans) -> Self {
        Self {
            text,
            outline,
            meta: Ok(meta),
        }
    }

    /// Returns the JSON text.
    #[inline]
    pub fn get(&self) -> &'a str {
        self.text
    }

    /// Returns the positions of the members.
    #[inline]
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the value of a member; the last one if there are several.
    #[inline]
    pub fn member(&self, member: Member) -> Option<RawJson<'a>> {
        self.outline.get(self.text, member)
    }

    /// Returns the positions of the reserved members of `_meta`, or the reason why there are none.
    #[inline]
    pub(crate) fn meta(&self) -> Result<&MetaSpans, MalformedMeta> {
        self.meta.as_ref().map_err(|malformed| *malformed)
    }
}
