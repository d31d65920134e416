//! The state behind the page: its servers, its connection, its questions and its events.

use std::sync::Arc;

use http::StatusCode;
use pintle_runtime::sync::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::failure::Failure;
use crate::feed::Feed;
use crate::options::WebOptions;
use crate::questions::Questions;
use crate::session::Session;
use crate::target::Targets;

/// The state that all requests share.
pub(crate) struct Backend {
    pub(crate) targets: Box<dyn Targets>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) options: WebOptions,
    session: Mutex<Option<Arc<Session>>>,
    /// Locked while a connection replaces another.
    pub(crate) connecting: tokio::sync::Mutex<()>,
    /// Locked by a check or a sign-in.
    pub(crate) turn: tokio::sync::Mutex<()>,
    calls: Semaphore,
}

impl Backend {
    pub(crate) fn new(targets: Box<dyn Targets>, options: WebOptions) -> Self {
        let feed = Arc::new(Feed::new(&options));
        Self {
            targets,
            questions: Questions::new(&feed, options.max_questions),
            feed,
            session: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            calls: Semaphore::new(options.max_calls),
            options,
        }
    }

    /// Returns the connection.
    ///
    /// # Errors
    ///
    /// A [`Failure`] without a connection.
    pub(crate) fn session(&self) -> Result<Arc<Session>, Failure> {
        let session = self.session.lock();
        session.clone().ok_or_else(Failure::not_connected)
    }

    /// Replaces the connection, and returns the earlier one.
    pub(crate) fn replace(&self, session: Option<Arc<Session>>) -> Option<Arc<Session>> {
        std::mem::replace(&mut *self.session.lock(), session)
    }

    /// Admits a call, up to the maximum number of calls.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the status 429 at the maximum.
    pub(crate) fn admit(&self) -> Result<SemaphorePermit<'_>, Failure> {
        self.calls.try_acquire().map_err(|_| {
            let max = self.options.max_calls;
            Failure::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{max} calls are running, which is the maximum"),
            )
        })
    }

    /// Closes the connection.
    pub(crate) async fn close(&self) {
        if let Some(session) = self.replace(None) {
            session.close().await;
        }
    }
}
