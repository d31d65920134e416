//! The client's side of the binding.
//!
//! [`WebClient`] makes HTTP requests over the network; everything else uses the trait
//! [`HttpClient`]. The rules about headers, statuses and retries are functions without I/O, each in
//! a file of its own.

mod agent;
mod answer;
mod backoff;
mod documents;
mod endpoint_url;
mod events;
mod exchange;
mod failure;
mod head;
mod http_client;
mod http_conversation;
mod multiplexer;
mod notices;
mod options;
mod redirect;
mod resume;
mod session_id;
mod transport;
mod two_endpoints;
mod web;

pub use answer::ResponseError;
pub use documents::DocumentClient;
pub use endpoint_url::{EndpointUrl, UrlError, UrlOrigin};
pub use events::StreamError;
pub use failure::{HttpTransportError, MessageEndpointError, ResponseBodyError};
pub use http_client::{HttpClient, HttpClientBody, HttpClientError};
pub use options::{
    CertificateError, HttpClientLimits, HttpClientOptions, Proxy, ProxyUrl, ProxyUrlError,
    ReservedHeaderError, Tls,
};
pub use redirect::RedirectError;
pub use resume::ResumeError;
pub use transport::{HttpConnect, HttpTransport};
pub use web::{BoxIo, Dialer, WebClient};
