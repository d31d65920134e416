//! Input from the client: what a handler may ask on the way.
//!
//! A handler asks in one straight line, whatever the revision. Up to 2025-11-25 a question is a
//! request to the client, and the handler waits. Since 2026-07-28 the handler is dropped, the
//! questions are its request's result, and the retry runs the handler again: questions that were
//! answered return at once. So code above a question may run more than once; [`Context::once`]
//! is for what may not.

mod answer;
mod ask;
mod check;
mod error;
mod followed;
mod form;
mod need;
mod prepare;
mod requested;
mod url;
mod visits;
mod waiting;

use std::future::{Future, poll_fn};

use pintle_model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult,
    ElicitSchema, ElicitUrlParams, InputRequest, InputResponse, ListRootsResult, NoParams, Root,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::Context;

pub use answer::Answer;
pub use ask::Ask;
pub use check::check as check_form;
pub use error::AskError;
pub use need::RequiredCapability;
pub use prepare::{may_include_context, prepare as prepare_question};
pub use requested::check_requested_schema;
pub use visits::{Visit, VisitError, Visits};
pub use waiting::with_timeout;

impl Context {
    /// Asks the user to fill in a form with the fields of `T`: text, numbers, yes or no, and
    /// choices, which are enums without data or lists of them.
    ///
    /// A form must not ask for secrets: use [`Context::elicit_url`] for them.
    ///
    /// # Errors
    ///
    /// - [`AskError::Unsupported`] if the client cannot show forms.
    /// - [`AskError::Invalid`] if `T` is not a flat form.
    /// - [`AskError::Failed`] up to 2025-11-25.
    /// - [`AskError::Malformed`] if the answer does not fit the form. Since 2026-07-28 the question is
    ///   first asked again, with the reason, until there were
    ///   [`Limits::max_unfit_answers`](pintle_proto::Limits::max_unfit_answers).
    ///
    /// # Cancellation
    ///
    /// Dropping the question cancels it, and the client is notified.
    ///
    /// Spec: [2026-07-28, Elicitation][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
    pub fn elicit<T: DeserializeOwned + JsonSchema>(
        &self,
        message: impl Into<String>,
    ) -> Ask<Answer<T>> {
        let request =
            form::schema_of::<T>().map(|schema| ElicitParams::form(message, schema).into());
        Ask::new(self, request, read_form)
    }

    /// Asks the user to fill in a form that is described by hand, and returns its fields.
    ///
    /// # Errors
    ///
    /// As [`Context::elicit`].
    pub fn elicit_form(
        &self,
        message: impl Into<String>,
        schema: ElicitSchema,
    ) -> Ask<Answer<pintle_model::JsonObject>> {
        let request = ElicitParams::form(message, schema);
        Ask::new(self, Ok(request.into()), read_form)
    }

    /// Asks the user to visit a URL: `https`, or `http` on the loopback. Acceptance is consent to
    /// go there, not success; [`Visits`] report success later.
    ///
    /// Intermediaries may read the URL, so it must not contain secrets or names of users. The page
    /// must authenticate the user who opens it.
    ///
    /// # Errors
    ///
    /// As [`Context::elicit`]; clients know URLs since 2025-11-25.
    pub fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Ask<Answer<()>> {
        self.visit(ElicitUrlParams::new(message, url))
    }

    fn visit(&self, url: ElicitUrlParams) -> Ask<Answer<()>> {
        let request = ElicitParams::Url(url);
        Ask::new(self, Ok(request.into()), |_, response| match response {
            InputResponse::Elicit(result) => read_action(result, |_| Ok(())),
            _ => Err(wrong_kind()),
        })
    }

    /// Asks the client's model for a message. Deprecated by the protocol as of 2026-07-28.
    ///
    /// # Errors
    ///
    /// - [`AskError::Unsupported`] if the client has no model, or none that takes tools.
    /// - [`AskError::Invalid`] if tool uses and tool results do not answer each other.
    /// - As [`Context::elicit`].
    ///
    /// Spec: [2026-07-28, Sampling][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
    pub fn sample(&self, params: impl Into<CreateMessageParams>) -> Ask<CreateMessageResult> {
        let request = InputRequest::from(params.into());
        Ask::new(self, Ok(request), |_, response| match response {
            InputResponse::CreateMessage(result) => Ok(result),
            _ => Err(wrong_kind()),
        })
    }

