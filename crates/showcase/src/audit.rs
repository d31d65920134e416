//! Typed layers around every call of a tool, read of a resource and use of a prompt.
//!
//! The audit logs the name and the outcome of a request. It omits the arguments, because they may be secret.

use std::time::Instant;

use pintle::server::{
    Next, PromptReply, PromptRequest, ReadReply, ReadRequest, ToolReply, ToolRequest,
};

/// Logs every call of a tool.
pub(super) async fn call(request: ToolRequest, next: Next<ToolRequest, ToolReply>) -> ToolReply {
    let (tool, began) = (request.name.clone(), Instant::now());
    let reply = next.run(request).await;
    tracing::debug!(%tool, is_answered = reply.is_ok(), took = ?began.elapsed(), "a tool was called");
    reply
}

/// Logs every read of a resource.
pub(super) async fn read(request: ReadRequest, next: Next<ReadRequest, ReadReply>) -> ReadReply {
    let uri = request.uri.clone();
    let reply = next.run(request).await;
    tracing::debug!(uri, is_answered = reply.is_ok(), "a resource was read");
    reply
}

/// Logs every use of a prompt.
pub(super) async fn get(
    request: PromptRequest,
    next: Next<PromptRequest, PromptReply>,
) -> PromptReply {
    let prompt = request.name.clone();
    let reply = next.run(request).await;
    tracing::debug!(%prompt, is_answered = reply.is_ok(), "a prompt was used");
    reply
}
