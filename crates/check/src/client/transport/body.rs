//! Bodies of HTTP responses: a whole text, or events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

use super::super::script::Part;
use super::super::stage::Stage;

/// The body of a response.
pub(super) enum Answer {
    Whole(Option<Bytes>),
    Events(Events),
}

/// Messages as events.
pub(super) struct Events {
    first: Option<Part>,
    parts: Option<mpsc::Receiver<Part>>,
    stage: Arc<Stage>,
    /// Whether the events have unusual forms.
    is_unusual: bool,
    /// An idle stream, which the client ends.
    held: Option<mpsc::Sender<Part>>,
}

impl Events {
    pub(super) fn new(
        first: Option<Part>,
        parts: mpsc::Receiver<Part>,
        stage: &Arc<Stage>,
        is_unusual: bool,
    ) -> Self {
        Self {
            first,
            parts: Some(parts),
            stage: Arc::clone(stage),
            is_unusual,
            held: None,
        }
    }

    /// A stream without events.
    pub(super) fn idle(stage: &Arc<Stage>) -> Self {
        let (sender, parts) = mpsc::channel(1);
        let mut events = Self::new(None, parts, stage, false);
        events.held = Some(sender);
        events
    }

    fn encode(&mut self, part: Part) -> String {
        let text = match part {
            Part::Message(message) => message.to_string(),
            Part::Text(text) => text,
            Part::Status(_) => return String::new(),
            Part::Prime { event, retry } => {
                let text = format!("id: {event}\nretry: {}\ndata:\n\n", retry.as_millis());
                if let Some(parts) = self.parts.take() {
                    self.stage.store(event, parts);
                }
                return text;
            }
        };
        match self.is_unusual {
            false => format!(": pintle\nevent: message\ndata: {text}\n\n"),
            true => unusual(&text),
        }
    }
}

/// Returns an event behind comments, with an unknown field, CRLF, a field without a value, and data in two lines.
fn unusual(text: &str) -> String {
    // A line of data ends between two tokens.
    let data = match text.strip_prefix('{') {
        Some(rest) => format!("data:{{\r\ndata: {rest}\r\n"),
        None => format!("data:{text}\r\n"),
    };
    format!(":\r\n: comment\r\n\r\nunknown: field\r\nevent\r\n{data}\r\n")
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let events = match self.get_mut() {
            Self::Whole(bytes) => {
                return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))));
            }
            Self::Events(events) => events,
        };
        let part = match events.first.take() {
            Some(part) => Some(part),
            None => match &mut events.parts {
                None => None,
                Some(parts) => match parts.poll_recv(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(part) => part,
                },
            },
        };
        Poll::Ready(part.map(|part| Ok(Frame::data(Bytes::from(events.encode(part))))))
    }
}

#[cfg(test)]
mod tests {
    use pintle_proto::frame::sse::Decoder;

    #[test]
    fn an_event_of_unusual_form_has_its_message() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let bytes = super::unusual(message);
        let (mut decoder, mut chunk) = (Decoder::new(1 << 16), bytes.as_bytes());
        let event = decoder
            .decode(&mut chunk)
            .expect("valid")
            .expect("an event");
        let data = String::from_utf8_lossy(&event.data).replace('\n', "");
        assert_eq!(data, message);
    }
}
