//! Reading a stream of events, bounded in size and in silence.

use std::pin::Pin;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body;
use pintle_proto::frame::sse::{Decoder, Event};
use tokio::time::timeout;

use crate::client::http_client::{HttpClientBody, HttpClientError};

/// The events in the body of an answer.
#[derive(Debug)]
pub(crate) struct Events {
    body: HttpClientBody,
    decoder: Decoder,
    /// Bytes that are not decoded yet.
    rest: Bytes,
    /// How long the server may be silent; `None` is without limit.
    pause: Option<Duration>,
    messages: u64,
}

/// Why a stream cannot be read any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// An event went past the limit.
    #[error("the server sent an event of more than {0} bytes")]
    TooLong(usize),
    /// The server was silent for too long.
    #[error("the server sent nothing for {0:?}")]
    Silent(Duration),
    /// The connection failed.
    #[error("the connection of the stream broke")]
    Broken(#[source] HttpClientError),
}

impl Events {
    /// Reads a stream that goes on after `last_id`.
    pub(crate) fn new(
        body: HttpClientBody,
        last_id: Option<&str>,
        event_bytes: usize,
        pause: Option<Duration>,
    ) -> Self {
        Self {
            body,
            decoder: Decoder::new(event_bytes).resuming(last_id),
            rest: Bytes::new(),
            pause,
            messages: 0,
        }
    }

    /// The next event that has data; none at the end of the stream.
    ///
    /// # Errors
    ///
    /// [`StreamError`], after which there is nothing more to read.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, StreamError> {
        loop {
            if let Some(event) = self.decode()? {
                self.messages += 1;
                return Ok(Some(event));
            }
            match self.piece().await? {
                Some(piece) => self.rest = piece,
                None => return Ok(None),
            }
        }
    }

    fn decode(&mut self) -> Result<Option<Event>, StreamError> {
        let mut unread = &self.rest[..];
        let decoded = self.decoder.decode(&mut unread);
        let read = self.rest.len() - unread.len();
        self.rest.advance(read);
        decoded.map_err(|too_long| StreamError::TooLong(too_long.limit))
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, StreamError> {
        let Self { body, pause, .. } = self;
        let next = next_piece(body);
        let piece = match *pause {
            Some(pause) => timeout(pause, next)
                .await
                .map_err(|_| StreamError::Silent(pause))?,
            None => next.await,
        };
        piece.map_err(StreamError::Broken)
    }

    /// Reads on to the end of the body, so that its connection can be used again; but not for
    /// long, and not much.
    pub(crate) async fn drain(mut self, wait: Duration) {
        let end = async {
            let mut left: usize = 64 << 10;
            while let Ok(Some(piece)) = next_piece(&mut self.body).await {
                left = left.saturating_sub(piece.len());
                if left == 0 {
                    return;
                }
            }
        };
        // Whatever is left after that is not worth a connection.
        let _ = timeout(wait, end).await;
    }

    /// The id to go on after.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.decoder.last_id()
    }

    /// The wait that the server asked for on this connection.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.decoder.retry()
    }

    /// How many events with data came.
    pub(crate) fn messages(&self) -> u64 {
        self.messages
    }
}

async fn next_piece(body: &mut HttpClientBody) -> Result<Option<Bytes>, HttpClientError> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        match frame {
            None => return Ok(None),
            Some(Err(error)) => return Err(error),
            // Trailers are ignored.
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
        }
    }
}

/// Whether an event carries a message. Others are for extensions that we do not know.
pub(crate) fn is_message(event: &Event) -> bool {
    matches!(event.name.as_deref(), None | Some("message"))
}
