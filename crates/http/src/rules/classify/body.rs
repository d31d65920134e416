//! The ladder over a parsed message.

use std::sync::Arc;

use pintle_model::jsonrpc::Message;
use pintle_model::{Error, Feature, RequestEnvelope, RequestId, Revision};
use pintle_proto::Terms;
use pintle_proto::lifecycle::missing_envelope;

use super::{HttpRejection, LegacyMode, Named, Route, Settings, named_revision, named_session};
use crate::rules::agreement::{HeaderMismatchError, agree};
use crate::rules::headers::{HeaderError, is_plain};
use crate::rules::params_preview::{ClaimedRevision, ParamsPreview};
use crate::rules::request_headers::{Known, RequestHeaders};

/// Reads the terms of an envelope, perhaps from a cache.
pub(crate) type TermsOf<'t> =
    dyn Fn(&RequestEnvelope<'_>, Revision) -> Result<Arc<Terms>, Box<Error>> + 't;

/// Reads the parts of a message that decide its route.
///
/// # Errors
///
/// [`HttpRejection`] with the request's id.
pub(crate) fn preview<'a>(message: &Message<'a>) -> Result<ParamsPreview<'a>, HttpRejection> {
    let params = match message {
        Message::Request(request) => request.params,
        Message::Notification(notification) => notification.params,
        Message::Response(_) => None,
    };
    ParamsPreview::read(params)
        .map_err(|error| HttpRejection::error(*error).with_id(id_of(message)))
}

/// Decides the route of a message with this preview. Also returns the terms that it states.
///
/// # Errors
///
/// [`HttpRejection`] with the request's id.
pub(crate) fn by_body(
    headers: &RequestHeaders<'_>,
    message: &Message<'_>,
    preview: &ParamsPreview<'_>,
    settings: &Settings,
    terms: &TermsOf<'_>,
) -> Result<(Route, Option<Arc<Terms>>), HttpRejection> {
    let reading = Reading::of(headers, preview, terms);
    let facts = Facts {
        headers,
        message,
        reading: &reading,
        legacy: settings.legacy,
    };
    let verdict = LADDER.iter().find_map(|(_, rule)| rule(&facts));
    let verdict = verdict.expect("the last rule always speaks");
    match verdict {
        Ok(route) => Ok((route, reading.terms.and_then(Result::ok))),
        Err(rejection) => Err(rejection.with_id(id_of(message))),
    }
}

/// The parts of a message that were read.
#[derive(Debug)]
struct Reading<'h, 'a> {
    outline: &'a ParamsPreview<'a>,
    claim: ClaimedRevision<'a>,
    named: Result<Named<'h>, HeaderError>,
    /// The terms of a request that claims a served revision.
    terms: Option<Result<Arc<Terms>, Box<Error>>>,
}

impl<'h, 'a> Reading<'h, 'a> {
    fn of(
        headers: &RequestHeaders<'h>,
        outline: &'a ParamsPreview<'a>,
        terms: &TermsOf<'_>,
    ) -> Self {
        let claim = outline.claim();
        let revision = match &claim {
            ClaimedRevision::Text(claim) => served_by_claim(claim),
            ClaimedRevision::Absent | ClaimedRevision::NotText => None,
        };
        let envelope = outline.envelope().unwrap_or_default();
        let terms = revision.map(|revision| terms(&envelope, revision));
        let named = match &claim {
            // Most headers repeat the claim, and need not be read again.
            ClaimedRevision::Text(claim)
                if revision.is_some() && headers.is_exactly(Known::ProtocolVersion, claim) =>
            {
                Ok(Named::Modern)
            }
            _ => named_revision(headers),
        };
        Self {
            outline,
            claim,
            named,
            terms,
        }
    }
}

fn served_by_claim(claim: &str) -> Option<Revision> {
    claim
        .parse()
        .ok()
        .filter(|revision: &Revision| revision.has(Feature::Envelope))
}

struct Facts<'r> {
    headers: &'r RequestHeaders<'r>,
    message: &'r Message<'r>,
    reading: &'r Reading<'r, 'r>,
    legacy: LegacyMode,
}

