//! Requests to a replica, and the messages of its responses.

use std::sync::Arc;

use http::Request;
use http_body_util::BodyExt as _;
use pintle::http::ResponseBody;
use serde_json::Value;

use super::client::Ended;
use super::replica::{Replica, Replicas};

/// A response that is being read.
pub(super) struct Exchange {
    replica: Arc<Replica>,
    pub(super) status: u16,
    pub(super) session: Option<String>,
    /// The id of the last event.
    pub(super) event: Option<String>,
    body: ResponseBody,
    text: String,
}

/// Sends a request to a replica.
pub(super) async fn send(
    replica: &Arc<Replica>,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Exchange, Ended> {
    let mut request = Request::builder()
        .method(method)
        .uri("http://localhost/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header(
            "accept",
            match method {
                "GET" => "text/event-stream",
                _ => "application/json, text/event-stream",
            },
        );
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).expect("a request");
    let response = replica.send(request).await.ok_or(Ended::Killed)?;
    let session = response.headers().get("mcp-session-id");
    Ok(Exchange {
        replica: Arc::clone(replica),
        status: response.status().as_u16(),
        session: session.map(|id| id.to_str().expect("visible").to_owned()),
        event: None,
        body: response.into_body(),
        text: String::new(),
    })
}

impl Exchange {
    /// Reads the next message: an event of a stream, or the JSON body.
    pub(super) async fn message(&mut self, replicas: &Replicas) -> Result<Value, Ended> {
        if self.status != 200 {
            return Err(Ended::Status(self.status));
        }
        loop {
            let text = self.data().await?;
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message.get("method").is_some() {
                return Ok(message);
            }
            if let Some(response) = replicas.swapped.pass(replicas.plant, message) {
                return Ok(response);
            }
        }
    }

    async fn data(&mut self) -> Result<String, Ended> {
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let data = line.strip_prefix("data: ").unwrap_or_default().to_owned();
                if let Some(event) = line.strip_prefix("id: ") {
                    self.event = Some(event.to_owned());
                }
                self.text = rest.to_owned();
                if !data.is_empty() {
                    return Ok(data);
                }
                continue;
            }
            let frame = self.replica.unless_killed(self.body.frame()).await;
            let frame = frame.ok_or(Ended::Killed)?.ok_or(Ended::Cut)?;
            let data = frame.expect("never fails").into_data().expect("data");
            self.text += std::str::from_utf8(&data).expect("text");
            if self.text.starts_with('{') {
                return Ok(std::mem::take(&mut self.text));
            }
        }
    }
}
