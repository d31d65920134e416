//! One request and its rounds.

use std::future::Future;
use std::ops::DerefMut;
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll};
use std::time::SystemTime;

use pintle_model::RawJson;
use pintle_model::{
    CallToolResult, Error, ErrorCode, Feature, GetPromptResult, InputRequests, InputRequired,
    InputResponses, JsonObject, Outcome, ReadResourceResult,
};
use pintle_proto::Limits;
use pintle_runtime::{
    AskError, BoxFuture, Context, Journal, QuestionState, ReplayResult, RetryInput,
    prepare_question,
};
use serde_json::Value;

use super::live;
use super::memory::Memory;
use super::request_identity::RequestIdentity;
use super::required::Required;
use super::seal::StateSeal;
use crate::ask_code::AskCode;
use crate::tool::error_chain;

/// The members of a retry besides those of its request.
#[derive(Default)]
pub(crate) struct RetryParams<'a> {
    pub(crate) responses: Option<RawJson<'a>>,
    pub(crate) state: Option<&'a str>,
}

impl RetryParams<'_> {
    /// Whether the request is a retry: what it comes to is nobody else's, and is never cached.
    pub(crate) fn is_some(&self) -> bool {
        self.responses.is_some() || self.state.is_some()
    }
}

/// The end of one round of a request.
pub(crate) type RoundEnd<R> = Result<Outcome<R>, Error>;

/// Why a round does not end with questions.
enum NotAsked {
    /// An error of the protocol.
    Fails(Error),
    /// The text of the reason, in the form that the result has for it.
    Refused(String),
}

/// The future of the questions of a round.
type Asking<'a> = BoxFuture<'a, Result<InputRequired, NotAsked>>;

impl From<Error> for NotAsked {
    fn from(error: Error) -> Self {
        Self::Fails(error)
    }
}

/// A request that may take several rounds.
pub(crate) struct Rounds<'a> {
    pub(crate) seal: &'a dyn StateSeal,
    pub(crate) memory: &'a Memory,
    pub(crate) cx: &'a Context,
    pub(crate) origin: RequestIdentity<'a>,
    /// Present if the handler can return questions.
    pub(crate) ask_code: Option<AskCode>,
}

/// The result of a request that may ask.
pub(crate) trait RoundResult: Sized {
    /// Whether the handler failed, in the form of a result.
    fn is_failure(&self) -> bool {
        false
    }

    /// The end of a request whose questions cannot be asked.
    fn refused(message: String) -> Result<Outcome<Self>, Error> {
        Err(Error::new(ErrorCode::INTERNAL_ERROR, message))
    }
}

/// The reason for the end of a request that asks without end.
pub(crate) fn tired(rounds: u32) -> String {
    format!("the handler asked for more than {rounds} rounds")
}

impl RoundResult for ReadResourceResult {}

impl RoundResult for GetPromptResult {}

impl RoundResult for CallToolResult {
    fn is_failure(&self) -> bool {
        self.is_error == Some(true)
    }

    fn refused(message: String) -> Result<Outcome<Self>, Error> {
        Ok(Outcome::Complete(Self::error(message)))
    }
}

