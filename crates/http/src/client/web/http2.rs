//! The limits of HTTP/2 connections.

use std::time::Duration;

use hyper::client::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// Bytes of one stream that the server sends before we read them.
const STREAM_WINDOW: u32 = 1 << 20;
/// Bytes of all streams of a connection that the server sends before we read them.
const CONNECTION_WINDOW: u32 = 4 << 20;
/// The silence before a ping, and the time for its answer.
const PING: Duration = Duration::from_secs(30);

/// Returns the settings of a connection, which pings its server while requests run.
pub(super) fn builder(max_header_bytes: usize) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(max_header_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING);
    builder
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;
    use http_body_util::Empty;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;

    const PREFACE: usize = 24;
    const SETTINGS: u8 = 4;
    const PING_FRAME: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;
    const ACK: u8 = 1;
    /// The window of a connection that was not enlarged (RFC 9113, section 6.9.2).
    const FIRST_WINDOW: u32 = 65_535;

    /// A server that reads single frames and answers none of them.
    struct Peer(DuplexStream);

    impl Peer {
        /// Sends empty settings and reads the preface of the client.
        async fn open(mut stream: DuplexStream) -> Self {
            let settings = [0, 0, 0, SETTINGS, 0, 0, 0, 0, 0];
            stream.write_all(&settings).await.expect("room");
            let mut preface = [0; PREFACE];
            stream.read_exact(&mut preface).await.expect("a preface");
            Self(stream)
        }

        /// Reads until a frame of this kind, without acknowledgements. Returns its payload.
        async fn next(&mut self, wanted: u8) -> Vec<u8> {
            loop {
                let mut head = [0; 9];
                self.0.read_exact(&mut head).await.expect("a frame");
                let [a, b, c, kind, flags, ..] = head;
                let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
                self.0.read_exact(&mut payload).await.expect("its payload");
                if kind == wanted && flags & ACK == 0 {
                    return payload;
                }
            }
        }
    }

    fn number(bytes: &[u8]) -> u32 {
        u32::from_be_bytes(bytes.try_into().expect("four bytes"))
    }

    /// Opens a connection and makes one request, which the peer does not answer.
    async fn request() -> (Peer, tokio::task::JoinHandle<Result<(), hyper::Error>>) {
        let (ours, theirs) = duplex(1 << 16);
        let call = tokio::spawn(async move {
            let (mut sender, driver) = builder(1 << 16).handshake(TokioIo::new(ours)).await?;
            let driver = tokio::spawn(driver);
            let request = Request::new(Empty::<Bytes>::new());
            let answer = sender.send_request(request).await;
            driver.abort();
            answer.map(|_| ())
        });
        (Peer::open(theirs).await, call)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_announces_the_windows_of_a_stream_and_of_a_connection() {
        let (mut peer, call) = request().await;
        let settings = peer.next(SETTINGS).await;
        let window = settings
            .chunks(6)
            .find(|setting| setting.starts_with(&[0, 4]));
        assert_eq!(number(&window.expect("a window")[2..]), 1 << 20);
        let more = number(&peer.next(WINDOW_UPDATE).await);
        assert_eq!(FIRST_WINDOW + more, 4 << 20);
        call.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_no_ping_loses_the_connection() {
        let begin = Instant::now();
        let (mut peer, call) = request().await;
        peer.next(PING_FRAME).await;
        assert_eq!(begin.elapsed().as_secs(), 30);
        assert!(call.await.expect("no panic").is_err());
        assert_eq!(begin.elapsed().as_secs(), 60);
    }
}
