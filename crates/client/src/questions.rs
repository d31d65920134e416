//! Answering a server's questions: the same handlers, whether the question was a request of its
//! own or came inside of a result.

use std::fmt;
use std::sync::Arc;

use pintle_model::{
    CreateMessageParams, ElicitFormParams, ElicitMode, ElicitParams, ElicitResult, ElicitSchema,
    ElicitUrlParams, Error, ErrorCode, Implementation, InputRequest, InputResponse, JsonObject,
    ListRootsResult,
};
use pintle_proto::Terms;
use pintle_runtime::{Answer, ClientNeed, check_form, check_requested_schema, may_include_context};
use serde_json::Value;

use crate::handlers::{Handlers, defaults};
use crate::url::Url;

/// A form that a server wants the user to fill in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Form {
    /// Who asks, by its own account: show it.
    pub server: Option<Arc<Implementation>>,
    /// What the user is told.
    pub message: String,
    /// The fields.
    pub schema: ElicitSchema,
    /// Values that the fields begin with. A field that the answer leaves out gets its value from
    /// here, unless [`ClientBuilder::fill_form_defaults`](crate::ClientBuilder::fill_form_defaults) is
    /// off.
    pub defaults: JsonObject,
}

/// A URL that a server wants the user to visit. It is `https`, or `http` on this machine, and
/// carries no credentials; anything else was refused.
///
/// Show all of it, and open it in a browser of the user's own, only if the user agrees. Never
/// fetch it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Visit {
    /// Who asks, by its own account: show it.
    pub server: Option<Arc<Implementation>>,
    /// What the user is told.
    pub message: String,
    /// The URL: show all of it.
    pub url: String,
    /// The part of it that says where it leads: show it big.
    pub host: String,
    /// Whether the host is not what it may look like (Punycode): warn.
    pub is_suspicious: bool,
    /// The name under which the server says that the user is done (2025-11-25).
    pub elicitation_id: Option<String>,
}

/// Why a model gave no message. Closed: refusing is a decision, all else is a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleError {
    /// The user does not want it.
    Refused,
    /// It did not work; the server is not told why.
    Failed(String),
}

/// Why a question has no answer. That the user said no is an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Unanswered {
    /// The client had not declared that it can be asked this; its handler was not called.
    Undeclared(ClientNeed),
    /// Nobody here knows this kind of question.
    UnknownKind,
    /// The question itself makes no sense, or leads where no user is sent.
    Unsound(String),
    /// The user or the client refused to let a model answer.
    Refused,
    /// The handler failed, or gave an answer that does not fit the question.
    Failed(String),
}

impl Unanswered {
    /// The error that a server is answered with, where it asked by a request.
    pub(crate) fn to_error(&self, method: &str) -> Error {
        match self {
            // The capability itself was declared, or the request was rejected before.
            Self::Undeclared(ClientNeed::Form | ClientNeed::Url | ClientNeed::SamplingTools) => {
                Error::invalid_params(self.to_string())
            }
            Self::Undeclared(_) | Self::UnknownKind => Error::method_not_found(method),
            Self::Unsound(reason) => Error::invalid_params(reason.clone()),
            Self::Refused => Error::new(ErrorCode(-1), "the user refused the sampling request"),
            Self::Failed(_) => Error::internal(),
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared(need) => write!(f, "this client did not declare {need}"),
            Self::UnknownKind => f.write_str("the question is of a kind that is unknown here"),
            Self::Unsound(reason) => write!(f, "the question is not sound: {reason}"),
            Self::Refused => f.write_str("the user refused to let the model answer"),
            Self::Failed(reason) => write!(f, "the question's handler failed: {reason}"),
        }
    }
}

impl std::error::Error for Unanswered {}

