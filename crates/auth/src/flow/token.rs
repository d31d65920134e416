//! Requests to the token endpoint: client authentication, form and response.
//!
//! Spec: RFC 6749, 4 to 6; OAuth 2.1 (draft 13), 3.2; RFC 9449, 5 and 8.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pintle_runtime::{FetchError, FetchRequest, FetchResponse, NetworkScope};
use serde::Deserialize;
use serde_json::Value;

use crate::client::{ClientAuthentication, ClientRegistration};
use crate::error::{AuthError, AuthServerError, EndpointRequest, OAuthErrorResponse, plain};
use crate::flow::issued_tokens::{DpopKey, TokenResponse};
use crate::flow_context::FlowContext;
use crate::form;
use crate::key::Proof;
use crate::secret::Secret;

/// A request to a token endpoint. It is repeated once if the server requires a nonce.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) what: EndpointRequest,
    pub(crate) endpoint: String,
    /// Audience of an assertion of the client.
    pub(crate) issuer: String,
    pub(crate) client: ClientRegistration,
    /// Client authentication methods of the server; `None` if its metadata has no list.
    pub(crate) methods: Option<Vec<String>>,
    /// Form parameters, without the client authentication.
    pub(crate) form: Vec<(&'static str, Secret)>,
    pub(crate) dpop: Option<DpopKey>,
    pub(crate) nonce: Option<String>,
    pub(crate) network: NetworkScope,
}

/// Next step after a response of a token endpoint.
#[derive(Debug)]
pub(crate) enum Exchanged {
    /// Ask once more.
    Again(FetchRequest),
    /// The answer, as it was written.
    Done(Value),
}

/// Client authentication method. The list is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    None,
    Basic,
    Post,
    Assertion,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Assertion => "private_key_jwt",
        }
    }
}

impl Exchange {
    /// The request, as it goes out now.
    ///
    /// # Errors
    ///
    /// [`AuthError::Server`] if the server supports no method that the client can use;
    /// [`AuthError::Key`].
    pub(crate) fn request(&self, at: &FlowContext) -> Result<FetchRequest, AuthError> {
        let method = self.method()?;
        let mut pairs: Vec<(&str, Secret)> = self.form.clone();
        let mut authorization = None;
        match (method, &self.client.proof) {
            (Method::Basic, ClientAuthentication::Secret(secret)) => {
                let pair = format!(
                    "{}:{}",
                    form::encode(&self.client.id),
                    form::encode(secret.reveal())
                );
                authorization = Some(format!("Basic {}", STANDARD.encode(pair)));
            }
            (Method::Post, ClientAuthentication::Secret(secret)) => {
                pairs.push(("client_id", self.client.id.clone().into()));
                pairs.push(("client_secret", secret.clone()));
            }
            (Method::Assertion, ClientAuthentication::Key(key)) => {
                const JWT: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                let (client, id) = (&self.client.id, at.assertion_id());
                pairs.push(("client_assertion_type", JWT.into()));
                pairs.push((
                    "client_assertion",
                    key.assertion(client, &self.issuer, &id, at.now)?,
                ));
            }
            _ => {
                if !self.client.id.is_empty() {
                    pairs.push(("client_id", self.client.id.clone().into()));
                }
            }
        }
        let body = form::write(
            pairs
                .iter()
                .map(|(name, value)| (*name, value.reveal().as_str())),
        );
        let mut request =
            FetchRequest::post(&self.endpoint, "application/x-www-form-urlencoded", body)
                .header("accept", "application/json");
        request.network = self.network;
        if let Some(value) = authorization {
            request = request.header("authorization", &value);
        }
        if let Some(dpop) = &self.dpop {
            let id = at.proof_id();
            let proof = dpop.key.proof(&Proof {
                method: "POST",
                url: &self.endpoint,
                token: None,
                nonce: self.nonce.as_deref(),
                id: &id,
                now: at.now,
            })?;
            request = request.header("dpop", proof.reveal());
        }
        Ok(request)
    }

