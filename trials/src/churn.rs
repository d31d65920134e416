//! Clients that come and go: each does a few things, checks what it is told, and leaves as people do.
//!
//! What a call gives back is what it was given, so an answer that is lost, doubled or given to
//! somebody else is seen by whoever asked.

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
    /// Changes what the servers of both places say.
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
