//! A question without a terminal, for a program that reads standard error.

use pintle::model::ElicitParams;
use serde_json::{Value, json};

use crate::text;

/// Returns one line of JSON with the question as the server asked it.
pub(crate) fn payload(server: &str, question: &ElicitParams) -> String {
    let asked = serde_json::to_value(question).unwrap_or(Value::Null);
    let payload = json!({
        "event": "question",
        "server": server,
        "question": asked,
        "answered": "decline",
        "hint": "give answers in advance with --answer",
    });
    text::clean_json(&payload.to_string()).into_owned()
}
