//! A server behind HTTP, without a network.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::Body as _;
use http_body_util::Full;
use pintle::http::{HttpOptions, HttpService, ResponseBody};
use pintle::server::{App, Server, Tool};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tower_service::Service as _;

/// How long an answer is listened to, in virtual time; streams have no end of their own.
const LISTENING: Duration = Duration::from_secs(20);

/// Response to a request.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    /// How many calls of the tool began.
    pub(super) executed: u64,
}

struct Desk {
    runtime: Runtime,
    service: HttpService<App>,
    executed: Arc<AtomicU64>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::new(Desk::new());
}

/// Asks, and listens to the answer for a while.
pub(super) fn ask(request: Request<Bytes>) -> Answered {
    DESK.with_borrow_mut(|desk| desk.ask(request))
}

impl Desk {
    fn new() -> Self {
        let executed = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&executed);
        let add = Tool::new("add").handler(move || {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::ready("added")
        });
        let app = Server::new("desk", "1.0.0").add_tool(add).build();
        let mut options = HttpOptions::default();
        options.limits.max_sessions = 8;
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        Self {
            runtime: runtime.expect("a runtime"),
            service: HttpService::new(app.expect("a server"), options),
            executed,
        }
    }

    fn ask(&mut self, request: Request<Bytes>) -> Answered {
        let before = self.executed.load(Ordering::Relaxed);
        let Self {
            runtime, service, ..
        } = self;
        let (status, body) = runtime.block_on(async {
            let Ok(answer) = service.call(request.map(Full::new)).await;
            let (parts, mut body) = answer.into_parts();
            let mut heard = Vec::new();
            // A stream that goes on is left.
            let _ = timeout(LISTENING, hear(&mut body, &mut heard)).await;
            (parts.status, heard)
        });
        Answered {
            status,
            body,
            executed: self.executed.load(Ordering::Relaxed) - before,
        }
    }
}

async fn hear(body: &mut ResponseBody, heard: &mut Vec<u8>) {
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        if let Ok(frame) = frame
            && let Ok(data) = frame.into_data()
        {
            heard.extend_from_slice(&data);
        }
    }
}
