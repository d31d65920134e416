//! Messages in HTTP requests and responses.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Uri};
use http_body_util::BodyExt as _;
use pintle_http::client::{HttpClient as _, HttpClientBody, WebClient};
use pintle_proto::frame::sse::Decoder;
use pintle_runtime::BoxFuture;
use tokio::time::{Instant, timeout, timeout_at};

use super::reply::{End, Reply};
use super::{Sending, Wait, Wire, answer_of_client};
use crate::options::CheckOptions;

/// How long a stream may take to end after the response.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// Requests to one endpoint.
pub(crate) struct HttpWire {
    client: WebClient,
    uri: Uri,
    headers: HeaderMap,
    max_bytes: usize,
}

impl HttpWire {
    pub(crate) fn new(
        client: WebClient,
        uri: Uri,
        headers: HeaderMap,
        options: &CheckOptions,
    ) -> Self {
        Self {
            client,
            uri,
            headers,
            max_bytes: options.max_message_bytes,
        }
    }

    async fn run(&mut self, sending: Sending, wait: Wait) -> Reply {
        let deadline = Instant::now() + sending.timeout;
        let head = sending.headers.clone();
        let request = self.request(sending);
        let response = match timeout_at(deadline, self.client.fetch(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return lost(&error),
            Err(_) => {
                return Reply {
                    end: End::TimedOut,
                    ..Reply::default()
                };
            }
        };
        let (parts, body) = response.into_parts();
        let mut reply = Reply {
            status: Some(parts.status.as_u16()),
            headers: parts.headers,
            ..Reply::default()
        };
        reply.is_stream = media_type(&reply) == "text/event-stream";
        match reply.is_stream {
            true => {
                self.read_stream(body, &mut reply, &wait, deadline, &head)
                    .await
            }
            false => self.read_whole(body, &mut reply, deadline).await,
        }
        reply
    }

    fn request(&self, sending: Sending) -> Request<Bytes> {
        let mut request = Request::new(Bytes::from(sending.body));
        *request.method_mut() = sending.method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        for (name, value) in sending.headers {
            request.headers_mut().append(name, value);
        }
        request
    }

    async fn read_whole(&self, mut body: HttpClientBody, reply: &mut Reply, deadline: Instant) {
        let mut bytes = Vec::new();
        loop {
            match timeout_at(deadline, body.frame()).await {
                Err(_) => return reply.end = End::TimedOut,
                Ok(None) => break,
                Ok(Some(Err(error))) => return reply.end = End::Lost(error.to_string()),
                Ok(Some(Ok(frame))) => {
                    bytes.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()))
                }
            }
            if bytes.len() > self.max_bytes {
                return reply.end = End::Lost("a body above the size limit".to_owned());
            }
        }
        reply.end = End::Ended;
        if !bytes.is_empty() {
            reply.add(&bytes);
        }
    }

    async fn read_stream(
        &self,
        mut body: HttpClientBody,
        reply: &mut Reply,
        wait: &Wait,
        deadline: Instant,
        head: &[(http::HeaderName, http::HeaderValue)],
    ) {
        let mut decoder = Decoder::new(self.max_bytes);
        while !is_enough(reply, wait) {
            match timeout_at(deadline, body.frame()).await {
                Err(_) => return reply.end = End::TimedOut,
                Ok(None) => {
                    reply.ended_after_answer = true;
                    return reply.end = End::Ended;
                }
                Ok(Some(Err(error))) => return reply.end = End::Lost(error.to_string()),
                Ok(Some(Ok(frame))) => {
                    let chunk = frame.into_data().unwrap_or_default();
                    if let Err(error) = self.events(&mut decoder, &chunk, reply, head) {
                        return reply.end = End::Lost(error);
                    }
                }
            }
        }
        if let Wait::Answer(_) = wait {
            let rest = async { while let Some(Ok(_)) = body.frame().await {} };
            reply.ended_after_answer = timeout(END_TIMEOUT, rest).await.is_ok();
        }
    }

    /// Adds the events of a piece of a stream, and posts answers to requests of the server.
    fn events(
        &self,
        decoder: &mut Decoder,
        mut chunk: &[u8],
        reply: &mut Reply,
        head: &[(http::HeaderName, http::HeaderValue)],
    ) -> Result<(), String> {
        while let Some(event) = decoder
            .decode(&mut chunk)
            .map_err(|error| error.to_string())?
        {
            reply.event_ids.extend(event.id.map(String::from));
            reply.add(&event.data);
            if let Some(answer) = reply.messages.last().and_then(answer_of_client) {
                let request = self.request(Sending {
                    method: http::Method::POST,
                    headers: head.to_vec(),
                    body: answer.to_string().into_bytes(),
                    timeout: END_TIMEOUT,
                });
                let client = self.client.clone();
                tokio::spawn(async move { client.fetch(request).await });
            }
        }
        Ok(())
    }
}

impl Wire for HttpWire {
    fn exchange(&mut self, sending: Sending, wait: Wait) -> BoxFuture<'_, Reply> {
        Box::pin(self.run(sending, wait))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, bool> {
        Box::pin(std::future::ready(true))
    }
}

fn is_enough(reply: &Reply, wait: &Wait) -> bool {
    match wait {
        Wait::Answer(id) => reply.answer(id).is_some(),
        Wait::Messages(count) => reply.messages.len() >= *count,
        Wait::Response => false,
    }
}

fn lost(error: &dyn std::error::Error) -> Reply {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    Reply {
        end: End::Lost(text),
        ..Reply::default()
    }
}

/// Returns the media type of a reply, without parameters and in lower case.
pub(crate) fn media_type(reply: &Reply) -> String {
    let value = reply.header("content-type").unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}
