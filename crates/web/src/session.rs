//! The connection of the page to one server.

use std::sync::Arc;

use pintle_client::{Client, EraMode, ServerInfo};
use pintle_model::{Revision, Root, SubscriptionFilter};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{BoxConnect, BoxFuture};
use tokio::task::AbortHandle;

use crate::failure::Failure;
use crate::feed::Feed;
use crate::handlers;
use crate::object::Object;
use crate::observed::Observed;
use crate::options::WebOptions;
use crate::questions::Questions;
use crate::target::Target;

/// A client, with everything that ends with it.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) target: Target,
    roots: Mutex<Vec<Root>>,
    /// The subscribed resources, and the tasks that read their changes.
    subscriptions: Mutex<Vec<(String, AbortHandle)>>,
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
        let client = builder
            .connect(BoxConnect::new(connect))
            .await
            .map_err(|error| {
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
        let tasks = [
            watch_end(session.client.clone(), Arc::clone(feed)),
            watch_lists(session.client.clone()),
        ];
        *session.tasks.lock() = tasks.map(spawn).into();
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

    /// Ends the subscriptions and the connection.
    pub(crate) async fn close(&self) {
        for (_, task) in self.subscriptions.lock().drain(..) {
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
            subscriptions.len() >= max && !subscriptions.iter().any(|(other, _)| other == uri)
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
        let task = spawn(Box::pin(async move {
            while subscription.next().await.is_some() {}
        }));
        self.unsubscribe(uri);
        self.subscriptions.lock().push((uri.to_owned(), task));
        Ok(())
    }

    /// Ends the subscription to a resource.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.lock().retain(|(other, task)| {
            let is_other = other != uri;
            if !is_other {
                task.abort();
            }
            is_other
        });
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

    /// Describes the connection for the page, as JSON text.
    pub(crate) fn shown(&self) -> Vec<u8> {
        let target = &self.target;
        let mut shown = Object::new();
        shown.text("label", &target.label);
        shown.texts("words", &mut target.words.iter().map(String::as_str));
        shown.optional("url", target.url.as_deref());
        shown.flag("isConnected", self.client.is_connected());
        match self.client.server() {
            Some(info) => shown.raw("server", server(&info)),
            None => shown.null("server"),
        };
        let roots = self.roots.lock();
        let mut roots = roots.iter().map(|root| {
            let mut shown = Object::new();
            shown.text("uri", &root.uri);
            shown.optional("name", root.name.as_deref()).end()
        });
        shown.objects("roots", &mut roots);
        let subscriptions = self.subscriptions.lock();
        let mut uris = subscriptions.iter().map(|(uri, _)| uri.as_str());
        shown.texts("subscriptions", &mut uris);
        shown.flag("canJudge", target.judge.is_some()).end()
    }
}

fn server(info: &ServerInfo) -> Vec<u8> {
    let is_modern = Revision::modern().any(|revision| revision == info.revision);
    let mut shown = Object::new();
    shown.text("revision", info.revision.as_str());
    shown.flag("isModern", is_modern);
    shown.value("capabilities", &*info.capabilities);
    shown.value("identity", &info.identity.as_deref());
    shown.optional("instructions", info.instructions.as_deref());
    shown.texts("supported", &mut info.supported.iter().map(String::as_str));
    shown.end()
}

// One type of tasks: the runtime has code for each.
fn spawn(task: BoxFuture<'static, ()>) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}

/// Reports the end of the connection.
fn watch_end(client: Client, feed: Arc<Feed>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let error = client.disconnected().await;
        let mut event = Object::event("ended");
        feed.add(match error {
            Some(error) => event.raw("error", Failure::of(&error).shown()),
            None => event.null("error"),
        });
    })
}

/// Listens to changes of the lists, where the server reports them only to listeners.
fn watch_lists(client: Client) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        filter.prompts_list_changed = Some(true);
        filter.resources_list_changed = Some(true);
        // A server that reports no changes is complete without this.
        if let Ok(mut subscription) = client.listen(filter).await {
            while subscription.next().await.is_some() {}
        }
    })
}