    /// Accepts a response and returns the next step.
    ///
    /// # Errors
    ///
    /// [`AuthError::RequestFailed`], [`AuthError::Refused`], [`AuthError::InvalidResponse`].
    pub(crate) fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<Exchanged, AuthError> {
        let place: Box<str> = self.endpoint.split('?').next().unwrap_or_default().into();
        let what = self.what;
        let answer = answer.map_err(|fault| AuthError::RequestFailed {
            what,
            place: place.clone(),
            fault,
        })?;
        if (200..300).contains(&answer.status) {
            // The error must not quote the body, because it may contain tokens.
            let read = serde_json::from_slice(&answer.body);
            return read
                .map(Exchanged::Done)
                .map_err(|_| AuthError::InvalidResponse {
                    what,
                    place,
                    fault: "it is not JSON".into(),
                });
        }
        let refusal = self.refusal(&answer);
        let wants_nonce = refusal.code.as_deref() == Some("use_dpop_nonce");
        match answer.single("dpop-nonce") {
            Some(nonce)
                if wants_nonce && self.dpop.is_some() && self.nonce.as_deref() != Some(nonce) =>
            {
                let had_one = self.nonce.replace(nonce.to_owned()).is_some();
                if had_one {
                    return Err(AuthError::Refused {
                        what,
                        place,
                        refusal,
                    });
                }
                Ok(Exchanged::Again(self.request(at)?))
            }
            _ => Err(AuthError::Refused {
                what,
                place,
                refusal,
            }),
        }
    }

    /// The tokens of an answer.
    ///
    /// # Errors
    ///
    /// [`AuthError::InvalidResponse`].
    pub(crate) fn tokens(
        &self,
        given: Value,
        at: &FlowContext,
    ) -> Result<TokenResponse, AuthError> {
        let tokens = TokenResponse::read(given, self.dpop.is_some(), at.now);
        tokens.map_err(|fault| self.invalid(fault))
    }

    /// The error of an invalid response.
    pub(crate) fn invalid(&self, fault: &str) -> AuthError {
        AuthError::InvalidResponse {
            what: self.what,
            place: self.endpoint.split('?').next().unwrap_or_default().into(),
            fault: fault.into(),
        }
    }

    /// Returns the client with its authentication method. A refresh needs it, because it does not
    /// read the metadata of the server.
    pub(crate) fn client_with_method(&self) -> Result<ClientRegistration, AuthError> {
        let method = self.method()?;
        let mut client = self.client.clone();
        if client.method.is_none() && method != Method::None {
            client.method = Some(method.name().to_owned());
        }
        Ok(client)
    }

    fn refusal(&self, answer: &FetchResponse) -> OAuthErrorResponse {
        let mut refusal = read_refusal(answer);
        refusal.code = refusal.code.filter(|text| !self.is_repeated(text));
        refusal.description = refusal.description.filter(|text| !self.is_repeated(text));
        refusal
    }

    /// Whether a text has something in it that was sent: a server may repeat that.
    fn is_repeated(&self, text: &str) -> bool {
        let own = match &self.client.proof {
            ClientAuthentication::Secret(secret) => Some(secret),
            _ => None,
        };
        let sent = self.form.iter().map(|(_, value)| value);
        let has_sent = sent
            .chain(own)
            .map(Secret::reveal)
            .any(|value| value.len() >= 8 && text.contains(value.as_str()));
        // A JWT or Basic credentials: the client computes them anew for each request.
        has_sent || text.contains("eyJ") || text.contains("Basic ")
    }

    fn method(&self) -> Result<Method, AuthError> {
        let supported = |name: &str| match &self.methods {
            None => name == "client_secret_basic",
            Some(all) => all.iter().any(|own| own == name),
        };
        let own = self.client.method.as_deref();
        let wants = |name: &str| own == Some(name) || (own.is_none() && supported(name));
        match &self.client.proof {
            ClientAuthentication::None => Ok(Method::None),
            ClientAuthentication::Secret(_) if wants("client_secret_basic") => Ok(Method::Basic),
            ClientAuthentication::Secret(_) if wants("client_secret_post") => Ok(Method::Post),
            // The server accepts clients without authentication, so the secret is not sent.
            ClientAuthentication::Secret(_) if wants("none") => Ok(Method::None),
            ClientAuthentication::Key(_) if wants("private_key_jwt") || self.methods.is_none() => {
                Ok(Method::Assertion)
            }
            _ => Err(AuthError::Server {
                issuer: self.issuer.as_str().into(),
                reason: AuthServerError::Method,
            }),
        }
    }
}

/// Reads the error response of an endpoint.
pub(crate) fn read_refusal(answer: &FetchResponse) -> OAuthErrorResponse {
    #[derive(Deserialize, Default)]
    struct Wire {
        error: Option<String>,
        error_description: Option<String>,
    }
    let wire: Wire = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is_code = |code: &String| {
        code.len() <= 64
            && code
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    OAuthErrorResponse {
        status: answer.status,
        code: wire.error.filter(is_code).map(Into::into),
        description: wire.error_description.map(|text| plain(&text)),
    }
}
