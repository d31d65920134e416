//! The parameters of the methods of the router, in place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use pintle_model::jsonrpc::Member;
use pintle_model::method::{CallTool, Method};
use pintle_model::{Cursor, Error, RawJson};
use pintle_proto::{Members, Params};
use pintle_runtime::Context;

use crate::input::{RequestIdentity, RetryParams};

/// The parameters of `tools/call`, in place.
#[derive(Deserialize)]
pub(super) struct CallParams<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    /// The task that a call of 2025-11-25 requests. Later revisions do not have the member.
    #[serde(borrow, default)]
    pub(super) task: Option<RawJson<'a>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<RawJson<'a>>,
    #[serde(borrow, default, rename = "inputResponses")]
    pub(super) input_responses: Option<RawJson<'a>>,
    #[serde(borrow, default, rename = "requestState")]
    pub(super) request_state: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct ReadParams<'a> {
    pub(super) uri: String,
    #[serde(borrow, default, rename = "inputResponses")]
    pub(super) input_responses: Option<RawJson<'a>>,
    #[serde(borrow, default, rename = "requestState")]
    pub(super) request_state: Option<Cow<'a, str>>,
}

impl<'a> CallParams<'a> {
    /// Reads the members at their recorded positions. The decoder words the errors.
    pub(super) fn read(params: &'a Params) -> Result<Self, Error> {
        Self::of(params).map_or_else(|| params.decode(), Ok)
    }

    pub(super) fn identity(&self) -> RequestIdentity<'_> {
        RequestIdentity::new(CallTool::NAME, &self.name).with_arguments(self.arguments)
    }

    pub(super) fn retry(&self) -> RetryParams<'_> {
        RetryParams {
            responses: self.input_responses,
            state: self.request_state.as_deref(),
        }
    }

    fn of(params: &'a Params) -> Option<Self> {
        let members = params.members()?;
        Some(Self {
            name: members.get(Member::Name)?.as_text()?,
            task: members.get(Member::Task),
            arguments: members.get(Member::Arguments),
            input_responses: members.get(Member::InputResponses),
            request_state: text_of(members, Member::RequestState)?,
        })
    }
}

/// Returns the text of a member, or the absence of it; `None` if the member is not a string.
fn text_of(members: Members<'_>, member: Member) -> Option<Option<Cow<'_, str>>> {
    members
        .get(member)
        .map_or(Some(None), |value| value.as_text().map(Some))
}

impl<'a> ReadParams<'a> {
    pub(super) fn retry(&self) -> RetryParams<'_> {
        RetryParams {
            responses: self.input_responses,
            state: self.request_state.as_deref(),
        }
    }

    /// Reads the members at their recorded positions. The decoder words the errors.
    pub(super) fn read(params: &'a Params) -> Result<Self, Error> {
        Self::of(params).map_or_else(|| params.decode(), Ok)
    }

    fn of(params: &'a Params) -> Option<Self> {
        let members = params.members()?;
        Some(Self {
            uri: members.get(Member::Uri)?.as_text()?.into_owned(),
            input_responses: members.get(Member::InputResponses),
            request_state: text_of(members, Member::RequestState)?,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct PromptParams<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(default)]
    pub(super) arguments: Option<BTreeMap<String, String>>,
    #[serde(borrow, default, rename = "inputResponses")]
    pub(super) input_responses: Option<RawJson<'a>>,
    #[serde(borrow, default, rename = "requestState")]
    pub(super) request_state: Option<Cow<'a, str>>,
}

impl PromptParams<'_> {
    pub(super) fn retry(&self) -> RetryParams<'_> {
        RetryParams {
            responses: self.input_responses,
            state: self.request_state.as_deref(),
        }
    }
}

#[derive(Deserialize)]
struct PageParams {
    #[serde(default)]
    cursor: Option<Cursor>,
}

/// Reads the cursor of the request of a list.
pub(super) fn cursor_of(cx: &Context) -> Result<Option<Cursor>, Error> {
    let is_first = |members: Members<'_>| members.get(Member::Cursor).is_none();
    match cx.request().params.members() {
        Some(members) if is_first(members) => Ok(None),
        _ => Ok(cx.request().params.decode::<PageParams>()?.cursor),
    }
}
