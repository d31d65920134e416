//! The page beside a server in development.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_client::InProcess;
use pintle_model::Error;
use pintle_proto::Reply;
use pintle_runtime::sync::Mutex;
use pintle_runtime::{
    BoxConnect, BoxFuture, Context, IntoService, Service, StartHookError, delegate_to_inner,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::options::WebOptions;
use crate::target::{OneTarget, Target};
use crate::web::{Web, WebError};

/// Maximum time for the end of the page when the server stops.
const END_TIMEOUT: Duration = Duration::from_secs(5);

type Announce = dyn Fn(&str) + Send + Sync;

/// Adds the page to a server.
pub trait Inspect: IntoService + Sized {
    /// Serves the page beside the server, while the server runs. It is for development: a user with the URL of the
    /// page can do everything that a client can, without a sign-in.
    ///
    /// The page listens on a loopback address only, and each start has a new token. The URL is written to standard
    /// error. The page connects in this process, so that it shares the state of the server with other clients.
    ///
    /// If the page cannot listen, the reason is written to standard error, and the server runs without it.
    fn inspector(self) -> Inspector<Self> {
        Inspector {
            server: self,
            port: 0,
            options: WebOptions::default(),
            announce: Arc::new(write_url),
        }
    }
}

impl<T: IntoService> Inspect for T {}

/// A server with the page beside it: see [`Inspect::inspector`].
#[must_use = "a server does nothing until it is served"]
pub struct Inspector<T> {
    server: T,
    port: u16,
    options: WebOptions,
    announce: Arc<Announce>,
}

impl<T> Inspector<T> {
    /// Sets the port of the page on 127.0.0.1; default 0: any free port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Sets the limits of the page.
    pub fn options(mut self, options: WebOptions) -> Self {
        self.options = options;
        self
    }

    /// Passes the URL of the page to a function, in place of standard error. The URL has the token.
    pub fn on_open(mut self, announce: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.announce = Arc::new(announce);
        self
    }
}

impl<T: IntoService> IntoService for Inspector<T> {
    type Service = Inspected<T::Service>;
    type Error = T::Error;

    fn into_service(self) -> Result<Self::Service, Self::Error> {
        Ok(Inspected {
            inner: Beside {
                service: Arc::new(self.server.into_service()?),
                starts: AtomicUsize::new(0),
                page: Mutex::default(),
                port: self.port,
                options: self.options,
                announce: self.announce,
            },
        })
    }

    fn accept_state(&mut self, state: &dyn std::any::Any) -> bool {
        self.server.accept_state(state)
    }
}

/// The service of a server with the page beside it.
pub struct Inspected<S> {
    inner: Beside<S>,
}

/// A service that opens the page at its start. Other methods are those of the service.
struct Beside<S> {
    service: Arc<S>,
    /// Number of starts without their stop. The page exists while there is one.
    starts: AtomicUsize,
    page: Mutex<Option<Page>>,
    port: u16,
    options: WebOptions,
    announce: Arc<Announce>,
}

struct Page {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl<S: Service> Service for Inspected<S> {
    fn call(&self, cx: Context) -> impl Future<Output = Result<Reply, Error>> + Send {
        self.inner.service.call(cx)
    }

    // `start` and `stop` are the inherent ones of `Beside`, because they come before those of its target.
    delegate_to_inner!();
}

impl<S> Deref for Beside<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.service
    }
}

impl<S: Service> Beside<S> {
    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        Box::pin(async {
            self.service.start().await?;
            if self.starts.fetch_add(1, Ordering::SeqCst) == 0 {
                match self.open().await {
                    Ok(page) => *self.page.lock() = Some(page),
                    Err(error) => write(&format!("the page is not served: {error}")),
                }
            }
            Ok(())
        })
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let is_last = self.starts.fetch_sub(1, Ordering::SeqCst) == 1;
            let page = self.page.lock().take_if(|_| is_last);
            if let Some(page) = page {
                let _ = page.stop.send(());
                // The connection of the page is a start of the service, too, and ends first.
                let _ = timeout(END_TIMEOUT, page.serving).await;
            }
            self.service.stop().await;
        })
    }

    async fn open(&self) -> Result<Page, WebError> {
        let name = self.service.profile().identity().name.clone();
        let connect = BoxConnect::new(InProcess::new(Arc::clone(&self.service)));
        let target = OneTarget::from(Target::new(name, connect));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let web = Web::bind(address, target, self.options.clone()).await?;
        (self.announce)(&web.url());
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(web.serve(async {
            let _ = stopped.await;
        }));
        Ok(Page { stop, serving })
    }
}

fn write_url(url: &str) {
    write(&format!("the page of this server: {url}"));
}

fn write(text: &str) {
    // Only people read it; the server runs without.
    let _ = writeln!(io::stderr(), "{text}");
}
