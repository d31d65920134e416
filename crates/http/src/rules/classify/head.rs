//! The ladder over the head of a request.

use http::Method;
use http::request::Parts;

use super::{HttpRejection, LegacyMode, Named, Settings, named_revision, named_session};
use crate::rules::cause;
use crate::rules::media::{AcceptedTypes, EVENT_STREAM, accepts, is_json_body};
use crate::rules::request_headers::RequestHeaders;
use crate::rules::session_id::SessionId;

/// The decision of the head. Closed: the head decides alone, or the body decides the route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadDecision {
    /// A stream for messages that belong to no request.
    Stream(SessionId),
    /// The end of a session.
    End(SessionId),
    /// The body decides, by [`super::by_body`]. The client accepts these types.
    Body(AcceptedTypes),
}

/// Decides what the head alone decides.
///
/// # Errors
///
/// [`HttpRejection`], before the body is looked at.
pub(crate) fn by_head(
    parts: &Parts,
    headers: &RequestHeaders<'_>,
    settings: &Settings,
) -> Result<HeadDecision, HttpRejection> {
    let facts = Facts::new(parts, headers, settings);
    let verdict = LADDER.iter().find_map(|(_, rule)| rule(&facts));
    verdict.unwrap_or_else(|| welcome_body(headers))
}

struct Facts<'r> {
    parts: &'r Parts,
    headers: &'r RequestHeaders<'r>,
    settings: &'r Settings,
}

type Verdict = Option<Result<HeadDecision, HttpRejection>>;
type Rule = (&'static str, fn(&Facts<'_>) -> Verdict);

const LADDER: &[Rule] = &[
    ("a foreign host or page is turned away", foreign),
    ("other verbs than ours are not served", other_verb),
    ("streams and ends belong to sessions", sessions_only),
    ("a stream must be wanted as one", unwanted_stream),
    ("an unknown revision is not served", unknown_revision),
    ("a stream or an end names its session", session_verb),
    ("a body is plain JSON", other_body),
];

/// Decides what the head alone decides where streams and messages have an endpoint each.
///
/// # Errors
///
/// [`HttpRejection`], before the body is looked at.
#[cfg(feature = "sse")]
pub(crate) fn by_head_of_two(parts: &Parts, settings: &Settings) -> Result<(), HttpRejection> {
    let headers = RequestHeaders::of(&parts.headers);
    let facts = Facts::new(parts, &headers, settings);
    let rules = [foreign, other_verb_of_two, unwanted_stream, other_body];
    let verdict = rules.iter().find_map(|rule| rule(&facts));
    verdict.map_or(Ok(()), |verdict| verdict.map(|_| ()))
}

#[cfg(feature = "sse")]
fn other_verb_of_two(facts: &Facts<'_>) -> Verdict {
    let ours = [Method::POST, Method::GET].contains(&facts.parts.method);
    (!ours).then(|| Err(HttpRejection::verb("GET, POST")))
}

fn foreign(facts: &Facts<'_>) -> Verdict {
    let barred = facts
        .settings
        .access
        .check(facts.parts, facts.headers)
        .err()?;
    Some(Err(HttpRejection::because(barred.cause())))
}

fn other_verb(facts: &Facts<'_>) -> Verdict {
    let ours = [Method::POST, Method::GET, Method::DELETE].contains(&facts.parts.method);
    (!ours).then(|| Err(HttpRejection::verb(facts.verbs())))
}

fn sessions_only(facts: &Facts<'_>) -> Verdict {
    if facts.is_post() {
        return None;
    }
    let modern = matches!(named_revision(facts.headers), Ok(Named::Modern));
    let refused = modern || facts.settings.legacy != LegacyMode::Sessions;
    refused.then(|| Err(HttpRejection::verb("POST")))
}

fn unwanted_stream(facts: &Facts<'_>) -> Verdict {
    let unwanted = facts.parts.method == Method::GET && !accepts(facts.headers, EVENT_STREAM);
    unwanted.then(|| Err(HttpRejection::because(&cause::STREAM_NOT_ACCEPTED)))
}

fn unknown_revision(facts: &Facts<'_>) -> Verdict {
    if facts.is_post() {
        return None;
    }
    match named_revision(facts.headers) {
        Err(fault) => Some(Err(HttpRejection::fault(fault))),
        Ok(Named::Unknown(date)) => Some(Err(HttpRejection::revision(date, true))),
        Ok(_) => None,
    }
}

fn session_verb(facts: &Facts<'_>) -> Verdict {
    let route = match facts.parts.method {
        Method::GET => HeadDecision::Stream,
        Method::DELETE => HeadDecision::End,
        _ => return None,
    };
    let session = named_session(facts.headers);
    Some(session.and_then(|id| id.map(route).ok_or_else(HttpRejection::session_required)))
}

fn other_body(facts: &Facts<'_>) -> Verdict {
    if !facts.is_post() {
        return None;
    }
    let json = is_json_body(facts.headers);
    (!json).then(|| Err(HttpRejection::because(&cause::NOT_JSON)))
}

