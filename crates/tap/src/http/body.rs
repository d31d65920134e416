//! The body of a response, which the tap observes while it passes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pintle_http::client::{HttpClientBody, HttpClientError};

use crate::observer::Direction;
use crate::tap::Tap;

/// A body. Its end, or its drop, ends the stream of the tap.
#[derive(Debug)]
pub(super) struct TappedBody {
    body: HttpClientBody,
    stream: Option<OpenStream>,
}

/// A stream of the tap. Dropping it ends the stream.
#[derive(Debug)]
pub(super) struct OpenStream {
    pub(super) tap: Tap,
    pub(super) id: u64,
}

impl TappedBody {
    pub(super) fn new(body: HttpClientBody, stream: OpenStream) -> Self {
        let stream = Some(stream);
        Self { body, stream }
    }

    /// Creates a body of the tap itself, which is not observed.
    pub(super) fn own(text: &'static str) -> Self {
        Self {
            body: HttpClientBody::whole(text),
            stream: None,
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.tap.close(self.id);
    }
}

impl Body for TappedBody {
    type Data = Bytes;
    type Error = HttpClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpClientError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(stream) = &self.stream {
            match &frame {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        stream.tap.bytes(stream.id, Direction::ToClient, bytes);
                    }
                }
                Some(Err(error)) => stream
                    .tap
                    .note(&format!("#{} the response broke off: {error}", stream.id)),
                None => {}
            }
        }
        if !matches!(frame, Some(Ok(_))) {
            self.stream = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
