//! The two forms of WebDriver: over HTTP, and the protocol of Firefox.
//!
//! Firefox has the commands of WebDriver with the same parameters, as JSON behind its length. So no program translates
//! between HTTP and Firefox.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A command that takes longer has failed.
const LATE: Duration = Duration::from_secs(90);

/// A session with a browser.
pub(crate) struct Wire {
    stream: BufStream<TcpStream>,
    form: Form,
}

enum Form {
    /// The id of the session.
    Http(String),
    /// The number of the last command.
    Marionette(u64),
}

/// A command of WebDriver, in both forms.
pub(crate) struct Request {
    method: &'static str,
    path: String,
    name: &'static str,
    params: Value,
}

impl Request {
    pub(crate) fn get(path: &str, name: &'static str) -> Self {
        Self {
            method: "GET",
            ..Self::post(path, name, json!({}))
        }
    }

    pub(crate) fn delete(path: &str, name: &'static str) -> Self {
        Self {
            method: "DELETE",
            ..Self::post(path, name, json!({}))
        }
    }

    pub(crate) fn post(path: &str, name: &'static str, params: Value) -> Self {
        Self {
            method: "POST",
            path: path.to_owned(),
            name,
            params,
        }
    }

    /// A command about an element, which `params` names as `id`.
    pub(crate) fn of_element(id: &str, path: &str, name: &'static str, mut params: Value) -> Self {
        params["id"] = id.into();
        Self::post(&format!("element/{id}/{path}"), name, params)
    }
}

impl Wire {
    pub(crate) async fn http(port: u16) -> Self {
        Self::connect(port, Form::Http(String::new())).await
    }

    pub(crate) async fn marionette(port: u16) -> Self {
        let mut wire = Self::connect(port, Form::Marionette(0)).await;
        wire.packet().await;
        wire
    }

    async fn connect(port: u16, form: Form) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await;
        let stream = BufStream::new(stream.expect("the browser listens"));
        Self { stream, form }
    }

    /// Begins the session.
    pub(crate) async fn begin(&mut self, capabilities: Value) {
        if let Form::Marionette(_) = self.form {
            self.call(
                "WebDriver:NewSession",
                json!({ "capabilities": capabilities }),
            )
            .await;
            return;
        }
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let begun = self
            .exchange("POST", "/session", &body)
            .await
            .expect("a session");
        let id = begun["sessionId"].as_str().expect("an id");
        self.form = Form::Http(format!("/session/{id}"));
    }

    /// Ends a session over HTTP.
    pub(crate) async fn end(&mut self) {
        if let Form::Http(session) = &self.form {
            let session = session.clone();
            let _ = self.exchange("DELETE", &session, &json!({})).await;
        }
    }

    /// Sends a command, and returns its result.
    ///
    /// # Panics
    ///
    /// If the browser returns an error.
    pub(crate) async fn send(&mut self, request: Request) -> Value {
        let name = request.name;
        let answer = self.try_send(request).await;
        answer.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) async fn try_send(&mut self, request: Request) -> Result<Value, Value> {
        match &self.form {
            Form::Http(session) => {
                let path = format!("{session}/{}", request.path);
                self.exchange(request.method, &path, &request.params).await
            }
            Form::Marionette(_) => {
                let name = format!("WebDriver:{}", request.name);
                self.try_call(&name, request.params).await
            }
        }
    }

    /// Sends a command of Firefox.
    pub(crate) async fn call(&mut self, name: &str, params: Value) -> Value {
        let answer = self.try_call(name, params).await;
        answer.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    async fn try_call(&mut self, name: &str, params: Value) -> Result<Value, Value> {
        let Form::Marionette(number) = &mut self.form else {
            panic!("{name} is a command of Firefox");
        };
        *number += 1;
        let text = json!([0, number, name, params]).to_string();
        self.write(&format!("{}:{text}", text.len())).await;
        let mut answer = self.packet().await;
        match answer[2].take() {
            Value::Null => Ok(unwrapped(answer[3].take())),
            error => Err(error["message"].clone()),
        }
    }

    async fn packet(&mut self) -> Value {
        let mut length = Vec::new();
        let read = timeout(LATE, self.stream.read_until(b':', &mut length)).await;
        read.expect("the browser answers in time").expect("bytes");
        length.pop();
        let length = String::from_utf8(length).expect("digits");
        self.body(length.parse().expect("a length")).await
    }

    async fn exchange(&mut self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.write(&(head + &body)).await;
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = timeout(LATE, self.stream.read_line(&mut line)).await;
            read.expect("the driver answers in time").expect("a line");
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(number) = line.strip_prefix("content-length:") {
                length = number.trim().parse().expect("a length");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = self.body(length).await;
        match answer["value"].take() {
            error if error["error"].is_string() => Err(error["message"].clone()),
            value => Ok(value),
        }
    }

    async fn write(&mut self, text: &str) {
        let written = self.stream.write_all(text.as_bytes()).await;
        written.expect("the browser reads");
        self.stream.flush().await.expect("the browser reads");
    }

    async fn body(&mut self, length: usize) -> Value {
        let mut bytes = vec![0; length];
        let read = self.stream.read_exact(&mut bytes).await;
        read.expect("a whole answer");
        serde_json::from_slice(&bytes).expect("JSON")
    }
}

/// Most results of Firefox are the member `value` of an object.
fn unwrapped(mut result: Value) -> Value {
    match result.as_object() {
        Some(members) if members.len() == 1 && members.contains_key("value") => {
            result["value"].take()
        }
        _ => result,
    }
}
