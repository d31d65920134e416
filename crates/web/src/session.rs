//! The connection of the page to one server.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_client::{Client, EraMode, ServerInfo};
use pintle_model::{Revision, Root, SubscriptionFilter};
use pintle_runtime::sync::Mutex;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::failure::Failure;
use crate::feed::Feed;
use crate::handlers;
use crate::observed::Observed;
use crate::options::WebOptions;
use crate::questions::Questions;
use crate::target::Target;

/// A client, with everything that ends with it.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) target: Target,
    roots: Mutex<Vec<Root>>,
    subscriptions: Mutex<BTreeMap<String, AbortHandle>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Session {
    /// Connects to a server, and observes the connection.
    ///
    /// # Errors
    ///
    /// A [`Failure`] if the server is not reachable, or if there is no common revision.
    pub(crate) async fn open(
        target: Target,
        revision: Option<Revision>,
        feed: &Arc<Feed>,
        questions: &Arc<Questions>,
        options: &WebOptions,
    ) -> Result<Arc<Self>, Failure> {
        let mut builder = handlers::register(target.client.clone(), feed, questions)
            .named_roots(target.roots.clone());
        if let Some(revision) = revision {
            builder = builder.mode(EraMode::Pinned(revision));
        }
        let connect = Observed {
            connect: target.connect.clone(),
            feed: Arc::clone(feed),
            max_message_bytes: options.max_message_bytes,
        };
        if let Some(output) = &target.output {
            output.attach(feed, options);
        }
        let client = builder.connect(connect).await.map_err(|error| {
            let failure = Failure::from(error);
            failure.with_sign_in(target.sign_in.as_deref())
        })?;
        let session = Arc::new(Self {
            client,
            roots: Mutex::new(target.roots.clone()),
            target,
            subscriptions: Mutex::default(),
            tasks: Mutex::default(),
        });
        session.spawn(watch_end(session.client.clone(), Arc::clone(feed)));
        session.spawn(watch_lists(session.client.clone()));
        Ok(session)
    }

    /// Connects to the same server once more, in the same revision. The page does not observe the connection.
    ///
    /// # Errors
    ///
    /// As [`Session::open`].
    pub(crate) async fn beside(&self) -> Result<Client, Failure> {
        let revision = self.client.server().map(|server| server.revision);
        let mut builder = self.target.client.clone();
        if let Some(revision) = revision {
            builder = builder.mode(EraMode::Pinned(revision));
        }
        Ok(builder.connect(self.target.connect.clone()).await?)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(task);
        self.tasks.lock().push(task.abort_handle());
    }

    /// Ends the subscriptions and the connection.
    pub(crate) async fn close(&self) {
        for (_, task) in std::mem::take(&mut *self.subscriptions.lock()) {
            task.abort();
        }
        for task in self.tasks.lock().drain(..) {
            task.abort();
        }
        self.client.close().await;
    }

    /// Subscribes to a resource. Its changes become events.
    ///
    /// # Errors
    ///
    /// A [`Failure`] of the server, or at the maximum number of subscriptions.
    pub(crate) async fn subscribe(&self, uri: &str, max: usize) -> Result<(), Failure> {
        let is_full = || {
            let subscriptions = self.subscriptions.lock();
            subscriptions.len() >= max && !subscriptions.contains_key(uri)
        };
        let full = || {
            let status = http::StatusCode::TOO_MANY_REQUESTS;
            Failure::new(status, format!("at most {max} resources are subscribed"))
        };
        if is_full() {
            return Err(full());
        }
        let mut subscription = self.client.subscribe(uri).await?;
        if is_full() {
            return Err(full());
        }
        // The handler of changes receives them; the subscription only has to be read.
        let task = tokio::spawn(async move { while subscription.next().await.is_some() {} });
        let earlier = self
            .subscriptions
            .lock()
            .insert(uri.to_owned(), task.abort_handle());
        if let Some(earlier) = earlier {
            earlier.abort();
        }
        Ok(())
    }

    /// Ends the subscription to a resource.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        if let Some(task) = self.subscriptions.lock().remove(uri) {
            task.abort();
        }
    }

    /// Replaces the roots.
    ///
    /// # Errors
    ///
    /// A [`Failure`] if one is not a `file://` URI.
    pub(crate) fn set_roots(&self, roots: Vec<Root>) -> Result<(), Failure> {
        self.client.set_roots(roots.clone())?;
        *self.roots.lock() = roots;
        Ok(())
    }

    /// Describes the connection for the page.
    pub(crate) fn shown(&self) -> Value {
        let subscriptions = self.subscriptions.lock();
        let uris: Vec<_> = subscriptions.keys().cloned().collect();
        json!({
            "label": self.target.label,
            "words": self.target.words,
            "url": self.target.url,
            "isConnected": self.client.is_connected(),
            "server": self.client.server().map(|info| server(&info)),
            "roots": *self.roots.lock(),
            "subscriptions": uris,
            "canJudge": self.target.judge.is_some(),
        })
    }
}

fn server(info: &ServerInfo) -> Value {
    json!({
        "revision": info.revision.as_str(),
        "isModern": Revision::modern().any(|revision| revision == info.revision),
        "capabilities": *info.capabilities,
        "identity": info.identity.as_deref(),
        "instructions": info.instructions,
        "supported": info.supported,
    })
}

/// Reports the end of the connection.
async fn watch_end(client: Client, feed: Arc<Feed>) {
    let error = client.disconnected().await;
    let failure = error.map(|error| Failure::of(&error));
    feed.add(&json!({ "type": "ended", "error": failure }));
}

/// Listens to changes of the lists, where the server reports them only to listeners.
async fn watch_lists(client: Client) {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    filter.prompts_list_changed = Some(true);
    filter.resources_list_changed = Some(true);
    // A server that reports no changes is complete without this.
    if let Ok(mut subscription) = client.listen(filter).await {
        while subscription.next().await.is_some() {}
    }
}
