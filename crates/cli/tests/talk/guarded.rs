//! The same server, for clients with a token.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use pintle::auth::resource::{Guarded, RequireBearer};
use pintle::http::{HttpServer, ServeHttp as _};
use pintle_testkit::issuer::Issuer;
use tower_layer::Layer;

use crate::talk::server::{Served, server};

/// A server, with the issuer of its tokens.
pub(crate) struct Guard {
    pub(crate) issuer: Issuer,
    pub(crate) served: Served,
}

/// A layer that is set after the address of the server is known. It is used when the server runs.
#[derive(Clone, Default)]
struct Late(Arc<OnceLock<RequireBearer>>);

impl<S> Layer<S> for Late {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        self.0.get().expect("it is set").layer(inner)
    }
}

impl Guard {
    /// Serves on a free port, behind a layer that requires the scope `bench`.
    pub(crate) async fn new() -> Self {
        let issuer = Issuer::listen().await.expect("a port");
        let late = Late::default();
        let service = server().into_http().expect("starts");
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = HttpServer::bind_with_layer(late.clone(), service, address);
        let server = server.await.expect("a port");
        let url = format!("http://{}/mcp", server.address().expect("an address"));
        let layer = RequireBearer::jwks(issuer.url(), issuer.clone())
            .audience(&url)
            .require("bench")
            .build()
            .expect("a layer");
        assert!(late.0.set(layer).is_ok());
        let task = tokio::spawn(server.run());
        Self {
            issuer,
            served: Served { url, task },
        }
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.served.url
    }

    /// Returns a token that the server accepts.
    pub(crate) fn token(&self) -> String {
        self.issuer.token(self.url()).scopes("bench").sign()
    }
}
