//! A server behind links, over a pipe or over HTTP; it can be restarted.

use std::future::{Future, ready};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pintle::client::{Client, ClientBuilder, ConnectError};
use pintle::http::client::{
    BoxIo, Dialer, EndpointUrl, HttpClientOptions, HttpConnect, UrlOrigin, WebClient,
};
use pintle::http::{HttpOptions, HttpService};
use pintle::proto::TransportError;
use pintle::runtime::{BoxConnect, Connect, PipeOptions, StreamTransport, serve_pipe};
use pintle::server::App;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, split};
use tokio::task::JoinSet;
use tower_service::Service as _;

use super::link::link;
use super::weather::Weather;

/// How a server is reached. Closed: these are the bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Pipe,
    Http,
}

/// A server and everything between it and its clients. Clones are the same.
#[derive(Clone)]
pub(super) struct Net {
    pub(super) way: Way,
    pub(super) weather: Arc<Weather>,
    process: Arc<Mutex<Process>>,
}

/// One life of the server: its services and its running connections.
struct Process {
    app: Arc<App>,
    http: HttpService<Arc<App>>,
    pipes: PipeOptions,
    running: JoinSet<()>,
}

impl Process {
    fn new(app: App, pipes: PipeOptions) -> Self {
        let app = Arc::new(app);
        let mut options = HttpOptions::default();
        options.conversation_limits = Arc::clone(&pipes.limits);
        Self {
            http: HttpService::new(Arc::clone(&app), options),
            app,
            pipes,
            running: JoinSet::new(),
        }
    }

    fn serve(&mut self, way: Way, stream: DuplexStream) {
        while self.running.try_join_next().is_some() {}
        match way {
            Way::Pipe => {
                let (reader, writer) = split(stream);
                let (app, options) = (Arc::clone(&self.app), self.pipes.clone());
                self.running.spawn(async move {
                    // The clients report how the connection ended.
                    drop(serve_pipe(app, reader, writer, options).await);
                });
            }
            Way::Http => {
                let service = self.http.clone();
                self.running.spawn(async move {
                    let service = service_fn(move |request| service.clone().call(request));
                    let mut serving = http1::Builder::new();
                    serving.timer(TokioTimer::new());
                    // A client may vanish in the middle; the server has no fault then.
                    drop(
                        serving
                            .serve_connection(TokioIo::new(stream), service)
                            .await,
                    );
                });
            }
        }
    }
}

impl Net {
    pub(super) fn new(way: Way, app: App, pipes: PipeOptions, weather: Arc<Weather>) -> Self {
        Self {
            way,
            weather,
            process: Arc::new(Mutex::new(Process::new(app, pipes))),
        }
    }

    /// Ends the server at once, with all that runs for it, and starts another one.
    pub(super) fn restart(&self, app: App) {
        let mut process = self.process();
        let pipes = process.pipes.clone();
        process.http.close();
        *process = Process::new(app, pipes);
    }

    /// How many connections the server has.
    pub(super) fn connections(&self) -> usize {
        let mut process = self.process();
        while process.running.try_join_next().is_some() {}
        process.running.len()
    }

    /// Connects a client.
    pub(super) async fn connect(&self, client: ClientBuilder) -> Result<Client, ConnectError> {
        client.connect(self.target()).await
    }

    fn target(&self) -> BoxConnect {
        match self.way {
            Way::Pipe => BoxConnect::new(Piped(self.clone())),
            Way::Http => {
                let options = HttpClientOptions::default();
                let fetch = WebClient::over(self.clone(), &options);
                let url = EndpointUrl::parse("http://localhost/mcp").expect("a URL");
                let http = HttpConnect::over(fetch, url, &options);
                BoxConnect::new(http.expect("no header is set"))
            }
        }
    }

    fn open(&self) -> DuplexStream {
        let (client, server, carried) = link(&self.weather);
        self.process().serve(self.way, server);
        tokio::spawn(carried);
        client
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dialer for Net {
    fn dial(&self, _origin: &UrlOrigin) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send>> {
        Box::pin(ready(Ok(BoxIo::new(self.open()))))
    }
}

struct Piped(Net);

impl Connect for Piped {
    type Transport = StreamTransport<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let (reader, writer) = split(self.0.open());
        Ok(StreamTransport::new(reader, writer))
    }
}
