//! Progress of a request, and its cancellation.
//!
//! Spec: [2026-07-28, Progress](https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/progress).

use crate::fit::{always_fits, drop_without};
use crate::object::object;
use crate::{Extra, Feature, Fit, FitError, Meta, ProgressToken, RequestId, Revision};

/// Parameters of a progress notification.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProgressParams {
    /// Token that the request chose for its progress.
    pub progress_token: ProgressToken,
    /// Progress until now; it increases with each notification.
    pub progress: f64,
    /// Total amount of work, if known.
    pub total: Option<f64>,
    /// Message about the current progress, for the user.
    pub message: Option<String>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ProgressParams {
    "progressToken" => required progress_token,
    "progress" => required progress,
    "total" => optional total,
    "message" => optional message,
    "_meta" => optional meta,
});

impl ProgressParams {
    /// Reports the progress of the request that sent `progress_token`. A number that JSON cannot
    /// express, such as infinity, becomes 0.
    pub fn new(progress_token: ProgressToken, progress: f64) -> Self {
        Self {
            progress_token,
            progress: finite(progress).unwrap_or_default(),
            total: None,
            message: None,
            meta: None,
            extra: Extra::new(),
        }
    }

    /// Sets the total amount of work, if JSON can express it.
    #[must_use]
    pub fn with_total(mut self, total: f64) -> Self {
        self.total = finite(total);
        self
    }

    /// Sets the message about the current progress.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Parameters of the notification that cancels a request.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CancelledParams {
    /// Request to cancel. Careless peers omit it; then the notification has no effect.
    pub request_id: Option<RequestId>,
    /// Reason of the cancellation, for logs.
    pub reason: Option<String>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(CancelledParams {
    "requestId" => optional request_id,
    "reason" => optional reason,
    "_meta" => optional meta,
});

impl CancelledParams {
    /// Creates the parameters that cancel a request.
    pub fn new(request_id: RequestId) -> Self {
        Self {
            request_id: Some(request_id),
            ..Self::default()
        }
    }

    /// Sets the reason.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl Fit for ProgressParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::ProgressMessage, revision, &mut self.message);
        Ok(())
    }
}

always_fits!(CancelledParams);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn progress_is_written_as_it_was_read() {
        let wire = json!({"progressToken": "t", "progress": 0.5, "total": 2.0, "message": "m",
            "_meta": {}, "x": 1});
        let read: ProgressParams = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), wire);
    }

    #[test]
    fn numbers_that_json_lacks_are_not_sent() {
        let token = ProgressToken(RequestId::Integer(1));
        let progress = ProgressParams::new(token, f64::NAN).with_total(f64::INFINITY);

        let wire = json!({"progressToken": 1, "progress": 0.0});
        assert_eq!(serde_json::to_value(progress).unwrap(), wire);
    }

    // spec: 2025-11-25 D1105-10
    #[test]
    fn the_message_is_dropped_before_2025_03_26() {
        let token = ProgressToken(RequestId::Integer(1));
        let mut progress = ProgressParams::new(token, 1.0).with_message("m");

        progress.fit(Revision::V2025_03_26).unwrap();
        assert!(progress.message.is_some());
        progress.fit(Revision::V2024_11_05).unwrap();
        assert_eq!(progress.message, None);
    }

    #[test]
    fn a_cancellation_without_an_id_is_read() {
        let read: CancelledParams = serde_json::from_value(json!({"reason": "r"})).unwrap();
        assert_eq!(read.request_id, None);

        let cancelled = CancelledParams::new(RequestId::Integer(1)).with_reason("r");
        let wire = json!({"requestId": 1, "reason": "r"});
        assert_eq!(serde_json::to_value(cancelled).unwrap(), wire);
    }
}
