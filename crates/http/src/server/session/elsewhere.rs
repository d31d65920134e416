//! The streams of a session that clients resume at another replica.

use pintle_model::jsonrpc::RequestId;

use super::lanes::HandedOver;
use super::{Session, journal};
use crate::rules::event_id::EventId;

impl Session {
    /// Returns true if the stream of an event is at another replica, or was at an earlier part at this one.
    pub(in crate::server) fn is_elsewhere(&self, event: EventId) -> bool {
        let state = self.lock();
        state.last_check.is_some() && state.lanes.is_elsewhere(event)
    }

    /// Lets another replica resume a stream: its reader here ends. If the stream belongs to no request, its log ends
    /// with the name of the stream `next`. `None` if no stream of this part has the name.
    pub(in crate::server) fn hand_over(&self, event: EventId, next: &str) -> Option<HandedOver> {
        let (handed, closed) = self.change(|state| {
            let handed = state.lanes.hand_over(event, next, &self.bounds);
            (handed, state.close_newest())
        });
        self.publish(closed);
        handed
    }
}

/// Returns the id of a request as JSON. `None` if it is too long to be in each event of a log.
pub(super) fn log_name(id: &RequestId) -> Option<Box<str>> {
    let text = serde_json::to_string(id).ok()?;
    (text.len() <= journal::MAX_REQUEST_BYTES).then(|| text.into())
}
