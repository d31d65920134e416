//! The paths that have budgets: from bytes to bytes at a server, from a caller's arguments to a
//! typed result at a client.
//!
//! The code around a path allocates nothing and costs next to nothing. Requests are built before,
//! and of an answer only the length and the beginning are checked. Servers are called without
//! sockets. Clients call over sockets, because they have no other input; [`crate::frugal`] answers.

mod bridged;
mod called;
mod served;
mod started;

use pintle::client::Tcp;
use pintle::http::client::HttpConnect;
use pintle::model::jsonrpc::{Message, write_response};
use pintle::model::{CallToolResult, RequestId, Revision};
use pintle::runtime::BoxConnect;
use tokio::runtime::{Builder, Runtime};

use crate::frugal::Wire;
use called::Caller;
use served::{Ask, HttpPeer, PipePeer};

macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)+) => {
        /// A path that has a budget.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Path { $($(#[$doc])* $name,)+ }

        impl Path {
            /// All paths, in the order of `budgets.txt`.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$name),+];

            /// Returns the name of the path.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }
    };
}

paths! {
    /// The text of a call becomes a message.
    Parse = "parse",
    /// A small result becomes the text of a response.
    Encode = "encode",
    /// The start of a server with a hundred tools of one type, its first list, and its end.
    Start100Tools = "start-100-tools",
    /// A small call on a pipe, after a handshake.
    StdioCall2025 = "stdio-call-2025",
    /// A small call on a pipe.
    StdioCall2026 = "stdio-call-2026",
    /// A list of a hundred tools on a pipe.
    StdioList = "stdio-list",
    /// A result of 64 KiB on a pipe.
    StdioText64k = "stdio-text-64k",
    /// A result of 1 MiB on a pipe.
    StdioText1m = "stdio-text-1m",
    /// A call on a pipe with a hundred progress notices.
    StdioProgress = "stdio-progress",
    /// A small call over HTTP that states its own terms.
    HttpCall = "http-call",
    /// A small call over HTTP in a session.
    SessionCall = "session-call",
    /// A list of a hundred tools over HTTP.
    HttpList = "http-list",
    /// A result of 64 KiB over HTTP.
    HttpText64k = "http-text-64k",
    /// A result of 1 MiB over HTTP.
    HttpText1m = "http-text-1m",
    /// A picture of 1 MiB over HTTP.
    HttpImage1m = "http-image-1m",
    /// A call over HTTP with a hundred progress notices, on its own terms.
    HttpProgress = "http-progress",
    /// A call over HTTP in a session with a hundred progress notices.
    SessionProgress = "session-progress",
    /// A small call of a client on a pipe, after a handshake.
    ClientPipe2025 = "client-pipe-2025",
    /// A small call of a client on a pipe.
    ClientPipe2026 = "client-pipe-2026",
    /// A small call of a client over HTTP in a session, hyper's own part included.
    ClientHttp2025 = "client-http-2025",
    /// A small call of a client over HTTP, hyper's own part included.
    ClientHttp2026 = "client-http-2026",
    /// A small call through a proxy from pipe to pipe, after handshakes.
    BridgePipe2025 = "bridge-pipe-2025",
    /// A small call through a proxy from pipe to pipe.
    BridgePipe2026 = "bridge-pipe-2026",
}

/// Runs a path `steps` times to warm up, and as often again in the closure for `measure`. `measure`
/// must call that closure once. `frugal` returns the address of a frugal server.
///
/// # Panics
///
/// If anything is not as it should be.
pub fn walk(
    path: Path,
    steps: usize,
    frugal: &dyn Fn(Wire) -> String,
    measure: impl FnOnce(&mut dyn FnMut()),
) {
    let walk = Walk { steps };
    match path {
        Path::Parse => walk.parse(measure),
        Path::Encode => walk.encode(measure),
        Path::Start100Tools => walk.start(Revision::V2026_07_28, measure),
        Path::StdioCall2025 => walk.pipe(Ask::CALL, Revision::V2025_11_25, measure),
        Path::StdioCall2026 => walk.pipe(Ask::CALL, Revision::V2026_07_28, measure),
        Path::StdioList => walk.pipe(Ask::LIST, Revision::V2026_07_28, measure),
        Path::StdioText64k => walk.pipe(Ask::TEXT_64K, Revision::V2026_07_28, measure),
        Path::StdioText1m => walk.pipe(Ask::TEXT_1M, Revision::V2026_07_28, measure),
        Path::StdioProgress => walk.pipe(Ask::PROGRESS, Revision::V2026_07_28, measure),
        Path::HttpCall => walk.http(Ask::CALL, Revision::V2026_07_28, measure),
        Path::SessionCall => walk.http(Ask::CALL, Revision::V2025_11_25, measure),
        Path::HttpList => walk.http(Ask::LIST, Revision::V2026_07_28, measure),
        Path::HttpText64k => walk.http(Ask::TEXT_64K, Revision::V2026_07_28, measure),
        Path::HttpText1m => walk.http(Ask::TEXT_1M, Revision::V2026_07_28, measure),
        Path::HttpImage1m => walk.http(Ask::IMAGE_1M, Revision::V2026_07_28, measure),
        Path::HttpProgress => walk.http(Ask::PROGRESS, Revision::V2026_07_28, measure),
        Path::SessionProgress => walk.http(Ask::PROGRESS, Revision::V2025_11_25, measure),
        Path::ClientPipe2025 => walk.client(pipe(frugal), Revision::V2025_11_25, measure),
        Path::ClientPipe2026 => walk.client(pipe(frugal), Revision::V2026_07_28, measure),
        Path::ClientHttp2025 => walk.client(http(frugal), Revision::V2025_11_25, measure),
        Path::ClientHttp2026 => walk.client(http(frugal), Revision::V2026_07_28, measure),
        Path::BridgePipe2025 => walk.bridge(frugal, Revision::V2025_11_25, measure),
        Path::BridgePipe2026 => walk.bridge(frugal, Revision::V2026_07_28, measure),
    }
}