impl Handlers {
    /// Answers a question of a server that is talked to on `terms`.
    ///
    /// # Errors
    ///
    /// [`Unanswered`].
    pub(crate) async fn answer(
        &self,
        question: InputRequest,
        terms: &Terms,
        server: Option<Arc<Implementation>>,
    ) -> Result<InputResponse, Unanswered> {
        let need = ClientNeed::of(&question).ok_or_else(|| undeclared_mode(&question))?;
        if !need.is_met_by(terms) {
            return Err(Unanswered::Undeclared(need));
        }
        match question {
            InputRequest::Elicit(params) => match *params {
                ElicitParams::Form(form) => self.fill_in(form, server).await,
                ElicitParams::Url(url) => self.visit(url, server).await,
                _ => Err(Unanswered::UnknownKind),
            },
            InputRequest::CreateMessage(mut params) => {
                if !may_include_context(terms) {
                    params.include_context = None;
                }
                self.sample(*params).await
            }
            InputRequest::ListRoots(_) => self.list_roots(),
            _ => Err(Unanswered::UnknownKind),
        }
    }

    async fn fill_in(
        &self,
        form: ElicitFormParams,
        server: Option<Arc<Implementation>>,
    ) -> Result<InputResponse, Unanswered> {
        let ask = self.form.as_ref();
        let ask = ask.ok_or(Unanswered::Undeclared(ClientNeed::Form))?;
        check_requested_schema(&form.requested_schema).map_err(Unanswered::Unsound)?;
        let defaults = defaults(&form.requested_schema);
        let answer = ask(Form {
            server,
            message: form.message.clone(),
            schema: form.requested_schema.clone(),
            defaults: defaults.clone(),
        })
        .await;
        let Answer::Accepted(mut content) = answer else {
            return Ok(said_no(&answer).into());
        };
        if !self.leaves_defaults {
            for (name, value) in defaults {
                content.entry(name).or_insert(value);
            }
        }
        let question = InputRequest::from(ElicitParams::Form(form));
        check_form(&question, &Value::Object(content.clone())).map_err(Unanswered::Failed)?;
        Ok(ElicitResult::accept(content).into())
    }

    async fn visit(
        &self,
        asked: ElicitUrlParams,
        server: Option<Arc<Implementation>>,
    ) -> Result<InputResponse, Unanswered> {
        let ask = self.visit.as_ref();
        let ask = ask.ok_or(Unanswered::Undeclared(ClientNeed::Url))?;
        let url = Url::check(&asked.url).map_err(Unanswered::Unsound)?;
        let answer = ask(Visit {
            server,
            message: asked.message,
            url: asked.url.clone(),
            host: url.host.to_owned(),
            is_suspicious: url.is_suspicious(),
            elicitation_id: asked.elicitation_id,
        })
        .await;
        Ok(match answer {
            Answer::Accepted(()) => ElicitResult::accept(None),
            other => said_no(&other),
        }
        .into())
    }

    async fn sample(&self, params: CreateMessageParams) -> Result<InputResponse, Unanswered> {
        let ask = self.sample.as_ref();
        let ask = ask.ok_or(Unanswered::Undeclared(ClientNeed::Sampling))?;
        params
            .check()
            .map_err(|fault| Unanswered::Unsound(fault.to_string()))?;
        match ask(params).await {
            Ok(message) => Ok(message.into()),
            Err(SampleError::Refused) => Err(Unanswered::Refused),
            Err(SampleError::Failed(reason)) => Err(Unanswered::Failed(reason)),
        }
    }

    fn list_roots(&self) -> Result<InputResponse, Unanswered> {
        let roots = self.roots.as_ref();
        let roots = roots.ok_or(Unanswered::Undeclared(ClientNeed::Roots))?;
        Ok(ListRootsResult::new(roots.get()).into())
    }
}

fn said_no<T>(answer: &Answer<T>) -> ElicitResult {
    match answer {
        Answer::Declined => ElicitResult::decline(),
        _ => ElicitResult::cancel(),
    }
}

/// A mode that nobody knows was not declared either.
fn undeclared_mode(question: &InputRequest) -> Unanswered {
    match question {
        InputRequest::Elicit(params) if matches!(params.mode(), ElicitMode::Unknown(_)) => {
            Unanswered::Unsound("the mode of the question is unknown".to_owned())
        }
        _ => Unanswered::UnknownKind,
    }
}
