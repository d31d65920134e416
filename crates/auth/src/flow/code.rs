//! Authorization requests for a user, and the checks of their responses.
//!
//! Spec: OAuth 2.1 (draft 13), 4.1 and 7; RFC 7636; RFC 8707; RFC 9207.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

use crate::error::{
    AuthError, AuthServerError, AuthorizationResponseError, OAuthErrorResponse, plain,
};
use crate::flow_context::FlowContext;
use crate::form;
use crate::metadata::ServerMetadata;
use crate::secret::Secret;

/// How long a sign-in may take, from the moment when a user is sent.
const VISIT_TIME: Duration = Duration::from_secs(10 * 60);

/// Where a user is sent to sign in. `Debug` shows the server only.
#[derive(Clone)]
#[non_exhaustive]
pub struct SignInRequest {
    /// The address. It is for the user's browser alone.
    pub url: String,
    /// Redirect URI of the client.
    pub redirect: String,
    /// Issuer identifier of the authorization server.
    pub issuer: String,
}

impl std::fmt::Debug for SignInRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Visit({})", self.issuer)
    }
}

/// A visit that was begun: what its end is compared with. It ends once.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) issuer: String,
    pub(crate) redirect: String,
    pub(crate) verifier: Secret,
    state: Secret,
    promises_issuer: bool,
    until: SystemTime,
}

/// Where a visit is about to lead.
pub(crate) struct AuthorizationRequest<'a> {
    pub(crate) server: &'a ServerMetadata,
    pub(crate) client: &'a str,
    pub(crate) redirect: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) scope: Option<&'a str>,
}

impl Pending {
    /// Sends a user.
    ///
    /// # Errors
    ///
    /// [`AuthError::Server`] if the metadata has no authorization endpoint or does not list S256.
    pub(crate) fn begin(
        ask: &AuthorizationRequest<'_>,
        at: &FlowContext,
    ) -> Result<(Self, SignInRequest), AuthError> {
        let server = ask.server;
        let server_error = |reason| AuthError::Server {
            issuer: server.issuer.as_str().into(),
            reason,
        };
        if !ServerMetadata::lists(&server.code_challenge_methods_supported, "S256") {
            return Err(server_error(AuthServerError::Pkce));
        }
        let endpoint = server.authorization_endpoint.as_ref();
        let endpoint = endpoint
            .ok_or_else(|| server_error(AuthServerError::Endpoint("authorization_endpoint")))?;
        let (verifier, state) = (at.verifier(), at.state());
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.reveal().as_bytes()));
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", ask.client),
            ("redirect_uri", ask.redirect),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", &state),
            ("resource", ask.resource),
        ];
        pairs.extend(ask.scope.map(|scope| ("scope", scope)));
        // RFC 6749 (3.1): what the endpoint has in its query stays.
        let gap = if endpoint.contains('?') { '&' } else { '?' };
        let visit = SignInRequest {
            url: format!("{endpoint}{gap}{}", form::write(pairs)),
            redirect: ask.redirect.to_owned(),
            issuer: server.issuer.clone(),
        };
        let pending = Self {
            issuer: server.issuer.clone(),
            redirect: ask.redirect.to_owned(),
            verifier,
            state: state.into(),
            promises_issuer: server.authorization_response_iss_parameter_supported == Some(true),
            until: at.now + VISIT_TIME,
        };
        Ok((pending, visit))
    }

    /// Checks the query of the redirect and returns the authorization code.
    ///
    /// # Errors
    ///
    /// [`AuthError::Redirect`]. It quotes an error only if the response is from the issuer.
    pub(crate) fn end(&self, query: &str, now: SystemTime) -> Result<Secret, AuthError> {
        let found = self.check_response(query, now);
        found.map_err(|fault| AuthError::Redirect {
            issuer: self.issuer.as_str().into(),
            fault,
        })
    }

    fn check_response(
        &self,
        query: &str,
        now: SystemTime,
    ) -> Result<Secret, AuthorizationResponseError> {
        let pairs = form::read(query).ok_or(AuthorizationResponseError::Unreadable)?;
        let value = |name: &str| {
            let found = pairs.iter().find(|(own, _)| own == name);
            found.map(|(_, value)| value.as_str())
        };
        if !value("state").is_some_and(|state| self.state.is(state)) {
            return Err(AuthorizationResponseError::State);
        }
        if now > self.until {
            return Err(AuthorizationResponseError::TooLate);
        }
        match value("iss") {
            Some(issuer) if issuer == self.issuer => {}
            Some(_) => return Err(AuthorizationResponseError::Issuer),
            None if self.promises_issuer => return Err(AuthorizationResponseError::NoIssuer),
            None => {}
        }
        if let Some(code) = value("error") {
            return Err(AuthorizationResponseError::Refused(OAuthErrorResponse {
                status: 302,
                code: Some(plain(code)),
                description: value("error_description").map(plain),
            }));
        }
        let code = value("code").filter(|code| !code.is_empty());
        code.map(Secret::from)
            .ok_or(AuthorizationResponseError::NoCode)
    }
}