fn pipe(frugal: &dyn Fn(Wire) -> String) -> BoxConnect {
    BoxConnect::new(Tcp::new(frugal(Wire::Lines)))
}

fn http(frugal: &dyn Fn(Wire) -> String) -> BoxConnect {
    let url = format!("http://{}/mcp", frugal(Wire::Http));
    BoxConnect::new(HttpConnect::to(&url).expect("a URL"))
}

struct Walk {
    steps: usize,
}

impl Walk {
    fn parse(&self, measure: impl FnOnce(&mut dyn FnMut())) {
        let text = Ask::CALL.message(Revision::V2026_07_28);
        self.twice(measure, || {
            let message = Message::parse(std::hint::black_box(text.as_bytes()));
            assert!(matches!(message, Ok(Message::Request(_))));
        });
    }

    fn encode(&self, measure: impl FnOnce(&mut dyn FnMut())) {
        let (id, result) = (RequestId::from(1), CallToolResult::text("hello"));
        let mut text = Vec::with_capacity(1 << 10);
        self.twice(measure, || {
            text.clear();
            write_response(&mut text, &id, std::hint::black_box(&result));
            assert!(text.ends_with(b"\"}]}}"));
        });
    }

    fn start(&self, revision: Revision, measure: impl FnOnce(&mut dyn FnMut())) {
        let (runtime, request) = (runtime(), Ask::LIST.message(revision) + "\n");
        self.twice_async(&runtime, measure, async || {
            started::list_once(revision, &request).await;
        });
    }

    fn pipe(&self, ask: Ask, revision: Revision, measure: impl FnOnce(&mut dyn FnMut())) {
        let (runtime, request) = (runtime(), ask.message(revision) + "\n");
        let mut peer = runtime.block_on(PipePeer::connect(revision));
        self.twice_async(&runtime, measure, async || {
            peer.round_trip(&request, ask.least).await;
        });
    }

    fn http(&self, ask: Ask, revision: Revision, measure: impl FnOnce(&mut dyn FnMut())) {
        let runtime = runtime();
        let mut peer = runtime.block_on(HttpPeer::connect(revision));
        let mut requests = peer.prepare(ask, revision, 2 * self.steps);
        self.twice_async(&runtime, measure, async || {
            let request = requests.pop().expect("enough requests");
            peer.exchange(request, ask.least).await;
        });
    }

    fn client(
        &self,
        target: BoxConnect,
        revision: Revision,
        measure: impl FnOnce(&mut dyn FnMut()),
    ) {
        let runtime = runtime();
        let caller = runtime.block_on(Caller::connect(target, revision));
        self.twice_async(&runtime, measure, async || caller.call().await);
    }

    fn bridge(
        &self,
        frugal: &dyn Fn(Wire) -> String,
        revision: Revision,
        measure: impl FnOnce(&mut dyn FnMut()),
    ) {
        let (runtime, request) = (runtime(), Ask::CALL.message(revision) + "\n");
        let mut peer = runtime.block_on(async {
            let proxy = bridged::proxy(frugal(Wire::Lines), revision).await;
            PipePeer::of(proxy, revision).await
        });
        self.twice_async(&runtime, measure, async || {
            peer.round_trip(&request, Ask::CALL.least).await;
        });
    }

    fn twice(&self, measure: impl FnOnce(&mut dyn FnMut()), mut step: impl FnMut()) {
        let mut steps = || (0..self.steps).for_each(|_| step());
        steps();
        measure(&mut steps);
    }

    fn twice_async<F: AsyncFnMut()>(
        &self,
        runtime: &Runtime,
        measure: impl FnOnce(&mut dyn FnMut()),
        mut step: F,
    ) {
        let mut steps = || {
            runtime.block_on(async {
                for _ in 0..self.steps {
                    step().await;
                }
            });
        };
        steps();
        measure(&mut steps);
    }
}

fn runtime() -> Runtime {
    let built = Builder::new_current_thread().enable_all().build();
    built.expect("a runtime")
}