/// The last rule, for posts: an answer must be welcome as JSON at least.
fn welcome_body(headers: &RequestHeaders<'_>) -> Result<HeadDecision, HttpRejection> {
    match AcceptedTypes::of(headers) {
        AcceptedTypes::Neither => Err(HttpRejection::because(&cause::JSON_NOT_ACCEPTED)),
        accepted => Ok(HeadDecision::Body(accepted)),
    }
}

impl<'r> Facts<'r> {
    fn new(parts: &'r Parts, headers: &'r RequestHeaders<'r>, settings: &'r Settings) -> Self {
        Self {
            parts,
            headers,
            settings,
        }
    }

    fn is_post(&self) -> bool {
        self.parts.method == Method::POST
    }

    fn verbs(&self) -> &'static str {
        match self.settings.legacy {
            LegacyMode::Sessions => "POST, GET, DELETE",
            LegacyMode::Sessionless | LegacyMode::Off => "POST",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::origin::HostPolicy;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn decide(
        legacy: LegacyMode,
        verb: &str,
        headers: &[(&str, &str)],
    ) -> Result<HeadDecision, u16> {
        let mut request = http::Request::builder()
            .method(verb)
            .uri("/mcp")
            .header("host", "localhost:1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let parts = request.body(()).expect("a request").into_parts().0;
        let settings = Settings {
            access: HostPolicy::loopback(),
            legacy,
        };
        let headers = RequestHeaders::of(&parts.headers);
        let decided = by_head(&parts, &headers, &settings);
        decided.map_err(|rejection| rejection.status.as_u16())
    }

    /// A method, headers, and the expected decision.
    type Row<'r> = (&'r str, &'r [(&'r str, &'r str)], Result<HeadDecision, u16>);

    const JSON_BODY: (&str, &str) = ("content-type", "application/json");
    const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
    const SESSION: (&str, &str) = ("mcp-session-id", ID);

    // spec: 2025-11-25 TRANS-HTTP-01, TRANS-HTTP-08, TRANS-HTTP-31, TRANS-SESS-06, TRANS-SESS-08, TRANS-VER-04
    // spec: 2025-11-25 AMB-24, AMB-25, AMB-26
    // spec: 2026-07-28 N-COMPAT-01, N-HTTP-01, N-HTTP-06
    // hardening: H-1, H-7, H-8, H-15, H-18, H-59
    #[test]
    fn the_head_decides_before_the_body_is_read() {
        let id = || SessionId::parse(ID).expect("an id");
        let stream = ("accept", "text/event-stream");
        let both = HeadDecision::Body(AcceptedTypes::Both);
        let rows: [Row<'_>; 21] = [
            ("POST", &[JSON_BODY, BOTH], Ok(both.clone())),
            ("POST", &[JSON_BODY], Ok(both.clone())),
            (
                "POST",
                &[JSON_BODY, BOTH, ("origin", "http://evil.example")],
                Err(403),
            ),
            ("POST", &[("content-type", "text/plain"), BOTH], Err(415)),
            (
                "POST",
                &[("content-type", "application/jsonfoo"), BOTH],
                Err(415),
            ),
            (
                "POST",
                &[JSON_BODY, ("content-encoding", "gzip"), BOTH],
                Err(415),
            ),
            (
                "POST",
                &[JSON_BODY, ("accept", "application/json")],
                Ok(HeadDecision::Body(AcceptedTypes::Json)),
            ),
            ("POST", &[JSON_BODY, stream], Err(406)),
            ("PUT", &[], Err(405)),
            ("OPTIONS", &[("origin", "http://evil.example")], Err(403)),
            ("OPTIONS", &[], Err(405)),
            ("TRACE", &[], Err(405)),
            ("HEAD", &[], Err(405)),
            ("BREW", &[], Err(405)),
            ("GET", &[stream, SESSION], Ok(HeadDecision::Stream(id()))),
            ("GET", &[stream], Err(400)),
            ("GET", &[stream, ("mcp-session-id", "guess")], Err(404)),
            ("GET", &[("accept", "application/json"), SESSION], Err(406)),
            (
                "GET",
                &[stream, SESSION, ("mcp-protocol-version", "9999-99-99")],
                Err(400),
            ),
            (
                "GET",
                &[stream, SESSION, ("mcp-protocol-version", "2026-07-28")],
                Err(405),
            ),
            ("DELETE", &[SESSION], Ok(HeadDecision::End(id()))),
        ];
        for (verb, headers, expected) in rows {
            assert_eq!(
                decide(LegacyMode::Sessions, verb, headers),
                expected,
                "{verb} {headers:?}"
            );
        }
    }

    // spec: 2025-11-25 TRANS-SESS-11
    // spec: 2026-07-28 N-COMPAT-01
    #[test]
    fn without_sessions_only_post_is_served() {
        for legacy in [LegacyMode::Sessionless, LegacyMode::Off] {
            for verb in ["GET", "DELETE", "PUT"] {
                assert_eq!(decide(legacy, verb, &[SESSION]), Err(405));
            }
        }
    }
}
