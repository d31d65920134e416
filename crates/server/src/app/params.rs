//! The parameters of the methods of the router, in place.

mod decode;

use std::borrow::Cow;
use std::collections::BTreeMap;

use pintle_model::jsonrpc::Member;
use pintle_model::method::{CallTool, Method};
use pintle_model::{Cursor, Error, RawJson};
use pintle_proto::{Members, Params};
use pintle_runtime::Context;

use crate::input::{RequestIdentity, RetryParams};

use decode::decode;

/// The parameters of `tools/call`, in place.
pub(super) struct CallParams<'a> {
    pub(super) name: Cow<'a, str>,
    /// The task that a call of 2025-11-25 requests. Later revisions do not have the member.
    pub(super) task: Option<RawJson<'a>>,
    pub(super) arguments: Option<RawJson<'a>>,
    pub(super) input_responses: Option<RawJson<'a>>,
    pub(super) request_state: Option<Cow<'a, str>>,
}

decode!(CallParams<'de> {
    "name" => required_text name,
    "task" => optional task,
    "arguments" => optional arguments,
    "inputResponses" => optional input_responses,
    "requestState" => optional_text request_state,
});

pub(super) struct ReadParams<'a> {
    pub(super) uri: String,
    pub(super) input_responses: Option<RawJson<'a>>,
    pub(super) request_state: Option<Cow<'a, str>>,
}

decode!(ReadParams<'de> {
    "uri" => required_text uri,
    "inputResponses" => optional input_responses,
    "requestState" => optional_text request_state,
});

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

pub(super) struct PromptParams<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Option<BTreeMap<String, String>>,
    pub(super) input_responses: Option<RawJson<'a>>,
    pub(super) request_state: Option<Cow<'a, str>>,
}

decode!(PromptParams<'de> {
    "name" => required_text name,
    "arguments" => optional arguments,
    "inputResponses" => optional input_responses,
    "requestState" => optional_text request_state,
});

impl PromptParams<'_> {
    pub(super) fn retry(&self) -> RetryParams<'_> {
        RetryParams {
            responses: self.input_responses,
            state: self.request_state.as_deref(),
        }
    }
}

struct PageParams {
    cursor: Option<Cursor>,
}

decode!(PageParams {
    "cursor" => optional cursor,
});

/// Reads the cursor of the request of a list.
pub(super) fn cursor_of(cx: &Context) -> Result<Option<Cursor>, Error> {
    let is_first = |members: Members<'_>| members.get(Member::Cursor).is_none();
    match cx.request().params.members() {
        Some(members) if is_first(members) => Ok(None),
        _ => Ok(cx.request().params.decode::<PageParams>()?.cursor),
    }
}

#[cfg(test)]
mod tests;
