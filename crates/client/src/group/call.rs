//! A call of a tool by the name that the group gives it.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use pintle_model::method::{CallTool, Method as _};
use pintle_model::{CallToolResult, ProgressParams};
use serde_json::value::RawValue;

use super::{Group, GroupError};
use crate::call::Call;
use crate::error::CallError;

type CallOption = Box<dyn FnOnce(Call<CallToolResult>) -> Call<CallToolResult> + Send>;

/// A call of a tool of a group that was not sent yet: awaiting it sends it to the member that has the tool.
///
/// Dropping its future cancels the call, as that of a [`Call`].
#[must_use = "a call is made when it is awaited"]
pub struct GroupCall {
    group: Group,
    name: String,
    arguments: Result<Box<RawValue>, String>,
    options: Vec<CallOption>,
}

impl GroupCall {
    pub(super) fn new(
        group: &Group,
        name: &str,
        arguments: Result<Box<RawValue>, serde_json::Error>,
    ) -> Self {
        Self {
            group: group.clone(),
            name: name.to_owned(),
            arguments: arguments.map_err(|error| error.to_string()),
            options: Vec::new(),
        }
    }

    /// Sets the longest wait without an answer or progress: see [`Call::timeout`].
    pub fn timeout(self, idle: Duration) -> Self {
        self.with(move |call| call.timeout(idle))
    }

    /// Sets the longest total wait: see [`Call::total_timeout`].
    pub fn total_timeout(self, total: Duration) -> Self {
        self.with(move |call| call.total_timeout(total))
    }

    /// Calls the closure with each progress: see [`Call::on_progress`].
    pub fn on_progress(self, receive: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.with(move |call| call.on_progress(receive))
    }

    /// Adds a member to the request's `_meta`: see [`Call::meta`].
    pub fn meta(self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        let (key, value) = (key.into(), value.into());
        self.with(move |call| call.meta(key, value))
    }

    /// Declares that the call may be sent again after a lost connection: see [`Call::idempotent`].
    pub fn idempotent(self) -> Self {
        self.with(Call::idempotent)
    }

    fn with(
        mut self,
        option: impl FnOnce(Call<CallToolResult>) -> Call<CallToolResult> + Send + 'static,
    ) -> Self {
        self.options.push(Box::new(option));
        self
    }

    async fn send(self) -> Result<CallToolResult, GroupError> {
        let found = self.group.find_tool(&self.name).await?;
        let arguments = self.arguments.map_err(|reason| {
            let method = CallTool::NAME.into();
            found.failed(CallError::InvalidParams { method, reason })
        })?;
        let call = found.client.call_tool(&found.own, arguments);
        let call = self
            .options
            .into_iter()
            .fold(call, |call, option| option(call));
        call.await.map_err(|source| found.failed(source))
    }
}

impl IntoFuture for GroupCall {
    type Output = Result<CallToolResult, GroupError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl fmt::Debug for GroupCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupCall")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
