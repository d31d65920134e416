//! HTTP over the network: HTTP/1.1 and HTTP/2, TLS, proxies, a pool of connections.
//!
//! An HTTP/1.1 connection has no task: its current request drives it, and between requests it is in
//! the [`pool`]. An HTTP/2 connection is shared and has a task.

mod box_io;
mod connect;
mod http2;
mod link;
mod pool;
mod proxy;
mod tunnel;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use pintle_runtime::NetworkScope;

use crate::client::endpoint_url::UrlOrigin;
use crate::client::http_client::{HttpClient, HttpClientBody, HttpClientError};
use crate::client::options::HttpClientOptions;

use self::connect::Network;
use self::link::{Link, LinkError};
use self::pool::Pool;

pub use self::box_io::BoxIo;
pub use self::connect::Dialer;

/// Makes requests over the network and reuses its connections. Clones share them.
#[derive(Clone)]
pub struct WebClient {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Arc<Pool>,
    network: Network,
}

impl WebClient {
    /// Creates a client that connects with `options`.
    pub fn new(options: &HttpClientOptions) -> Self {
        Self::with(Network::new(options), options)
    }

    /// Creates a client whose connections `dial` opens: to a Unix socket, through a tunnel, in memory.
    /// It uses TLS for `https` URLs, and no proxy.
    pub fn over(dial: impl Dialer, options: &HttpClientOptions) -> Self {
        Self::with(Network::over(Arc::new(dial), options), options)
    }

    /// Creates a client that connects only to addresses in a network scope.
    pub(crate) fn within(reach: NetworkScope, options: &HttpClientOptions) -> Self {
        Self::with(Network::within_reach(reach, options), options)
    }

    fn with(network: Network, options: &HttpClientOptions) -> Self {
        let pool = Pool::new(&options.limits);
        let shared = Arc::new(Shared { pool, network });
        Self { shared }
    }
}

impl fmt::Debug for WebClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebClient")
    }
}

impl HttpClient for WebClient {
    // Boxed with its request, so that the futures around it are small.
    fn fetch(
        &self,
        mut request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<HttpClientBody>, HttpClientError>> + Send {
        Box::pin(async move {
            let Shared { pool, network } = &*self.shared;
            let uri = request.uri().clone();
            let failed = |failure: LinkError| failure.into_error(UrlOrigin::of(&uri));
            // An idle connection may have ended. A request that was not sent may be sent again.
            while let Some(kept) = pool.take(&uri) {
                match kept.send(request, pool).await {
                    Err(LinkError::Unsent(unsent, _)) => {
                        pool.forget(&uri);
                        request = *unsent;
                        *request.uri_mut() = uri.clone();
                    }
                    answered => return answered.map_err(failed),
                }
            }
            // Boxed, so that requests on open connections are not as large.
            let link: Link = Box::pin(network.connect(&UrlOrigin::of(&uri))).await?;
            pool.share(&link);
            link.send(request, pool).await.map_err(failed)
        })
    }
}
