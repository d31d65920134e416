//! Sends what a handler gives to the peer of its request: notices, and questions.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use pintle_model::{Error, InputRequest, InputResponse, NoParams};
use pintle_runtime::Context;
use pintle_server::Changes;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, CustomRequest, EmptyResult, JsonRpcMessage, JsonRpcRequest,
    ProgressNotificationParam, RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::RxJsonRpcMessage;

use crate::channel::{Link, Outgoing};
use crate::convert::{self, convert};

/// How many questions of a request are open at the same time.
const MAX_QUESTIONS: usize = 64;

type Answer = RxJsonRpcMessage<RoleServer>;
type Question<'a> = Pin<Box<dyn Future<Output = (RequestId, Answer)> + Send + 'a>>;

/// Sends messages until it is dropped.
pub(crate) async fn pump(cx: &Context, changes: &Changes, link: Link) -> Infallible {
    let Link {
        mut outgoing,
        answers,
    } = link;
    let mut open = Questions::default();
    loop {
        tokio::select! {
            biased;
            Some(Outgoing { message, sent }) = outgoing.recv(), if open.has_room() => {
                match message {
                    JsonRpcMessage::Request(request) => open.ask(cx, request),
                    JsonRpcMessage::Notification(notice) => match notice.notification {
                        ServerNotification::CancelledNotification(notice) => {
                            open.cancel(notice.params.request_id.as_ref());
                        }
                        notice => notify(cx, changes, notice).await,
                    },
                    _ => {}
                }
                // A handler that no longer waits needs no answer.
                let _ = sent.send(());
            }
            answer = open.next(), if !open.is_empty() => {
                if let Some(answer) = answer {
                    // The peer ends with the request, and so does this.
                    let _ = answers.send(answer).await;
                }
            }
            // The peer has ended before the handler.
            else => std::future::pending().await,
        }
    }
}

/// The open questions of a request.
#[derive(Default)]
struct Questions<'a> {
    open: FuturesUnordered<Abortable<Question<'a>>>,
    handles: HashMap<RequestId, AbortHandle>,
}

impl<'a> Questions<'a> {
    fn has_room(&self) -> bool {
        self.open.len() < MAX_QUESTIONS
    }

    fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn ask(&mut self, cx: &'a Context, request: JsonRpcRequest<ServerRequest>) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(request.id.clone(), handle);
        self.open
            .push(Abortable::new(Box::pin(answer(cx, request)), registration));
    }

    /// Withdraws a question that the handler no longer waits for.
    fn cancel(&mut self, id: Option<&RequestId>) {
        if let Some(handle) = id.and_then(|id| self.handles.remove(id)) {
            handle.abort();
        }
    }

    /// Returns the next answer; `None` after a question that was withdrawn.
    async fn next(&mut self) -> Option<Answer> {
        let (id, answer) = self.open.next().await?.ok()?;
        self.handles.remove(&id);
        Some(answer)
    }
}

/// Asks the client, and makes the answer a message.
async fn answer(cx: &Context, request: JsonRpcRequest<ServerRequest>) -> (RequestId, Answer) {
    let JsonRpcRequest { id, request, .. } = request;
    let answer = match ask(cx, request).await {
        Ok(result) => JsonRpcMessage::response(result, id.clone()),
        Err(error) => JsonRpcMessage::error(convert::error_data(error), Some(id.clone())),
    };
    (id, answer)
}

async fn ask(cx: &Context, request: ServerRequest) -> Result<ClientResult, Error> {
    let question = match request {
        ServerRequest::ElicitRequest(request) => {
            InputRequest::Elicit(convert::result(&request.params)?)
        }
        ServerRequest::CreateMessageRequest(request) => {
            InputRequest::CreateMessage(convert::result(&request.params)?)
        }
        ServerRequest::ListRootsRequest(_) => InputRequest::ListRoots(NoParams::default()),
        ServerRequest::PingRequest(_) => return Ok(EmptyResult {}.into()),
        ServerRequest::CustomRequest(CustomRequest { method, .. }) => {
            return Err(Error::method_not_found(&method));
        }
        _ => return Err(Error::internal()),
    };
    let response = cx.ask(question).await.map_err(|error| error.to_error())?;
    client_result(&response).map_err(|_| Error::internal())
}

fn client_result(response: &InputResponse) -> serde_json::Result<ClientResult> {
    Ok(match response {
        InputResponse::Elicit(result) => ClientResult::ElicitResult(convert(result)?),
        InputResponse::CreateMessage(result) => ClientResult::CreateMessageResult(convert(result)?),
        InputResponse::ListRoots(result) => ClientResult::ListRootsResult(convert(result)?),
        other => ClientResult::CustomResult(convert(other)?),
    })
}

async fn notify(cx: &Context, changes: &Changes, notice: ServerNotification) {
    match notice {
        ServerNotification::ProgressNotification(notice) => {
            let ProgressNotificationParam {
                progress,
                total,
                message,
                ..
            } = notice.params;
            cx.progress(progress, total, message).await;
        }
        ServerNotification::LoggingMessageNotification(notice) => log(cx, notice.params),
        ServerNotification::ResourceUpdatedNotification(notice) => {
            changes.resource(notice.params.uri)
        }
        ServerNotification::ResourceListChangedNotification(_) => changes.resources(),
        ServerNotification::ToolListChangedNotification(_) => changes.tools(),
        ServerNotification::PromptListChangedNotification(_) => changes.prompts(),
        _ => tracing::debug!("a notice of a handler is not served"),
    }
}

#[expect(
    deprecated,
    reason = "rmcp deprecates log messages, and handlers send them"
)]
fn log(cx: &Context, message: rmcp::model::LoggingMessageNotificationParam) {
    match convert(&message.level) {
        Ok(level) => cx.log(level, message.logger.as_deref(), message.data),
        Err(error) => tracing::debug!(%error, "a log message has an unknown level"),
    }
}
