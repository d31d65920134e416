//! A server behind an address, and the transport to it.

use std::sync::Arc;

use pintle_model::JsonObject;
use pintle_proto::TransportError;
use pintle_proto::lifecycle::Binding;
use pintle_runtime::{Authorizer, Connect, ParamHeader, ServerAddress, Transport, Wire};

use crate::client::agent::Agent;
use crate::client::endpoint_url::{EndpointUrl, UrlError};
use crate::client::http_client::HttpClient;
use crate::client::http_conversation::HttpConversation;
use crate::client::multiplexer::Multiplexer;
use crate::client::options::{HttpClientLimits, HttpClientOptions, ReservedHeaderError};
use crate::client::web::WebClient;
use crate::rules::param_headers::param_headers;

/// A server behind an address, to be connected to as often as it takes.
#[derive(Debug)]
pub struct HttpConnect<F = WebClient> {
    agent: Arc<Agent<F>>,
    limits: Arc<HttpClientLimits>,
    url: EndpointUrl,
}

impl HttpConnect {
    /// A server on the network, with the default options.
    ///
    /// # Errors
    ///
    /// [`UrlError`].
    pub fn to(url: &str) -> Result<Self, UrlError> {
        let options = HttpClientOptions::default();
        let fetch = WebClient::new(&options);
        Ok(Self::with(fetch, EndpointUrl::parse(url)?, &options))
    }

    /// A server on the network.
    ///
    /// # Errors
    ///
    /// [`ReservedHeaderError`] when the options set a header that is not theirs to set.
    pub fn new(url: EndpointUrl, options: &HttpClientOptions) -> Result<Self, ReservedHeaderError> {
        Self::over(WebClient::new(options), url, options)
    }
}

impl<F: HttpClient> HttpConnect<F> {
    /// A server that `fetch` reaches.
    ///
    /// # Errors
    ///
    /// As [`HttpConnect::new`].
    pub fn over(
        fetch: F,
        url: EndpointUrl,
        options: &HttpClientOptions,
    ) -> Result<Self, ReservedHeaderError> {
        if let Some(reserved) = options.reserved() {
            return Err(reserved);
        }
        Ok(Self::with(fetch, url, options))
    }

    fn with(fetch: F, url: EndpointUrl, options: &HttpClientOptions) -> Self {
        let agent = Agent {
            fetch,
            own: options.headers.clone(),
            redirects: options.limits.max_redirects,
            authorizer: options.authorizer.clone(),
        };
        Self {
            agent: Arc::new(agent),
            limits: Arc::new(options.limits.clone()),
            url,
        }
    }
}

impl<F: HttpClient> Connect for HttpConnect<F> {
    type Transport = HttpTransport<F>;

    async fn connect(&self) -> Result<HttpTransport<F>, TransportError> {
        Ok(HttpTransport {
            agent: Arc::clone(&self.agent),
            limits: Arc::clone(&self.limits),
            url: self.url.clone(),
        })
    }

    fn binding(&self) -> Binding {
        Binding::Http
    }

    /// The origin and the path: one host may serve several.
    fn key(&self) -> Option<String> {
        Some(format!("{}{}", self.url.origin(), self.url.uri().path()))
    }

    fn server_address(&self) -> Option<ServerAddress> {
        let origin = self.url.origin();
        Some(ServerAddress {
            host: origin.host,
            port: origin.port,
        })
    }

    fn principal(&self) -> Option<String> {
        self.agent.authorizer.as_ref()?.principal()
    }

    fn param_headers(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        param_headers(input_schema).map_err(|error| error.to_string())
    }
}

/// Moves the messages of one conversation over HTTP.
#[derive(Debug)]
pub struct HttpTransport<F = WebClient> {
    agent: Arc<Agent<F>>,
    limits: Arc<HttpClientLimits>,
    url: EndpointUrl,
}

impl<F: HttpClient> Transport for HttpTransport<F> {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let Self { agent, limits, url } = self;
        let conversation = HttpConversation::new(agent, limits, url, wire);
        Multiplexer::new(Arc::new(conversation)).run().await
    }
}
