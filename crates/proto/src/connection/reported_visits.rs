//! Visits to URLs: the client that was asked is notified of their end, in the revision that has
//! this.

use std::collections::VecDeque;

use pintle_model::method::{ElicitationComplete, Notice};
use pintle_model::{ElicitationCompleteParams, Feature};

use super::Connection;
use crate::io::{DropPolicy, Lane, RequestKey};

/// The visits whose end has not been sent, oldest first: their ids, and the requests they were
/// asked for.
#[derive(Debug, Default)]
pub(super) struct ReportedVisits(VecDeque<(Box<str>, RequestKey)>);

impl Connection {
    /// Notes that the client is asked to let its user visit a URL under this `elicitationId`, for
    /// the request `key`. At [`Limits::max_visits`](crate::Limits::max_visits) the oldest is forgotten.
    pub fn expect_visit(&mut self, key: RequestKey, id: &str) {
        let terms = self.inbound.terms(key);
        if !terms.is_some_and(|terms| terms.has(Feature::ElicitationIds)) {
            return;
        }
        let ReportedVisits(visits) = &mut self.visits;
        visits.retain(|(reported, _)| **reported != *id);
        while visits.len() >= self.limits.max_visits.max(1) {
            visits.pop_front();
        }
        visits.push_back((id.into(), key));
    }

    /// Notifies the client that a visit has ended: once, and only if it was asked for in this
    /// conversation. Returns true if the notice was sent.
    ///
    /// Spec: [2025-11-25, Elicitation, Completion notifications][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    pub fn end_visit(&mut self, id: &str) -> bool {
        let ReportedVisits(visits) = &mut self.visits;
        let Some(at) = visits.iter().position(|(reported, _)| **reported == *id) else {
            return false;
        };
        let Some((_, key)) = visits.remove(at) else {
            return false;
        };
        let lane = self.lane_while_open(Lane::Reply(key));
        let params = ElicitationCompleteParams::new(id);
        self.transmit_notice(
            lane,
            DropPolicy::RefuseNew,
            ElicitationComplete::NAME,
            Some(&params),
        );
        true
    }
}
