//! The Streamable HTTP binding of MCP: every revision on one path. This page is about servers; the
//! client's side is in the module `client`, behind the feature of that name.
//!
//! [`ServeHttp::into_http`] makes a tower service of a server, to be mounted in any router;
//! [`ServeHttp::serve_http`] puts it on a port.
//!
//! - Since 2026-07-28 every request stands alone. Engine and handler live inside the response: no
//!   task, no channel; a client that goes away drops the handler.
//! - From 2025-03-26 to 2025-11-25 `initialize` opens a session, which lives until it is deleted or
//!   idle for too long. A client that goes away cancels nothing. [`LegacyMode`] chooses otherwise.
//! - Clients of 2024-11-05 open a stream and post beside it; that is the feature `sse`.
//! - A reply is JSON when the answer comes first, and a stream of events otherwise.
//! - A handler finds the head of its request as `cx.extension::<http::request::Parts>()`. A layer in
//!   front that authorizes puts a [`Principal`](pintle_runtime::Principal) into the request's
//!   extensions; sessions belong to it, and handlers find it as `cx.principal()`. A request for what
//!   needs more scopes than it has is answered 403, and names them.
//! - Safe as shipped: loopback names only ([`HostPolicy`]), JSON bodies only, every size, queue and
//!   wait bounded ([`HttpLimits`]).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
#[cfg(feature = "client")]
pub mod client;
mod rules;
mod server;

use std::future::Future;

use pintle_runtime::IntoService;
use tokio::net::ToSocketAddrs;

pub use rules::classify::LegacyMode;
pub use rules::origin::{HostPatternError, HostPolicy};
pub use rules::param_headers::{HeaderAnnotationError, param_headers};
pub use rules::trusted_proxies::{TrustedProxies, TrustedProxyError};
#[cfg(feature = "sse")]
pub use server::SseService;
pub use server::{
    AnswerFuture, ClientAddress, Health, HttpLimits, HttpOptions, HttpServer, HttpService,
    ResponseBody, ServeError, Site,
};

/// Serving over HTTP whatever can be made into a service.
pub trait ServeHttp: IntoService + Sized + Send {
    /// Makes a tower service, with the default options.
    ///
    /// # Errors
    ///
    /// Whatever the server's author got wrong.
    fn into_http(self) -> Result<HttpService<Self::Service>, Self::Error> {
        self.into_http_with(HttpOptions::default())
    }

    /// Makes a tower service. `options` are [`HttpOptions`], or a [`HostPolicy`] alone.
    ///
    /// # Errors
    ///
    /// Whatever the server's author got wrong.
    fn into_http_with(
        self,
        options: impl Into<HttpOptions>,
    ) -> Result<HttpService<Self::Service>, Self::Error> {
        Ok(HttpService::new(self.into_service()?, options.into()))
    }

    /// Listens on `address`, at `/mcp`, until the process is asked to end (Ctrl-C, or SIGTERM on
    /// Unix); then finishes what runs.
    ///
    /// # Errors
    ///
    /// [`ServeError`], before anything is served.
    fn serve_http(
        self,
        address: impl ToSocketAddrs + Send,
    ) -> impl Future<Output = Result<(), ServeError>> + Send {
        async {
            let service = self
                .into_http()
                .map_err(|error| ServeError::Server(Box::new(error)))?;
            HttpServer::bind(service, address).await?.run().await;
            Ok(())
        }
    }
}

impl<T: IntoService + Sized + Send> ServeHttp for T {}
