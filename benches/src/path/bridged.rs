//! A proxy over a frugal server.

use pintle::client::{ClientBuilder, ConnectError, EraMode, Tcp};
use pintle::model::Revision;
use pintle_proxy::Proxy;

/// Returns a proxy of a server at an address, of a known revision.
pub(super) async fn proxy(address: String, revision: Revision) -> Proxy {
    let connect = move |client: ClientBuilder| -> Result<_, ConnectError> {
        let client = client.mode(EraMode::Pinned(revision));
        client.connect_lazily(Tcp::new(address.clone()))
    };
    Proxy::connect(connect).await.expect("a conversation")
}
