//! A client that calls a tool it knows.

use pintle::client::{Client, EraMode};
use pintle::model::Revision;
use pintle::runtime::BoxConnect;
use serde::Serialize;

use crate::frugal::SAID;

pub(super) struct Caller(Client);

#[derive(Serialize)]
struct Echo {
    text: &'static str,
}

impl Caller {
    /// Connects and lists the tools, so that calls know the schemas and headers of the tool.
    pub(super) async fn connect(target: BoxConnect, revision: Revision) -> Self {
        let builder = Client::builder().mode(EraMode::Pinned(revision));
        let client = builder.connect(target).await.expect("a conversation");
        client.list_tools().await.expect("a list");
        Self(client)
    }

    pub(super) async fn call(&self) {
        let result = self.0.call_tool("echo", Echo { text: SAID }).await;
        assert_eq!(result.expect("a result").first_text(), Some(SAID));
    }
}
