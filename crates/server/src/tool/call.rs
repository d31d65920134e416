//! One call of a tool: its parameters, its timeout and its result.

use std::fmt;
use std::future::ready;
use std::time::Duration;

use pintle_model::RawJson;
use pintle_model::{CallToolResult, Error, Outcome};
use pintle_runtime::{Context, with_timeout};
use serde::de::DeserializeOwned;

use crate::ability::{Ability, ExtractContext};
use crate::erase::{Finish, HandlerKind};
use crate::rejection::Rejection;
use crate::tool::Tool;
use crate::tool::checks::Checks;
use crate::tool::result::{IntoToolResult, ToolReply};
use pintle_runtime::BoxFuture;

impl Tool {
    /// Calls it. Bad arguments, a missed timeout and a handler's `Err` are results with an error for
    /// the model.
    ///
    /// # Errors
    ///
    /// - -32602 if `arguments` is not an object.
    /// - -32603 if the result breaks an output schema that was written by hand.
    /// - The [`ProtocolError`](crate::ProtocolError) that the handler returned.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the handler.
    pub fn call<'t>(
        &'t self,
        arguments: Option<RawJson<'_>>,
        scope: ExtractContext<'_>,
    ) -> BoxFuture<'t, ToolReply> {
        let running = match self.start(arguments, scope) {
            Ok(running) => running,
            Err(rejection) => {
                let reply = rejection.into_tool_result().map(Outcome::Complete);
                return Box::pin(ready(reply));
            }
        };
        if !self.checks.has_written_output() {
            return running;
        }
        Box::pin(async move {
            let outcome = running.await?;
            self.checks.let_out(self.name(), &outcome)?;
            Ok(outcome)
        })
    }

    fn start(
        &self,
        arguments: Option<RawJson<'_>>,
        scope: ExtractContext<'_>,
    ) -> Result<Running, Rejection> {
        let call = ToolCall::new(arguments, scope, &self.checks)?;
        let run = self.run.as_ref().ok_or_else(idle)?;
        let running = run(&call)?;
        let Some(timeout) = self.timeout else {
            return Ok(running);
        };
        let cx = scope.context().clone();
        Ok(Box::pin(within_timeout(timeout, cx, running)))
    }
}

async fn within_timeout(timeout: Duration, cx: Context, running: Running) -> ToolReply {
    let ended = with_timeout(&cx, timeout, running).await;
    ended.unwrap_or_else(|| Ok(Outcome::Complete(late(timeout))))
}

/// A handler at work.
pub(super) type Running = BoxFuture<'static, ToolReply>;

impl HandlerKind for Tool {
    type Call<'a> = ToolCall<'a>;
    type Memo = ();
    type Reply = ToolReply;

    fn memo(_: &ToolCall<'_>) {}
}

impl<T: IntoToolResult> Finish<T> for Tool {
    fn finish((): (), output: T) -> ToolReply {
        output.into_tool_result()
    }
}

/// The error for a tool that runs nothing; servers refuse to start with one.
pub(super) fn idle() -> Rejection {
    Rejection::Protocol(Error::internal())
}

/// The result of a call that missed its timeout.
pub(super) fn late(timeout: Duration) -> CallToolResult {
    CallToolResult::error(format!(
        "the tool took longer than {timeout:?} and was stopped"
    ))
}

/// A call: what its parameters are taken from.
pub struct ToolCall<'a> {
    arguments: RawJson<'a>,
    scope: ExtractContext<'a>,
    checks: &'a Checks,
}

impl<'a> ToolCall<'a> {
    /// Makes a call, after the checks of the arguments that decoding does not include.
    pub(super) fn new(
        arguments: Option<RawJson<'a>>,
        scope: ExtractContext<'a>,
        checks: &'a Checks,
    ) -> Result<Self, Rejection> {
        let arguments = object(arguments.unwrap_or(RawJson::EMPTY_OBJECT))?;
        checks.let_in(arguments.get())?;
        Ok(Self {
            arguments,
            scope,
            checks,
        })
    }

    /// The arguments as they came: a JSON object.
    pub fn raw_arguments(&self) -> &'a str {
        self.arguments.get()
    }

    /// The request this call came with.
    pub fn context(&self) -> &'a Context {
        self.scope.context()
    }

    /// Reads the arguments as `T`, straight from the text.
    ///
    /// `5.0` is read as the integer 5, as JSON Schema has it, and null for an optional member as
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Rejection::Arguments`] names each place that is wrong, and what belongs there.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        self.arguments.decode_object().or_else(|error| {
            let arguments = self.arguments.get();
            Ok(self.checks.decode_or_violations(arguments, &error)?)
        })
    }

    /// Takes an ability.
    ///
    /// # Errors
    ///
    /// [`Rejection::Missing`] if it is not there for this request.
    pub fn ability<A: Ability>(&self) -> Result<A, Rejection> {
        Ok(A::from_scope(&self.scope)?)
    }
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The arguments are omitted, because they may be secrets.
        f.debug_struct("ToolCall")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Arguments are an object: serde would read a struct from an array, too.
fn object(arguments: RawJson<'_>) -> Result<RawJson<'_>, Rejection> {
    match arguments.get().as_bytes().first() {
        Some(b'{') => Ok(arguments),
        Some(b'n') => Ok(RawJson::EMPTY_OBJECT),
        _ => Err(Rejection::Protocol(Error::invalid_params(
            "the arguments of a tool are an object",
        ))),
    }
}
