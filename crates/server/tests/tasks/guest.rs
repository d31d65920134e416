//! A client that somebody was authorized for: an engine without a transport.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_proto::{Connection, Event, Limits, PeerIdentity};
use pintle_runtime::{Context, EngineHandle, Extensions, Principal, Service, SharedEngine, run};
use pintle_server::App;
use serde_json::{Value, json};

use crate::tasks::peer::{MODERN, able};

pub(crate) struct Guest {
    app: Arc<App>,
    principal: Option<Principal>,
    conversation: Arc<SharedEngine>,
    last_id: i64,
    /// Messages that were not answers.
    pub(crate) notices: Vec<Value>,
}

impl Guest {
    /// A client of 2026-07-28; of nobody if `name` is empty.
    pub(crate) fn new(app: &App, name: &str) -> Self {
        let none: [&str; 0] = [];
        let principal = (!name.is_empty()).then(|| Principal::new(name, none));
        let id = principal.as_ref().map(Principal::id);
        let app = Arc::new(app.clone());
        let engine = Connection::server(app.profile(), Arc::new(Limits::default()))
            .with_peer(PeerIdentity::authorized(id));
        let conversation = Arc::new(SharedEngine::new(engine));
        let engine_handle: Arc<dyn EngineHandle> = Arc::clone(&conversation) as _;
        app.attach(Arc::downgrade(&engine_handle));
        Self {
            app,
            principal,
            conversation,
            last_id: 0,
            notices: Vec::new(),
        }
    }

    /// The same client, after a handshake in 2025-11-25.
    pub(crate) async fn core(app: &App, name: &str) -> Self {
        let mut guest = Self::new(app, name);
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": able(),
            "clientInfo": { "name": "t", "version": "1" } });
        guest.raw("initialize", params).await;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        guest.feed(&ready);
        guest
    }

    fn feed(&self, message: &Value) {
        let line = message.to_string();
        let message = Message::parse(line.as_bytes()).expect("a message");
        self.conversation
            .drive(|engine| engine.receive(Instant::now(), message));
    }

    /// Sends a request in 2026-07-28.
    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": able(),
        });
        self.raw(method, params).await
    }

    /// Makes a request as it is.
    pub(crate) async fn raw(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.feed(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        while let Some(event) = self.conversation.poll_event() {
            if let Event::Request(ticket, incoming) = event {
                let engine_handle: Arc<dyn EngineHandle> = Arc::clone(&self.conversation) as _;
                let principal = self.principal.clone();
                let cx = Context::with(incoming, engine_handle, principal, Extensions::new());
                run(Arc::clone(&self.app), ticket, cx).await;
            }
        }
        self.take_in();
        let at = self.notices.iter().position(|message| message["id"] == id);
        at.map_or(Value::Null, |at| self.notices.remove(at))
    }

    /// Takes in what was sent.
    pub(crate) fn take_in(&mut self) {
        while let Some(transmit) = self.conversation.poll_transmit() {
            let message = serde_json::from_slice(&transmit.frame.to_vec());
            self.notices.push(message.expect("JSON"));
        }
    }
}