/// Authorization response: the query of the redirect.
#[derive(Clone)]
pub struct AuthorizationResponse(Secret);

impl AuthorizationResponse {
    /// From the query, without its `?`.
    pub fn with_query(query: &str) -> Self {
        Self(query.into())
    }

    /// From the whole address.
    pub fn at(url: &str) -> Self {
        let url = url.split('#').next().unwrap_or_default();
        Self::with_query(url.split_once('?').map_or("", |(_, query)| query))
    }

    /// Returns the query.
    pub(crate) fn query(&self) -> &str {
        self.0.reveal()
    }
}

impl std::fmt::Debug for AuthorizationResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AuthorizationResponse")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://as.example/t";

    fn flow_context() -> FlowContext {
        FlowContext::new(SystemTime::UNIX_EPOCH, [7; 96])
    }

    fn server(promises: Option<bool>, methods: Option<&[&str]>) -> ServerMetadata {
        let listed = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        ServerMetadata {
            issuer: ISSUER.to_owned(),
            authorization_endpoint: Some("https://as.example/authorize?tenant=1".to_owned()),
            authorization_response_iss_parameter_supported: promises,
            code_challenge_methods_supported: methods.map(listed),
            ..ServerMetadata::default()
        }
    }

    fn begin(server: &ServerMetadata) -> Result<(Pending, SignInRequest), AuthError> {
        let ask = AuthorizationRequest {
            server,
            client: "c d",
            redirect: "http://127.0.0.1:9/callback",
            resource: "https://mcp.example/mcp",
            scope: Some("a b"),
        };
        Pending::begin(&ask, &flow_context())
    }

    // spec: 2025-11-25 AUTH-48, AUTH-49, AUTH-55, AUTH-86, AUTH-88, AUTH-95, AUTH-RFC-09
    // spec: 2026-07-28 N-AUTH-24, N-AUTH-26, N-AUTH-33
    // hardening: H-37, H-47
    #[test]
    fn a_user_is_sent_with_a_challenge_a_state_and_a_resource() {
        let (pending, visit) = begin(&server(None, Some(&["plain", "S256"]))).expect("a visit");
        let (place, query) = visit.url.split_once('?').expect("a query");
        assert_eq!(place, "https://as.example/authorize");
        let pairs = form::read(query).expect("pairs");
        let value = |name: &str| {
            let found = pairs.iter().find(|(own, _)| own == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        for (name, expected) in [
            ("tenant", "1"),
            ("response_type", "code"),
            ("client_id", "c d"),
            ("redirect_uri", "http://127.0.0.1:9/callback"),
            ("code_challenge_method", "S256"),
            ("resource", "https://mcp.example/mcp"),
            ("scope", "a b"),
        ] {
            assert_eq!(value(name), expected, "{name}");
        }
        let verifier = pending.verifier.reveal();
        assert_eq!(verifier.len(), 43);
        let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        assert_eq!(value("code_challenge"), hash);
        assert!(value("state").len() >= 22);
        assert_eq!(format!("{visit:?}"), format!("Visit({ISSUER})"));
    }

    // spec: 2025-11-25 AUTH-87, AUTH-89, AUTH-90, AUTH-91, AMB-100
    // spec: 2026-07-28 N-AUTH-24
    // hardening: H-37
    #[test]
    fn a_server_that_does_not_list_s256_is_rejected() {
        for methods in [None, Some(&[][..]), Some(&["plain"]), Some(&["s256"])] {
            let refused = begin(&server(None, methods));
            assert!(
                matches!(
                    refused,
                    Err(AuthError::Server {
                        reason: AuthServerError::Pkce,
                        ..
                    })
                ),
                "{methods:?}"
            );
        }
    }

    // spec: 2026-07-28 N-AUTH-28, N-AUTH-29, N-AUTH-30, N-AUTH-31
    // hardening: H-35, H-36
    #[test]
    fn the_way_back_is_believed_only_from_the_issuer() {
        use AuthorizationResponseError::{Issuer, NoIssuer, State};
        let state = flow_context().state();
        let encoded = form::encode(ISSUER);
        let rows = [
            (
                Some(true),
                format!("code=x&state={state}&iss={encoded}"),
                None,
            ),
            (None, format!("code=x&state={state}&iss={encoded}"), None),
            (None, format!("code=x&state={state}"), None),
            (Some(false), format!("code=x&state={state}"), None),
            (Some(true), format!("code=x&state={state}"), Some(NoIssuer)),
            (
                Some(true),
                format!("code=x&state={state}&iss={encoded}%2F"),
                Some(Issuer),
            ),
            (
                None,
                format!("code=x&state={state}&iss=https://evil.example"),
                Some(Issuer),
            ),
            (
                None,
                format!("code=x&state={state}&iss=https://AS.example/t"),
                Some(Issuer),
            ),
            (
                None,
                format!("code=x&state={state}&iss=https://as.example:443/t"),
                Some(Issuer),
            ),
            (None, format!("code=x&state={state}&iss="), Some(Issuer)),
            (None, "code=x".to_owned(), Some(State)),
            (None, "code=x&state=".to_owned(), Some(State)),
            (None, format!("code=x&state={state}x"), Some(State)),
            // The error of another issuer is not quoted.
            (
                None,
                format!("error=x&state={state}&iss=https://evil.example"),
                Some(Issuer),
            ),
            (
                None,
                "error=phish&error_description=call+us".to_owned(),
                Some(State),
            ),
            (
                None,
                format!("state={state}"),
                Some(AuthorizationResponseError::NoCode),
            ),
            (
                None,
                format!("code=x&code=y&state={state}"),
                Some(AuthorizationResponseError::Unreadable),
            ),
        ];
        for (promises, query, expected) in rows {
            let (pending, _) = begin(&server(promises, Some(&["S256"]))).expect("a visit");
            let found = pending.check_response(&query, SystemTime::UNIX_EPOCH);
            assert_eq!(found.err(), expected, "{query}");
        }
    }

    // hardening: H-36
    #[test]
    fn a_sign_in_times_out_and_reports_an_error_response() {
        let (pending, _) = begin(&server(None, Some(&["S256"]))).expect("a visit");
        let state = flow_context().state();
        let query = format!("code=x&state={state}");
        let end = SystemTime::UNIX_EPOCH + VISIT_TIME;
        assert!(pending.check_response(&query, end).is_ok());
        let late = pending.check_response(&query, end + Duration::from_secs(1));
        assert_eq!(late.err(), Some(AuthorizationResponseError::TooLate));
        let query = format!("error=access_denied&error_description=No%0A%1B[31m&state={state}");
        let refused = pending
            .end(&query, SystemTime::UNIX_EPOCH)
            .expect_err("refused");
        let expected =
            "the sign-in at https://as.example/t did not succeed: access_denied (No[31m)";
        assert_eq!(refused.to_string(), expected);
    }
}
