//! The keys that the protocol reserves in `_meta`, spelled once.

use super::Meta;
use crate::jsonrpc::MetaMember;

/// Reserved keys.
impl Meta {
    /// Token for progress notifications; every revision.
    pub const PROGRESS_TOKEN: &'static str = MetaMember::ProgressToken.key();
    /// The revision of a request, since 2026-07-28.
    pub const PROTOCOL_VERSION: &'static str = MetaMember::ProtocolVersion.key();
    /// Identity of the client that sends a request, since 2026-07-28.
    pub const CLIENT_INFO: &'static str = MetaMember::ClientInfo.key();
    /// The capabilities behind a request, since 2026-07-28.
    pub const CLIENT_CAPABILITIES: &'static str = MetaMember::ClientCapabilities.key();
    /// The log level of a request, since 2026-07-28.
    pub const LOG_LEVEL: &'static str = MetaMember::LogLevel.key();
    /// Identity of the server that sends a result, since 2026-07-28.
    pub const SERVER_INFO: &'static str = "io.modelcontextprotocol/serverInfo";
    /// The listen request something belongs to, since 2026-07-28.
    pub const SUBSCRIPTION_ID: &'static str = "io.modelcontextprotocol/subscriptionId";
    /// The task something belongs to, in 2025-11-25.
    pub const RELATED_TASK: &'static str = MetaMember::RelatedTask.key();
    /// Text that the model may receive while a task runs, in 2025-11-25.
    pub const MODEL_IMMEDIATE_RESPONSE: &'static str =
        "io.modelcontextprotocol/model-immediate-response";
    /// W3C trace context: the span.
    pub const TRACE_PARENT: &'static str = MetaMember::TraceParent.key();
    /// W3C trace context: what tracing systems add.
    pub const TRACE_STATE: &'static str = MetaMember::TraceState.key();
    /// W3C baggage.
    pub const BAGGAGE: &'static str = MetaMember::Baggage.key();
}
