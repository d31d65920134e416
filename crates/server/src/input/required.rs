//! URLs that a user must visit before a request can succeed: an error in 2025-11-25, questions
//! since, and nothing that can be said before.

use pintle_model::{
    ElicitParams, ElicitUrlParams, Error, Feature, InputRequest, InputRequests,
    UrlElicitationRequired,
};
use pintle_runtime::{AskError, Context, RequiredCapability, random_bytes};

/// The result of a request that needs visits first.
pub(crate) enum Required {
    /// The request fails with this error.
    Fails(Error),
    /// The client is asked.
    Asks(InputRequests),
    /// The client cannot be asked.
    Refused(AskError),
    /// The user will not go there.
    Declined,
}

impl Required {
    /// Reads an error of a handler; `None` if it is another error. Only one revision has the code, so
    /// the error is converted.
    pub(crate) fn of_error(cx: &Context, error: &Error) -> Option<Self> {
        let required = UrlElicitationRequired::of_error(error)?;
        Some(Self::of_visits(cx, required.elicitations))
    }

    /// Says as the revision does that these visits must come first.
    pub(super) fn of_visits(cx: &Context, visits: Vec<ElicitUrlParams>) -> Self {
        if visits.is_empty() {
            tracing::error!("a handler needs the user to go nowhere first");
            return Self::Fails(Error::internal());
        }
        if !RequiredCapability::Url.is_met_by(cx.terms()) {
            return Self::Refused(AskError::Unsupported(RequiredCapability::Url));
        }
        if cx.terms().has(Feature::ElicitationIds) {
            return Self::Fails(named(cx, visits));
        }
        Self::ask(cx, visits)
    }

    fn ask(cx: &Context, visits: Vec<ElicitUrlParams>) -> Self {
        let name = |place: usize| format!("first-{place}");
        let responses = cx.input_responses();
        let is_refused = |place: usize| {
            let action = responses
                .get(&name(place))
                .and_then(|answer| answer.get("action"));
            action.is_some_and(|action| action != "accept")
        };
        if (0..visits.len()).any(is_refused) {
            return Self::Declined;
        }
        // Inserted one by one, because `collect` compiles a sort as well.
        let mut requests = InputRequests::new();
        for (place, visit) in visits.into_iter().enumerate() {
            let request = InputRequest::from(ElicitParams::Url(visit));
            requests.insert(name(place), request);
        }
        Self::Asks(requests)
    }
}

/// The error of 2025-11-25: every visit has an id, under which the client is notified of its end.
fn named(cx: &Context, mut visits: Vec<ElicitUrlParams>) -> Error {
    for visit in &mut visits {
        if visit.elicitation_id.is_none() {
            let Ok(bytes) = random_bytes::<16>() else {
                return Error::internal();
            };
            visit.elicitation_id = Some(format!("{:032x}", u128::from_be_bytes(bytes)));
        }
        visit
            .elicitation_id
            .iter()
            .for_each(|id| cx.expect_visit(id));
    }
    UrlElicitationRequired::new(visits).to_error()
}
