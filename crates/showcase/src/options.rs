//! The showcase as a service.

use std::num::NonZeroUsize;

use pintle::runtime::{BoxFuture, BoxService};
use pintle::server::StartError;
use pintle::{StateError, StateUrl};

/// Options of the showcase.
#[derive(Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShowcaseOptions {
    /// Number of entries on a page of a list; `None` for the default of the server.
    pub page_size: Option<NonZeroUsize>,
    /// The state that replicas share; `None` for that of the environment variable `PINTLE_STATE`.
    pub state: Option<StateUrl>,
}

/// The showcase cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ShowcaseError {
    /// The description of the server is not valid.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The shared state cannot be opened.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Returns the showcase.
///
/// # Errors
///
/// [`ShowcaseError`].
// The future is boxed, because the compiler generates its code in the crate that boxes or awaits it.
pub fn service(options: ShowcaseOptions) -> BoxFuture<'static, Result<BoxService, ShowcaseError>> {
    Box::pin(build(options))
}

async fn build(options: ShowcaseOptions) -> Result<BoxService, ShowcaseError> {
    let mut server = crate::server();
    if let Some(size) = options.page_size {
        server = server.page_size(size.get());
    }
    if let Some(url) = StateUrl::of_program(options.state) {
        server = server.state_backend(url.open().await?);
    }
    Ok(BoxService::new(server.build()?))
}