impl Rounds<'_> {
    /// Runs the handler as often as its questions need in this request, which is once where
    /// results may ask.
    pub(crate) async fn answer<'r, R, Fut>(
        &self,
        retry: RetryParams<'_>,
        mut run: impl FnMut() -> Fut + Send,
    ) -> RoundEnd<R>
    where
        R: RoundResult,
        Fut: Future<Output = RoundEnd<R>> + Send + 'r,
    {
        // Boxed, as everything that few requests need: every request is as large as it may become.
        if retry.is_some() {
            self.take_up_boxed(retry).await?;
        }
        let questions = self.cx.questions();
        questions.allow_replay();
        let ended = UntilSuspended::new(questions, pin!(run())).await;
        match ended {
            Some(Ok(outcome)) if is_final(&outcome, self.cx) => Ok(outcome),
            ended => {
                let mut again = || Box::pin(run()) as BoxFuture<'r, RoundEnd<R>>;
                Box::pin(self.go_on(ended, &mut again)).await
            }
        }
    }

    /// Continues a request after the first run of its handler.
    // `run` is an object, so that this is compiled once for each type of results.
    pub(crate) async fn go_on<'r, R: RoundResult>(
        &self,
        ended: Option<RoundEnd<R>>,
        run: &mut (dyn FnMut() -> BoxFuture<'r, RoundEnd<R>> + Send),
    ) -> RoundEnd<R> {
        if !self.cx.terms().has(Feature::InputRequired) {
            return live::go_on(self.cx, self.ask_code, ended, run).await;
        }
        let replayed = self.cx.questions().take();
        self.conclude(ended, replayed).await
    }

    // Not `async`, so that this crate alone compiles the future. The same holds for `seal`.
    pub(crate) fn take_up_boxed<'a>(
        &'a self,
        retry: RetryParams<'a>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(self.take_up(retry))
    }

    /// Lays out for the handler what earlier rounds brought, where results may ask.
    pub(crate) async fn take_up(&self, retry: RetryParams<'_>) -> Result<(), Error> {
        let questions = self.cx.questions();
        questions.allow_replay();
        if !retry.is_some() || !self.cx.terms().has(Feature::InputRequired) {
            return Ok(());
        }
        let responses = responses(retry.responses)?;
        let mut journal = Journal::default();
        match retry.state {
            Some(state) => {
                journal = self.open(state).await?;
                journal.take_answers(&responses);
            }
            None => journal.take_unasked(responses.clone()),
        }
        questions.set_retry(RetryInput::new(responses, journal.state.take()));
        questions.resume(journal);
        Ok(())
    }

    /// The suspension rule: a handler that has not succeeded and has open questions is suspended,
    /// whatever it has made of that.
    pub(crate) async fn conclude<R: RoundResult>(
        &self,
        ended: Option<RoundEnd<R>>,
        replayed: Option<ReplayResult>,
    ) -> RoundEnd<R> {
        let asking = match self.ask(ended, replayed) {
            Ok(asking) => asking,
            Err(end) => return end,
        };
        match asking.await {
            Ok(asked) => Ok(Outcome::InputRequired(asked)),
            Err(NotAsked::Fails(error)) => Err(error),
            Err(NotAsked::Refused(reason)) => R::refused(reason),
        }
    }

    /// Begins to ask, or returns the end of a request that has no questions.
    fn ask<R: RoundResult>(
        &self,
        ended: Option<RoundEnd<R>>,
        replayed: Option<ReplayResult>,
    ) -> Result<Asking<'_>, RoundEnd<R>> {
        let mut replayed = replayed.unwrap_or_default();
        if let Some(broken) = replayed.broken.take() {
            return Err(Err(broken));
        }
        if let Some(Err(error)) = &ended
            && replayed.asked.is_empty()
            && let Some(required) = Required::of_error(self.cx, error)
        {
            return Ok(Box::pin(self.require(required, replayed.journal)));
        }
        let is_failure = match &ended {
            Some(Ok(Outcome::Complete(result))) => result.is_failure(),
            Some(Ok(_)) => false,
            Some(Err(_)) | None => true,
        };
        match (ended, replayed.missing_capability.take()) {
            (Some(Ok(Outcome::InputRequired(asked))), _) => {
                Ok(Box::pin(self.ask_explicitly(asked, replayed.journal)))
            }
            (Some(ended), _) if !is_failure => Err(ended),
            (Some(_), Some(missing)) => Err(Err(missing)),
            (_, _) if !replayed.asked.is_empty() => {
                let (journal, requests) = replayed.into_asked();
                let asked = InputRequired::asking(requests);
                Ok(Box::pin(self.send_back(asked, journal)))
            }
            (Some(ended), None) => Err(ended),
            (None, _) => Err(Err(Error::internal())),
        }
    }

    /// Questions that the handler returned itself, and the state it wants to keep.
    async fn ask_explicitly(
        &self,
        mut asked: InputRequired,
        mut journal: Journal,
    ) -> Result<InputRequired, NotAsked> {
        check_asked(&asked)?;
        let requests = asked.input_requests.iter_mut();
        for (_, request) in requests.flat_map(InputRequests::iter_mut) {
            match prepare_question(request, self.cx.terms()) {
                Ok(()) => {}
                Err(error @ AskError::Unsupported(_)) => return Err(error.to_error().into()),
                Err(error) => return Err(NotAsked::Refused(error_chain(&error))),
            }
        }
        journal.state.clone_from(&asked.request_state);
        self.send_back(asked, journal).await
    }

    /// Visits that must come first.
    async fn require(
        &self,
        required: Required,
        journal: Journal,
    ) -> Result<InputRequired, NotAsked> {
        match required {
            Required::Asks(requests) => {
                self.send_back(InputRequired::asking(requests), journal)
                    .await
            }
            Required::Fails(error) => Err(error.into()),
            Required::Refused(error) => Err(error.to_error().into()),
            Required::Declined => Err(NotAsked::Refused(
                "the user will not visit the URL that this needs".to_owned(),
            )),
        }
    }

    async fn send_back(
        &self,
        asked: InputRequired,
        mut journal: Journal,
    ) -> Result<InputRequired, NotAsked> {
        let limits = self.cx.limits();
        journal.rounds = journal.rounds.saturating_add(1);
        if journal.rounds > limits.max_rounds {
            return Err(NotAsked::Refused(tired(limits.max_rounds)));
        }
        let state = self.seal(journal, &limits).await?;
        Ok(asked.with_state(state))
    }

    fn seal<'a>(
        &'a self,
        journal: Journal,
        limits: &'a Limits,
    ) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let binding = self.origin.binding(self.cx.principal())?;
            let content = self.memory.pack(&binding, journal, limits).await?;
            self.seal.refresh().await;
            let sealed = self.seal.seal(SystemTime::now(), &binding, &content);
            sealed.map_err(|error| {
                tracing::error!(%error, "a handler cannot ask");
                Error::internal()
            })
        })
    }

    async fn open(&self, state: &str) -> Result<Journal, Error> {
        let binding = self.origin.binding(self.cx.principal())?;
        let content = self
            .seal
            .open_or_refresh(SystemTime::now(), &binding, state)
            .await
            .map_err(|unsealable| Error::invalid_params(unsealable.to_string()))?;
        self.memory.unpack(&binding, &content).await
    }
}

