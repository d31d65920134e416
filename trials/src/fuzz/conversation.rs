//! Arbitrary input of a client on a pipe, in every revision.

use pintle::model::Revision;
use pintle::model::jsonrpc::Message;
use pintle_testkit::Endpoint;
use serde_json::Value;

/// How much virtual time a server has to come to rest.
const WAIT: std::time::Duration = std::time::Duration::from_secs(3_600);

/// A server sends only messages, and at most one answer per request, for any input.
///
/// # Panics
///
/// If not.
pub fn conversation(data: &[u8]) {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.arrive(data);
        server.arrive(b"\n");
        server.advance(WAIT);
        let sent = server.sent();
        let messages = || sent.iter().flat_map(messages_of);
        let answers = messages().filter(|said| is_answer(said)).count();
        assert!(messages().all(is_message), "{sent:?}");
        // A line that is not a message gets an answer without an id.
        let most = data
            .iter()
            .filter(|byte| matches!(byte, b'\n' | b','))
            .count()
            + 1;
        assert!(
            answers <= most,
            "{answers} answers to {most} messages at most"
        );
        server.close();
        assert_eq!(
            server.engine().in_flight(),
            0,
            "something is owed at the end"
        );
    }
}

/// The messages of a line: those of a batch, or the one that it is.
fn messages_of(line: &Value) -> &[Value] {
    line.as_array()
        .map_or(std::slice::from_ref(line), Vec::as_slice)
}

fn is_message(said: &Value) -> bool {
    Message::parse(said.to_string().as_bytes()).is_ok()
}

fn is_answer(said: &Value) -> bool {
    said.get("method").is_none()
}
