//! Answering a server's questions: the same handlers, whether the question was a request of its
//! own or came inside of a result.

use std::sync::Arc;

use pintle_model::{
    CreateMessageParams, ElicitFormParams, ElicitMode, ElicitParams, ElicitResult, ElicitUrlParams,
    Implementation, InputRequest, InputResponse, ListRootsResult,
};
use pintle_proto::Terms;
use pintle_runtime::{
    Answer, RequiredCapability, check_form, check_requested_schema, may_include_context,
};
use serde_json::Value;

use crate::error::{QuestionError, SamplingError};
use crate::handlers::{Handlers, defaults};
use crate::question_types::{FormQuestion, UrlQuestion};
use crate::url::Url;

impl Handlers {
    /// Answers a question of a server that is talked to on `terms`.
    ///
    /// # Errors
    ///
    /// [`QuestionError`].
    pub(crate) async fn answer(
        &self,
        question: InputRequest,
        terms: &Terms,
        server: Option<Arc<Implementation>>,
    ) -> Result<InputResponse, QuestionError> {
        let need = RequiredCapability::of(&question).ok_or_else(|| undeclared_mode(&question))?;
        if !need.is_met_by(terms) {
            return Err(QuestionError::Undeclared(need));
        }
        if let Some(any) = &self.any {
            let answer = (any.answer)(question).await;
            return answer.map_err(QuestionError::Answered);
        }
        match question {
            InputRequest::Elicit(params) => match *params {
                ElicitParams::Form(form) => self.fill_in(form, server).await,
                ElicitParams::Url(url) => self.visit(url, server).await,
                _ => Err(QuestionError::UnknownKind),
            },
            InputRequest::CreateMessage(mut params) => {
                if !may_include_context(terms) {
                    params.include_context = None;
                }
                self.sample(*params).await
            }
            InputRequest::ListRoots(_) => self.list_roots(),
            _ => Err(QuestionError::UnknownKind),
        }
    }

    async fn fill_in(
        &self,
        form: ElicitFormParams,
        server: Option<Arc<Implementation>>,
    ) -> Result<InputResponse, QuestionError> {
        let ask = self.form.as_ref();
        let ask = ask.ok_or(QuestionError::Undeclared(RequiredCapability::Form))?;
        check_requested_schema(&form.requested_schema).map_err(QuestionError::Unsound)?;
        let defaults = defaults(&form.requested_schema);
        let answer = ask(FormQuestion {
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
        check_form(&question, &Value::Object(content.clone())).map_err(QuestionError::Failed)?;
        Ok(ElicitResult::accept(content).into())
    }

    async fn visit(
        &self,
        asked: ElicitUrlParams,
        server: Option<Arc<Implementation>>,
    ) -> Result<InputResponse, QuestionError> {
        let ask = self.visit.as_ref();
        let ask = ask.ok_or(QuestionError::Undeclared(RequiredCapability::Url))?;
        let url = Url::check(&asked.url).map_err(QuestionError::Unsound)?;
        let answer = ask(UrlQuestion {
            server,
            message: asked.message,
            url: asked.url.clone(),
            host: url.host().to_owned(),
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

    async fn sample(&self, params: CreateMessageParams) -> Result<InputResponse, QuestionError> {
        let ask = self.sample.as_ref();
        let ask = ask.ok_or(QuestionError::Undeclared(RequiredCapability::Sampling))?;
        params
            .check()
            .map_err(|fault| QuestionError::Unsound(fault.to_string()))?;
        match ask(params).await {
            Ok(message) => Ok(message.into()),
            Err(SamplingError::Refused) => Err(QuestionError::Refused),
            Err(SamplingError::Failed(reason)) => Err(QuestionError::Failed(reason)),
        }
    }

    fn list_roots(&self) -> Result<InputResponse, QuestionError> {
        let roots = self.roots.as_ref();
        let roots = roots.ok_or(QuestionError::Undeclared(RequiredCapability::Roots))?;
        Ok(ListRootsResult::new(roots.get()).into())
    }
}

fn said_no<T>(answer: &Answer<T>) -> ElicitResult {
    match answer {
        Answer::Declined => ElicitResult::decline(),
        _ => ElicitResult::cancel(),
    }
}

/// An unknown mode was not declared either.
fn undeclared_mode(question: &InputRequest) -> QuestionError {
    match question {
        InputRequest::Elicit(params) if matches!(params.mode(), ElicitMode::Unknown(_)) => {
            QuestionError::Unsound("the mode of the question is unknown".to_owned())
        }
        _ => QuestionError::UnknownKind,
    }
}