type RuleResult = Option<Result<Route, HttpRejection>>;
type Rule = (&'static str, fn(&Facts<'_>) -> RuleResult);

const LADDER: &[Rule] = &[
    ("the revision is named at most once", unreadable_name),
    ("a response belongs to a session", response),
    ("initialize opens the handshake era", initialize),
    ("a claim is text", claim_of_nonsense),
    (
        "a notification with a claim is accepted when its headers agree",
        claiming_notification,
    ),
    ("a claim is repeated by the header", contradicted_claim),
    ("a claimed revision is served here", unsupported_claim),
    ("a claim comes with the rest of its terms", incomplete_terms),
    (
        "method and subject are repeated by headers",
        contradicted_routing,
    ),
    ("a request with a claim stands alone", claiming_request),
    (
        "a notification named modern goes nowhere",
        modern_notification,
    ),
    ("a request named modern must claim", missing_claim),
    ("an unknown revision is not served", unknown_revision),
    ("without the handshake era everything must claim", no_legacy),
    (
        "a message of the handshake era goes to its session",
        handshaken,
    ),
];

fn unreadable_name(facts: &Facts<'_>) -> RuleResult {
    let fault = facts.reading.named.as_ref().err()?;
    Some(Err(HttpRejection::fault(fault.clone())))
}

fn response(facts: &Facts<'_>) -> RuleResult {
    let Message::Response(_) = facts.message else {
        return None;
    };
    Some(match facts.session() {
        Ok(Some(id)) if facts.legacy == LegacyMode::Sessions => Ok(Route::Session(id)),
        Ok(_) => Err(HttpRejection::error(Error::invalid_request(
            "unexpected response: no request is pending",
        ))),
        Err(rejection) => Err(rejection),
    })
}

fn initialize(facts: &Facts<'_>) -> RuleResult {
    if facts.request_method()? != "initialize" || facts.is_handshake_missing() {
        return None;
    }
    Some(match facts.legacy {
        LegacyMode::Off => Err(HttpRejection::revision(
            &facts.reading.outline.requested().unwrap_or_default(),
            false,
        )),
        LegacyMode::Sessionless => Ok(Route::Sessionless(Revision::LATEST_LEGACY)),
        // A client never chooses an id, so an id names an existing session.
        LegacyMode::Sessions => facts
            .session()
            .map(|id| id.map_or(Route::Open, Route::Session)),
    })
}

fn claim_of_nonsense(facts: &Facts<'_>) -> RuleResult {
    let nonsense = facts.reading.claim == ClaimedRevision::NotText;
    let error = || {
        Error::invalid_params("io.modelcontextprotocol/protocolVersion in _meta is not a string")
    };
    nonsense.then(|| Err(HttpRejection::error(error())))
}

fn claiming_notification(facts: &Facts<'_>) -> RuleResult {
    let (Message::Notification(notification), ClaimedRevision::Text(claim)) =
        (facts.message, &facts.reading.claim)
    else {
        return None;
    };
    // Headers of notifications are optional; those that are present must agree.
    let pairs = [
        (Known::ProtocolVersion, &**claim),
        (Known::Method, &*notification.method),
    ];
    let verdict = pairs
        .into_iter()
        .filter(|(header, _)| facts.headers.has(*header))
        .try_for_each(|(header, body)| facts.agree(header, Some(body)));
    Some(
        verdict
            .map(|()| Route::Ignored)
            .map_err(|why| HttpRejection::error(why.into())),
    )
}

fn contradicted_claim(facts: &Facts<'_>) -> RuleResult {
    let claim = facts.claim()?;
    let verdict = facts.agree(Known::ProtocolVersion, Some(claim));
    verdict
        .err()
        .map(|why| Err(HttpRejection::error(why.into())))
}

fn unsupported_claim(facts: &Facts<'_>) -> RuleResult {
    let claim = facts.claim()?;
    if facts.reading.terms.is_some() {
        return None;
    }
    let legacy_too = facts.legacy != LegacyMode::Off && claim.parse::<Revision>().is_ok();
    Some(Err(HttpRejection::revision(claim, legacy_too)))
}