/// Returns true if a request ends with the outcome: it is a result, and the handler has not asked or done anything
/// that its end depends on.
pub(crate) fn is_final<R>(outcome: &Outcome<R>, cx: &Context) -> bool {
    matches!(outcome, Outcome::Complete(_)) && !cx.questions().has_replay()
}

/// Polls a handler until it ends, or until it has asked something; then there is nothing.
pub(crate) struct UntilSuspended<'a, P> {
    questions: &'a QuestionState,
    running: Pin<P>,
}

impl<'a, P> UntilSuspended<'a, P> {
    pub(crate) fn new(questions: &'a QuestionState, running: Pin<P>) -> Self {
        Self { questions, running }
    }
}

impl<P> Future for UntilSuspended<'_, P>
where
    P: DerefMut<Target: Future> + Unpin,
{
    type Output = Option<<P::Target as Future>::Output>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match self.running.as_mut().poll(task) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending if self.questions.is_suspended_or_wake(task.waker()) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Reads answers one by one. A value that is not an object answers nothing, and its question is asked
/// again.
fn responses(raw: Option<RawJson<'_>>) -> Result<InputResponses, Error> {
    let Some(raw) = raw else {
        return Ok(InputResponses::new());
    };
    let no_object = |_| Error::invalid_params("inputResponses is an object");
    let mut answers: JsonObject = raw.decode().map_err(no_object)?;
    answers.retain(|_, answer| answer.is_object());
    serde_json::from_value(Value::Object(answers)).map_err(no_object)
}

/// Refuses an outcome that asks for nothing: the client could only make the same call again.
pub(super) fn check_asked(asked: &InputRequired) -> Result<(), Error> {
    if asked.input_requests.is_some() || asked.request_state.is_some() {
        return Ok(());
    }
    tracing::warn!("a handler asked for input without a question and without a state");
    Err(Error::internal())
}
