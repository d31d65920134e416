//! Names of attributes, by the OpenTelemetry conventions for MCP.

pub(crate) const METHOD: &str = "mcp.method.name";
pub(crate) const PROTOCOL_VERSION: &str = "mcp.protocol.version";
pub(crate) const SESSION_ID: &str = "mcp.session.id";
pub(crate) const RESOURCE_URI: &str = "mcp.resource.uri";
pub(crate) const REQUEST_ID: &str = "jsonrpc.request.id";
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const TOOL: &str = "gen_ai.tool.name";
pub(crate) const PROMPT: &str = "gen_ai.prompt.name";
pub(crate) const TRANSPORT: &str = "network.transport";
pub(crate) const PROTOCOL: &str = "network.protocol.name";
pub(crate) const NETWORK_PROTOCOL_VERSION: &str = "network.protocol.version";
pub(crate) const SERVER_ADDRESS: &str = "server.address";
pub(crate) const SERVER_PORT: &str = "server.port";

/// The value of an attribute whose value would come from the peer.
pub(crate) const OTHER: &str = "_OTHER";
/// The `error.type` of a tool result that reports an error.
pub(crate) const TOOL_ERROR: &str = "tool_error";
/// The `error.type` of a request that was cancelled, or whose client has left.
pub(crate) const CANCELLED: &str = "cancelled";
/// The operation of `tools/call`.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";