fn incomplete_terms(facts: &Facts<'_>) -> RuleResult {
    let error = facts.reading.terms.as_ref()?.as_ref().err()?;
    Some(Err(HttpRejection::error((**error).clone())))
}

fn contradicted_routing(facts: &Facts<'_>) -> RuleResult {
    facts.claim()?;
    let method = facts.request_method()?;
    let subject = facts.reading.outline.subject(method);
    let verdict = facts.agree(Known::Method, Some(method)).and_then(|()| {
        let is_absent = || !facts.headers.has(Known::Name);
        if !ParamsPreview::has_subject(method)
            || (ParamsPreview::may_omit_subject_header(method) && is_absent())
        {
            return Ok(());
        }
        facts.agree(Known::Name, subject.as_deref())
    });
    verdict
        .err()
        .map(|why| Err(HttpRejection::error(why.into())))
}

fn claiming_request(facts: &Facts<'_>) -> RuleResult {
    facts.claim().map(|_| Ok(Route::Exchange))
}

fn modern_notification(facts: &Facts<'_>) -> RuleResult {
    let notification = matches!(facts.message, Message::Notification(_));
    let modern = facts.reading.named == Ok(Named::Modern) || facts.legacy != LegacyMode::Sessions;
    (notification && modern).then_some(Ok(Route::Ignored))
}

fn missing_claim(facts: &Facts<'_>) -> RuleResult {
    let modern = facts.reading.named == Ok(Named::Modern);
    modern.then(|| Err(HttpRejection::error(missing_envelope())))
}

fn unknown_revision(facts: &Facts<'_>) -> RuleResult {
    match facts.reading.named {
        Ok(Named::Unknown(date)) => Some(Err(HttpRejection::revision(
            date,
            facts.legacy != LegacyMode::Off,
        ))),
        _ => None,
    }
}

fn no_legacy(facts: &Facts<'_>) -> RuleResult {
    if facts.legacy != LegacyMode::Off {
        return None;
    }
    Some(Err(match facts.reading.named {
        Ok(Named::Legacy(revision)) => HttpRejection::revision(revision.as_str(), false),
        _ => HttpRejection::error(missing_envelope()),
    }))
}

fn handshaken(facts: &Facts<'_>) -> RuleResult {
    if facts.legacy == LegacyMode::Sessions {
        let session = facts.session();
        return Some(session.and_then(|id| {
            id.map(Route::Session)
                .ok_or_else(HttpRejection::session_required)
        }));
    }
    Some(Ok(Route::Sessionless(match facts.reading.named {
        Ok(Named::Legacy(revision)) => revision,
        _ => Revision::UNNAMED,
    })))
}

fn id_of(message: &Message<'_>) -> Option<RequestId> {
    match message {
        Message::Request(request) => Some(request.id.clone()),
        Message::Notification(_) | Message::Response(_) => None,
    }
}

impl<'r> Facts<'r> {
    fn request_method(&self) -> Option<&'r str> {
        match self.message {
            Message::Request(request) => Some(&request.method),
            Message::Notification(_) | Message::Response(_) => None,
        }
    }

    fn claim(&self) -> Option<&'r str> {
        match &self.reading.claim {
            ClaimedRevision::Text(claim) => Some(claim),
            ClaimedRevision::Absent | ClaimedRevision::NotText => None,
        }
    }

    fn agree(&self, header: Known, body: Option<&str>) -> Result<(), HeaderMismatchError> {
        if body.is_some_and(|body| is_plain(body) && self.headers.is_exactly(header, body)) {
            return Ok(());
        }
        agree(self.headers.single(header), &header.name(), body)
    }

    /// Returns true if a request states its terms and has no handshake parameters. It cannot start a
    /// handshake, whatever its method.
    fn is_handshake_missing(&self) -> bool {
        self.claim().is_some() && self.reading.outline.requested().is_none()
    }

    fn session(&self) -> Result<Option<crate::rules::session_id::SessionId>, HttpRejection> {
        named_session(self.headers)
    }
}

#[cfg(test)]
mod tests;