    /// Asks for the directories that the client lets servers work in. Deprecated by the protocol
    /// as of 2026-07-28.
    ///
    /// # Errors
    ///
    /// As [`Context::elicit`].
    ///
    /// Spec: [2026-07-28, Roots][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/roots
    pub fn list_roots(&self) -> Ask<Vec<Root>> {
        let request = InputRequest::ListRoots(NoParams::default());
        Ask::new(self, Ok(request), |_, response| match response {
            InputResponse::ListRoots(ListRootsResult { roots, .. }) => Ok(roots),
            _ => Err(wrong_kind()),
        })
    }

    /// Asks any question, and returns the answer unchecked.
    ///
    /// # Errors
    ///
    /// As [`Context::elicit`].
    pub fn ask(&self, request: InputRequest) -> Ask<InputResponse> {
        Ask::new(self, Ok(request), |_, response| Ok(response))
    }

    /// Runs an action that must not be repeated when a retry runs the handler again: its value is
    /// stored under `key` and returned then.
    ///
    /// Keys distinguish the actions of one handler; a repeated key is numbered. Branches that run
    /// at the same time need different keys.
    ///
    /// # Cancellation
    ///
    /// Only the value of a completed action is stored.
    pub async fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        future: impl Future<Output = T>,
    ) -> T {
        let Some(replay) = self.questions().replaying() else {
            return future.await;
        };
        let key = replay.unique_key(key);
        if let Some(value) = replay.value(&key) {
            match serde_json::from_value(value) {
                Ok(value) => return value,
                Err(_) => return replay.broken_for_ever(&key).await,
            }
        }
        let value = future.await;
        match serde_json::to_value(&value) {
            Ok(written) => {
                replay.remember(key, written);
                let version = self.questions().change();
                poll_fn(|task| self.questions().poll_saved(version, task.waker())).await;
            }
            Err(_) => return replay.broken_for_ever(&key).await,
        }
        value
    }

    /// Continues as a task, if the tool supports tasks and the client knows them. Later questions
    /// belong to the task, and earlier ones to the request. The client is answered at once, with
    /// the task.
    ///
    /// Elsewhere, and where the call is a task already, this does nothing.
    ///
    /// # Cancellation
    ///
    /// If the client disconnects before the task has begun, the handler is dropped here.
    ///
    /// Spec: SEP-2663, Tasks, Multi round-trip requests before a task.
    pub async fn begin_task(&self) {
        poll_fn(|task| self.questions().poll_task(task.waker())).await;
    }

    /// Returns the client's answers in this retry, for handlers that return their questions
    /// themselves.
    pub fn input_responses(&self) -> pintle_model::InputResponses {
        self.questions().retry().responses.clone()
    }

    /// Returns the state that such a handler gave to the client; it is verified to be unchanged.
    pub fn request_state(&self) -> Option<String> {
        self.questions().retry().state.clone()
    }
}

fn read_form<T: DeserializeOwned>(
    request: &InputRequest,
    response: InputResponse,
) -> Result<Answer<T>, String> {
    let InputResponse::Elicit(result) = response else {
        return Err(wrong_kind());
    };
    read_action(result, |mut content| {
        check::check(request, &content)?;
        check::write_integers(request, &mut content);
        serde_json::from_value(content).map_err(|error| error.to_string())
    })
}

fn read_action<T>(
    result: ElicitResult,
    accepted: impl FnOnce(Value) -> Result<T, String>,
) -> Result<Answer<T>, String> {
    match result.action {
        ElicitAction::Accept => {
            let content = result.content.unwrap_or_default();
            accepted(Value::Object(content)).map(Answer::Accepted)
        }
        ElicitAction::Decline => Ok(Answer::Declined),
        ElicitAction::Cancel => Ok(Answer::Cancelled),
        other => Err(format!("the action {:?} is unknown", other.as_str())),
    }
}

fn wrong_kind() -> String {
    "it answers another kind of question".to_owned()
}
