//! Tools that depend on the capabilities of the client.

use pintle::model::{
    CallToolResult, ClientCapabilities, ElicitParams, ElicitSchema, Error, ErrorCode, Feature,
    InputRequests, InputRequired, Outcome, StringSchema,
};
use pintle::prelude::*;
use pintle::server::ProtocolError;
use serde_json::json;

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(test_missing_capability, test_streaming_elicitation)>()
}

/// Needs a client with the sampling capability.
#[tool(read_only)]
async fn test_missing_capability(cx: Context) -> Result<&'static str, ProtocolError> {
    let needs = ClientCapabilities::default().with_sampling();
    if cx.terms().capabilities.covers(&needs) {
        return Ok("The client can ask a model");
    }
    let code = ErrorCode::MISSING_CLIENT_CAPABILITY;
    let error = Error::new(code, "this tool needs a client that can ask a model");
    Err(ProtocolError(
        error.with_data(json!({ "requiredCapabilities": needs })),
    ))
}

/// Asks inside its result, in revisions with that feature.
#[tool(read_only)]
async fn test_streaming_elicitation(cx: Context) -> Outcome<CallToolResult> {
    if !cx.terms().has(Feature::InputRequired) {
        let text = "the protocol revision of this request has no questions inside results";
        return Outcome::Complete(CallToolResult::error(text));
    }
    let form = ElicitSchema::new().required("name", StringSchema::new());
    let mut questions = InputRequests::new();
    questions.insert("user_name", ElicitParams::form("What is your name?", form));
    Outcome::InputRequired(InputRequired::asking(questions))
}
