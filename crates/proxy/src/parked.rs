//! Calls of the server that wait for the retry of their client.
//!
//! The call runs in a task of its own. A round of the client waits for its result or for a question. A question ends
//! the round, and the call waits in the table until the retry, the timeout, or the end of its session.

use std::collections::HashMap;
use std::sync::Arc;

use pintle::client::CallError;
use pintle::model::{Error, InputRequests, InputRequired, InputResponse, InputResponses};
use pintle::proto::{Rendered, Reply};
use pintle::runtime::Context;
use pintle::runtime::sync::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::connections::Lease;
use crate::error::{error_of, fit_error, internal};
use crate::questions::Question;
use crate::random_id::random_id;
use crate::sink::Sink;
use crate::upstream::Upstream;

/// The parked calls by their state.
#[derive(Default)]
pub(crate) struct Parked(Mutex<HashMap<String, Entry>>);

struct Entry {
    call: Running,
    expires: Instant,
}

/// A call of the server that outlives the rounds of its client. Dropping it cancels the call.
pub(crate) struct Running {
    method: String,
    owner: Owner,
    done: oneshot::Receiver<Result<Box<RawValue>, CallError>>,
    lease: Lease,
    sink: Sink,
    /// The questions that the client was asked.
    asked: Vec<Question>,
    _task: AbortOnDrop,
}

/// The client that may continue a call.
#[derive(Debug, PartialEq, Eq)]
struct Owner {
    principal: Option<String>,
    session: Option<usize>,
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The parameters of a retry.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Retry {
    #[serde(default)]
    input_responses: Option<InputResponses>,
    pub(crate) request_state: Option<String>,
}

impl Owner {
    fn of(cx: &Context) -> Self {
        let handle = cx.engine_handle();
        let address = Arc::as_ptr(&handle).cast::<()>() as usize;
        Self {
            principal: cx.principal().map(|principal| principal.id().to_owned()),
            session: handle.is_session().then_some(address),
        }
    }
}

impl Running {
    /// Sends a call with the parameters for the server.
    pub(crate) fn start(upstream: &Upstream, cx: &Context, params: &str, lease: Lease) -> Self {
        let request = cx.request();
        let sink = Sink::of(request);
        let call = sink.call(upstream, &lease.link, request, params);
        let (sender, done) = oneshot::channel();
        let task = tokio::spawn(async move {
            let _ = sender.send(call.await);
        });
        Self {
            method: request.method.as_str().to_owned(),
            owner: Owner::of(cx),
            done,
            lease,
            sink,
            asked: Vec::new(),
            _task: AbortOnDrop(task.abort_handle()),
        }
    }

    /// Passes the answers of a retry to the server. A question without a valid answer stays.
    fn answer(&mut self, responses: &InputResponses) {
        for question in std::mem::take(&mut self.asked) {
            let answer = question.request.kind().and_then(|kind| {
                let given = responses.get(&question.name)?;
                InputResponse::decode(kind, given).ok()
            });
            match answer {
                Some(answer) => question.answer(Ok(answer)),
                None if question.is_open() => self.asked.push(question),
                None => {}
            }
        }
    }
}

impl Parked {
    /// Waits for the result of a call, or for questions of the server, which park the call.
    ///
    /// # Errors
    ///
    /// The error of the server; -32603 at the limit of parked calls.
    pub(crate) async fn round(
        &self,
        upstream: &Upstream,
        mut call: Running,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let progress = call.sink.attach(cx);
        let open = call.lease.link.open.add(cx);
        tokio::select! {
            biased;
            done = &mut call.done => {
                let raw = done.map_err(|_| Error::internal())?;
                let raw = raw.map_err(|failure| fit_error(error_of(failure), cx))?;
                upstream.reply(call.lease.link.revision(), &call.method, raw, cx)
            }
            questions = call.lease.link.questions.take() => {
                drop((progress, open));
                call.asked.extend(questions);
                self.park(upstream, call, cx)
            }
        }
    }

    /// Stores a call until its retry, and returns its questions.
    ///
    /// # Errors
    ///
    /// -32603 at the limit; the call is cancelled then.
    fn park(&self, upstream: &Upstream, call: Running, cx: &Context) -> Result<Reply, Error> {
        let mut requests = InputRequests::new();
        for question in &call.asked {
            requests.insert(&*question.name, question.request.clone());
        }
        let state = random_id()?;
        let required = InputRequired::asking(requests).with_state(&*state);
        let reply = Rendered::new(required, cx.terms().revision)?;
        let mut all = self.0.lock();
        if all.len() >= upstream.options.max_parked_calls {
            return Err(internal("too many calls wait for answers of their clients"));
        }
        let expires = Instant::now() + upstream.options.park_timeout;
        all.insert(state, Entry { call, expires });
        Ok(Reply::InputRequired(reply))
    }

    /// Continues a parked call with the answers of its client.
    ///
    /// # Errors
    ///
    /// -32602 if the state is unknown, has expired, or belongs to another client or method.
    pub(crate) async fn resume(
        &self,
        upstream: &Upstream,
        cx: &Context,
        state: &str,
        retry: Retry,
    ) -> Result<Reply, Error> {
        let mut call = self.remove(state, cx)?;
        call.answer(&retry.input_responses.unwrap_or_default());
        if !call.asked.is_empty() {
            return self.park(upstream, call, cx);
        }
        self.round(upstream, call, cx).await
    }

    fn remove(&self, state: &str, cx: &Context) -> Result<Running, Error> {
        let unknown = || Error::invalid_params("the request state is unknown or has expired");
        let mut all = self.0.lock();
        let entry = all.get(state).ok_or_else(unknown)?;
        let is_own =
            entry.call.owner == Owner::of(cx) && entry.call.method == cx.request().method.as_str();
        if !is_own {
            return Err(unknown());
        }
        all.remove(state)
            .map(|entry| entry.call)
            .ok_or_else(unknown)
    }

    /// Drops the calls whose time is over, or whose session has ended.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let mut over = Vec::new();
        self.0.lock().retain(|_, entry| {
            let is_over = entry.expires <= now || entry.call.lease.link.is_orphan();
            if is_over {
                let asked = std::mem::take(&mut entry.call.asked);
                over.push((asked, Arc::clone(&entry.call.lease.link)));
            }
            !is_over
        });
        drop(over);
    }

    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }
}
