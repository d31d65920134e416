//! The delivery of a posted text to its session.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use pintle_model::jsonrpc::Message;
use pintle_runtime::Service;
use tokio::time::Instant;

use crate::rules::classify::{HttpRejection, outlined};
use crate::rules::params_preview::ParamsPreview;
use crate::server::endpoint::reading::{ReadBatch, Reading};
use crate::server::endpoint::{Endpoint, extras};
use crate::server::peers::Sender;
use crate::server::session::{Asks, Session, TextDelivery};

/// A posted text, which was read once.
pub(super) struct Text<'b> {
    pub(super) bytes: &'b Bytes,
    pub(super) reading: Reading<'b>,
}

/// The result of a delivery.
pub(super) enum Delivery {
    Accepted,
    /// Too many requests are in flight, or too many messages wait for the reader.
    Crowded,
}

impl<S: Service> Endpoint<S> {
    /// Delivers a message or a batch, and runs its requests.
    ///
    /// # Errors
    ///
    /// [`HttpRejection`] for a text that the session does not accept, and for missing scopes.
    pub(super) fn deliver_text(
        &self,
        session: &Arc<Session>,
        parts: Parts,
        sender: &Sender,
        text: Text<'_>,
    ) -> Result<Delivery, HttpRejection> {
        let asks = self.check_text(&parts, text.reading, session.has_batches())?;
        let now = Instant::now().into_std();
        match session.deliver_text(now, text.bytes, asks) {
            TextDelivery::Accepted(starts, notified) => {
                let service = &self.service;
                notified
                    .into_iter()
                    .for_each(|notified| service.notified(notified));
                let extras = extras(Arc::new(parts), sender);
                for start in starts {
                    session.run(service, extras.clone(), start);
                }
                Ok(Delivery::Accepted)
            }
            TextDelivery::Crowded => Ok(Delivery::Crowded),
            TextDelivery::Over => Err(HttpRejection::no_such_session()),
        }
    }

    /// Checks the form of a text and the scopes of its requests. Returns whether it may have requests.
    ///
    /// # Errors
    ///
    /// [`HttpRejection`], also for a batch without `has_batches`.
    pub(super) fn check_text(
        &self,
        parts: &Parts,
        reading: Reading<'_>,
        has_batches: bool,
    ) -> Result<Asks, HttpRejection> {
        match reading {
            Ok(Message::Notification(_) | Message::Response(_)) => Ok(Asks::Nothing),
            Ok(message @ Message::Request(_)) => {
                self.check_scopes(parts, &message)?;
                Ok(Asks::Something)
            }
            Err(unread) => match unread.batch {
                Some(Ok(batch)) if has_batches => {
                    self.check_scopes_of_all(parts, batch)?;
                    Ok(Asks::Something)
                }
                _ => Err(HttpRejection::malformed(unread.malformed)),
            },
        }
    }

    fn check_scopes(&self, parts: &Parts, message: &Message<'_>) -> Result<(), HttpRejection> {
        let Message::Request(request) = message else {
            return Ok(());
        };
        let outline =
            ParamsPreview::read(request.params).map_err(|error| HttpRejection::error(*error))?;
        match self.missing_scopes(parts, message, &outline) {
            Some(missing) => Err(HttpRejection::scopes(missing)),
            None => Ok(()),
        }
    }

    fn check_scopes_of_all(
        &self,
        parts: &Parts,
        batch: ReadBatch<'_>,
    ) -> Result<(), HttpRejection> {
        let messages = batch.messages.into_iter();
        let messages: Vec<_> = messages.map(|message| message.and_then(outlined)).collect();
        match self.missing_scopes_of_all(parts, &messages) {
            Some(missing) => Err(HttpRejection::scopes(missing)),
            None => Ok(()),
        }
    }
}
