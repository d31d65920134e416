//! The one reading of a body: each message is parsed once, also if its requests count.

use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_model::{Error, RequestId};
use pintle_proto::Batch;

/// A body that is one message, or something else.
// Boxed, because almost all bodies are one message.
pub(in crate::server) type Reading<'b> = Result<Message<'b>, Box<Unread<'b>>>;

/// A body that is not one message.
pub(in crate::server) struct Unread<'b> {
    pub(in crate::server) malformed: InvalidMessage,
    /// `None` if the body is not an array.
    pub(in crate::server) batch: Option<Result<ReadBatch<'b>, Error>>,
}

/// The messages of a batch, each with its text.
pub(in crate::server) struct ReadBatch<'b> {
    pub(in crate::server) texts: Vec<&'b str>,
    pub(in crate::server) messages: Vec<Result<Message<'b>, InvalidMessage>>,
}

/// Reads a body whose messages have at most `values` values each.
#[inline]
pub(in crate::server) fn read(bytes: &[u8], values: usize) -> Reading<'_> {
    Message::parse_within(bytes, values).map_err(|malformed| unread(bytes, values, malformed))
}

fn unread(bytes: &[u8], values: usize, malformed: InvalidMessage) -> Box<Unread<'_>> {
    let batch = Batch::read(bytes, values);
    let batch = batch.map(|batch| {
        let (texts, messages) = batch?.entries().unzip();
        Ok(ReadBatch { texts, messages })
    });
    Box::new(Unread { malformed, batch })
}

/// Returns the number of requests in a body, and the id of a single one. A body that is not valid counts as one.
pub(super) fn requests_of(reading: &Reading<'_>) -> (u64, Option<RequestId>) {
    match reading {
        Ok(Message::Request(request)) => (1, Some(request.id.clone())),
        Ok(_) => (0, None),
        Err(unread) => match &unread.batch {
            Some(Ok(batch)) => {
                let messages = batch.messages.iter();
                let counted =
                    messages.filter(|message| matches!(message, Err(_) | Ok(Message::Request(_))));
                (counted.count() as u64, None)
            }
            _ => (1, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_and_other_messages_do_not() {
        let (request, notice) = (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, NOTICE);
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let batch = format!("[{request},{notice},{answer},{request},7]");
        let silent = format!("[{notice},{answer}]");
        for (body, expected) in [
            (request, 1),
            (notice, 0),
            (answer, 0),
            (&batch, 3),
            (&silent, 0),
            ("{", 1),
            ("[]", 1),
        ] {
            let reading = read(body.as_bytes(), 1_000);
            assert_eq!(requests_of(&reading).0, expected, "{body}");
        }
    }

    const NOTICE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
}
