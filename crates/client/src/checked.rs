//! Calls of the protocol's own methods whose results stay JSON texts. The result is read once, to check it.

use pintle_model::method::{CallTool, Complete, GetPrompt, Method, ReadResource};
use pintle_model::{CompleteResult, GetPromptResult, ReadResourceResult};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::call::Call;
use crate::client::Client;
use crate::error::Misbehavior;
use crate::result::{RawResult, Reader, Reading, complete, tool_result};

impl Client {
    /// Calls a tool, reads a resource, gets a prompt or completes an argument, by the name of the method. Returns the
    /// JSON text of the result. The call is that of the typed function, such as [`Client::call_tool`]: the client
    /// answers questions, follows a task, and checks the result. Other methods are called as by
    /// [`Client::request_raw`].
    ///
    /// `params` is the text of a JSON object.
    ///
    /// # Errors
    ///
    /// Those of the typed function.
    pub fn request_checked(&self, method: &str, params: &str) -> Call<Box<RawValue>> {
        let (mut call, subject) = self.raw_call(method, params);
        if let Some(read) = reader(method) {
            call.read = Reading::By(read);
            call.request.is_repeatable = method != CallTool::NAME;
        }
        if method == CallTool::NAME {
            call.request.tool = subject.map(Into::into);
        }
        call
    }
}

/// Returns the function that checks the result of a method.
fn reader(method: &str) -> Option<Reader<Box<RawValue>>> {
    match method {
        CallTool::NAME => Some(|given| tool_result(given).map(|_| given.raw.to_owned())),
        ReadResource::NAME => Some(checked::<ReadResourceResult>),
        GetPrompt::NAME => Some(checked::<GetPromptResult>),
        Complete::NAME => Some(checked::<CompleteResult>),
        _ => None,
    }
}

fn checked<R: DeserializeOwned>(given: &RawResult<'_>) -> Result<Box<RawValue>, Misbehavior> {
    complete::<R>(given).map(|_| given.raw.to_owned())
}
