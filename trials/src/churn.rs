//! Clients that come and go: each does a few things, checks the answers, and leaves.
//!
//! A call returns its arguments. So the caller detects an answer that is lost, doubled or sent to
//! another caller.

mod rude;
mod tally;
mod visit;

use std::net::SocketAddr;

use pintle::client::{Client, ConnectError, EraMode};
use pintle::http::client::{EndpointUrl, HttpClientOptions, HttpConnect, WebClient};
use pintle::runtime::BoxConnect;
use pintle::server::ServerHandle;
use pintle_testkit::Rng;

pub use rude::be_rude;
pub use tally::{Figures, Tally};
pub use visit::visit;

/// Where the server of a trial can be met.
#[derive(Debug, Clone)]
pub struct Places {
    /// Over HTTP, at `/mcp`.
    pub http: SocketAddr,
    /// In this process, over a pipe.
    pub pipe: BoxConnect,
    /// Handles that change the offers of the servers of both places.
    pub handles: [ServerHandle; 2],
}

impl Places {
    /// A client of one of the places, in one of the eras.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    pub async fn client(&self, rng: &mut Rng) -> Result<Client, ConnectError> {
        let modes = [EraMode::Auto, EraMode::Legacy, EraMode::ModernOnly];
        let mode = rng.pick(&modes).copied().unwrap_or_default();
        let builder = Client::builder().mode(mode);
        if rng.once_in(3) {
            return builder.connect(self.pipe.clone()).await;
        }
        builder.connect(self.over_http()).await
    }

    fn over_http(&self) -> HttpConnect {
        let options = HttpClientOptions::default();
        let url = format!("http://{}/mcp", self.http);
        let url = EndpointUrl::parse(&url).expect("an address makes a URL");
        HttpConnect::over(WebClient::new(&options), url, &options).expect("no header is set")
    }
}
