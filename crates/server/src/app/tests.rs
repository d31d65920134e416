use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_proto::{Connection, Limits};
use pintle_runtime::SharedEngine;
use tower_layer::Layer;

use super::*;
use crate::testing::context;
use crate::{Next, Server, Tool};

/// A layer that counts conversations, and says that tools repeat nothing in headers.
struct Doorman(Arc<AtomicUsize>);

struct Guarded(BoxService, Arc<AtomicUsize>);

impl Layer<BoxService> for Doorman {
    type Service = Guarded;

    fn layer(&self, inner: BoxService) -> Guarded {
        Guarded(inner, Arc::clone(&self.0))
    }
}

impl Service for Guarded {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.call(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn attach(&self, engine_handle: Weak<dyn EngineHandle>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.attach(engine_handle);
    }
}

#[test]
fn layers_go_around_everything_a_service_does() {
    let seen = Arc::new(AtomicUsize::new(0));
    let app = Server::new("door", "1")
        .add_tool(Tool::new("ring").handler(async || "ding"))
        .layer(Doorman(Arc::clone(&seen)))
        .build()
        .expect("starts");
    let engine = Connection::server(app.profile(), Arc::new(Limits::default()));
    let conversation = Arc::new(SharedEngine::new(engine));
    app.attach(Arc::downgrade(&conversation) as Weak<dyn EngineHandle>);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    assert_eq!(
        format!("{:?}", app.changes()),
        "Changes { conversations: 1 }"
    );
}

/// A layer that notes its name when a request enters it.
struct Named(&'static str, Arc<Mutex<Vec<&'static str>>>);

struct Noting(BoxService, &'static str, Arc<Mutex<Vec<&'static str>>>);

impl Layer<BoxService> for Named {
    type Service = Noting;

    fn layer(&self, inner: BoxService) -> Noting {
        Noting(inner, self.0, Arc::clone(&self.1))
    }
}

impl Service for Noting {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.2.lock().expect("not poisoned").push(self.1);
        self.0.call(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }
}

#[tokio::test]
async fn the_first_layer_is_the_outermost_of_both_kinds() {
    let entered = Arc::new(Mutex::new(Vec::new()));
    let named = |name| Named(name, Arc::clone(&entered));
    let typed = |name| {
        let entered = Arc::clone(&entered);
        move |request, next: Next<_, _>| {
            entered.lock().expect("not poisoned").push(name);
            next.run(request)
        }
    };
    let app = Server::new("s", "1")
        .add_tool(Tool::new("test").handler(async || "done"))
        .on_tool_call(typed("first of calls"))
        .layer(named("first"))
        .layer(named("second"))
        .on_tool_call(typed("second of calls"))
        .build()
        .expect("starts");
    app.call(context()).await.expect("answers");
    let expected = ["first", "second", "first of calls", "second of calls"];
    assert_eq!(*entered.lock().expect("not poisoned"), expected);
}

// Memory above 1,032 bytes does not come from the cache of the thread, so it is slow to allocate.
#[test]
fn the_future_of_a_call_is_small() {
    let app = Server::new("s", "1")
        .add_tool(Tool::new("echo").handler(async || "text"))
        .build()
        .expect("starts");
    let size = size_of_val(&pintle_runtime::answer_of(&app, context()));
    assert!(size <= 960, "{size}");
}
