use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_proto::{Connection, Limits};
use pintle_runtime::Conversation;
use tower_layer::Layer;

use super::*;
use crate::{Server, Tool};

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
    async fn call(&self, request: Incoming, cx: Context) -> Result<Reply, Error> {
        self.0.call(request, cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn attach(&self, outlet: Weak<dyn Outlet>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.attach(outlet);
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
    let conversation = Arc::new(Conversation::new(engine));
    app.attach(Arc::downgrade(&conversation) as Weak<dyn Outlet>);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    assert_eq!(
        format!("{:?}", app.changes()),
        "Changes { conversations: 1 }"
    );
}
