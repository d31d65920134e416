//! The user of the transport: a driven engine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_http::client::{Dialer, EndpointUrl, HttpClientOptions, HttpConnect, WebClient};
use pintle_model::{ClientCapabilities, Implementation, JsonObject, Revision};
use pintle_proto::{
    Connection, Event, NewCall, PeerCallError, Rendered, Reply, Timeouts, TransportError,
    TransportErrorKind,
};
use pintle_runtime::{Connect, Peer, PeerCall, drive};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

pub(crate) const URL: &str = "http://127.0.0.1:8000/mcp";

/// A client in a conversation.
pub(crate) struct User {
    pub(crate) peer: Peer,
    pub(crate) driver: JoinHandle<Result<(), TransportError>>,
    /// The methods of notices and requests that came.
    pub(crate) received: Arc<Mutex<Vec<String>>>,
}

pub(crate) type Outcome = Result<Box<RawValue>, PeerCallError>;

/// A client of the server behind `dial`.
pub(crate) async fn user(dial: impl Dialer) -> User {
    user_with(dial, &HttpClientOptions::default()).await
}

pub(crate) async fn user_with(dial: impl Dialer, options: &HttpClientOptions) -> User {
    user_at(URL, WebClient::over(dial, options), options).await
}

pub(crate) async fn user_at(url: &str, fetch: WebClient, options: &HttpClientOptions) -> User {
    let url = EndpointUrl::parse(url).expect("a URL");
    let connect = HttpConnect::over(fetch, url, options).expect("no reserved header");
    let transport = connect.connect().await.expect("nothing to do yet");
    let capabilities: ClientCapabilities =
        serde_json::from_str(r#"{"roots":{}}"#).expect("capabilities");
    let engine = Connection::client(
        Implementation::new("user", "0"),
        capabilities,
        Arc::default(),
    );
    let peer = Peer::new(engine);
    let received = Arc::<Mutex<Vec<String>>>::default();
    let (own, received_log) = (peer.clone(), Arc::clone(&received));
    let driver = tokio::spawn(async move {
        let answers = own.clone();
        drive(own, transport, move |event| {
            record(&answers, &received_log, event)
        })
        .await
    });
    User {
        peer,
        driver,
        received,
    }
}

/// Records the messages of the server, and answers its questions with minimal results.
fn record(peer: &Peer, received: &Mutex<Vec<String>>, event: Event) {
    let mut received = received.lock().expect("no panic");
    match event {
        Event::Notification(notified) => received.push(notified.method.as_str().to_owned()),
        Event::Request(ticket, incoming) => {
            received.push(incoming.method.as_str().to_owned());
            let roots = Rendered::from_object(r#"{"roots":[]}"#.into(), None);
            peer.with_engine_mut(|engine| engine.answer(ticket, Ok(Reply::Complete(roots))));
        }
        _ => {}
    }
}

impl User {
    /// Opens a session.
    pub(crate) async fn shake_hands(&self, revision: Revision) -> Outcome {
        let call = self
            .peer
            .open(|engine, now| engine.initialize(now, revision));
        call.expect("it is open").outcome().await
    }

    /// A client in a session with the server behind `dial`.
    pub(crate) async fn in_session(dial: impl Dialer) -> Self {
        let user = user(dial).await;
        user.shake_hands(Revision::LATEST_LEGACY)
            .await
            .expect("a welcome");
        user
    }

    /// A client that speaks the latest revision to the server behind `dial`.
    pub(crate) async fn modern(dial: impl Dialer) -> Self {
        let user = user(dial).await;
        user.peer
            .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
        user
    }

    pub(crate) async fn discover(&self) -> Outcome {
        let timeouts = Timeouts::new(Duration::from_secs(10), Duration::from_secs(10));
        let call = self
            .peer
            .open(|engine, now| engine.discover(now, Revision::LATEST, timeouts));
        call.expect("it is open").outcome().await
    }

    pub(crate) fn call(&self, method: &str, params: Value) -> PeerCall {
        self.call_with(method, params, None)
    }

    pub(crate) fn call_with(
        &self,
        method: &str,
        params: Value,
        timeouts: Option<Duration>,
    ) -> PeerCall {
        let Value::Object(params) = params else {
            panic!("parameters are an object");
        };
        let params: JsonObject = params;
        let mut call = NewCall::new(method, params);
        call.timeouts = timeouts.map(|time| Timeouts::new(time, time));
        self.peer.call(call).expect("it may be called")
    }

    /// Lists tools: the smallest call.
    pub(crate) async fn list(&self) -> Outcome {
        self.call("tools/list", serde_json::json!({}))
            .outcome()
            .await
    }

    /// Ends the conversation in good order.
    pub(crate) async fn close(self) -> Result<(), TransportError> {
        self.peer.close();
        self.driver.await.expect("no panic")
    }

    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().expect("no panic").clone()
    }
}

/// The transport error of a call.
pub(crate) fn loss(outcome: &Outcome) -> TransportErrorKind {
    match outcome {
        Err(PeerCallError::Lost(error)) => error.kind(),
        other => panic!("not lost: {other:?}"),
    }
}

/// The code of the error a call was answered with.
pub(crate) fn code(outcome: &Outcome) -> i64 {
    match outcome {
        Err(PeerCallError::Answered(error)) => error.code.0,
        other => panic!("not an error of the server: {other:?}"),
    }
}
