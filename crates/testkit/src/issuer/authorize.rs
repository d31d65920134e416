//! The authorization endpoint, and its codes.

use super::{IssuerResponse, RecordedRequest, State, escaped, random_name};

/// The request that a code belongs to, until the code is used.
#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) client: String,
    pub(super) redirect: String,
    pub(super) challenge: String,
    pub(super) resource: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) subject: String,
}

impl State {
    /// Issues a code without a user: RFC 6749, section 4.1.1; RFC 7636; RFC 8707; RFC 9207.
    pub(super) fn authorize(&mut self, issuer: &str, asked: &RecordedRequest) -> IssuerResponse {
        let redirect = asked.parameter("redirect_uri").unwrap_or_default();
        let client = asked.parameter("client_id").unwrap_or_default();
        let is_theirs = self
            .clients
            .get(client)
            .is_some_and(|client| client.redirects.iter().any(|own| own == redirect));
        if !is_theirs {
            // Nothing is sent to this address, because no registered client has it.
            return IssuerResponse::error(400, "invalid_request");
        }
        let outcome = match self.code(client, redirect, asked) {
            Ok(code) => format!("code={code}"),
            Err(error) => format!("error={error}"),
        };
        let mark = if redirect.contains('?') { '&' } else { '?' };
        let mut place = format!("{redirect}{mark}{outcome}&iss={}", escaped(issuer));
        if let Some(state) = asked.parameter("state") {
            place.push_str(&format!("&state={}", escaped(state)));
        }
        let mut response = IssuerResponse::bare(302);
        response.headers.push(("location", place));
        response
    }

    fn code(
        &mut self,
        client: &str,
        redirect: &str,
        asked: &RecordedRequest,
    ) -> Result<String, &'static str> {
        if asked.parameter("response_type") != Some("code") {
            return Err("unsupported_response_type");
        }
        let challenge = asked.parameter("code_challenge").unwrap_or_default();
        if challenge.is_empty() || asked.parameter("code_challenge_method") != Some("S256") {
            return Err("invalid_request");
        }
        if !self.consents {
            return Err("access_denied");
        }
        let code = random_name();
        let given = Code {
            client: client.to_owned(),
            redirect: redirect.to_owned(),
            challenge: challenge.to_owned(),
            resource: asked.parameter("resource").map(str::to_owned),
            scope: asked.parameter("scope").map(str::to_owned),
            subject: self.subject.clone(),
        };
        self.codes.insert(code.clone(), given);
        Ok(code)
    }
}
