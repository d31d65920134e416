//! The token endpoint: who asks, with what, and what it gives.
//!
//! Spec: RFC 6749, 4 to 6; OAuth 2.1 (draft 13), 3.2 and 4.3; RFC 9449, 5 and 8.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pintle_runtime::{FetchFault, FetchRequest, Fetched, Reach};
use serde::Deserialize;
use serde_json::Value;

use crate::client::{ClientId, ClientProof};
use crate::error::{AuthError, Lack, Refusal, Request, plain};
use crate::form;
use crate::key::{Proof, SigningKey};
use crate::metadata::ServerMetadata;
use crate::moment::Moment;
use crate::scope::Scopes;
use crate::secret::Secret;

/// How long before its end a token is no longer used: clocks differ, and requests take time.
const SKEW: Duration = Duration::from_secs(30);

/// What a token endpoint gave.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tokens {
    /// What requests are made with.
    pub access: Secret,
    /// What another one is asked for with.
    pub refresh: Option<Secret>,
    /// What the token is good for, where the server said so.
    pub scopes: Option<Scopes>,
    /// Until when, where the server said so.
    pub expires: Option<SystemTime>,
    /// Whether it is used only with a proof of the key.
    pub is_bound: bool,
}

impl Tokens {
    /// Whether it is no longer worth sending.
    pub fn is_stale(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|end| now + SKEW >= end)
    }
}

/// A key that tokens are bound to, and what it takes to keep it.
#[derive(Debug, Clone)]
pub struct DpopKey {
    pub(crate) key: Arc<SigningKey>,
    pub(crate) kept: Secret<Vec<u8>>,
}

impl DpopKey {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// [`AuthError::Key`].
    pub fn generate() -> Result<Self, AuthError> {
        let (key, kept) = SigningKey::generate()?;
        Ok(Self {
            key: Arc::new(key),
            kept,
        })
    }

    pub(crate) fn restore(kept: Secret<Vec<u8>>) -> Result<Self, AuthError> {
        let key = SigningKey::from_pkcs8(&kept, crate::key::Algorithm::Es256)?;
        Ok(Self {
            key: Arc::new(key),
            kept,
        })
    }
}

/// What came of a sign-in: the token, for which server, and where to get the next one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Grant {
    /// Who issued it.
    pub issuer: String,
    /// For which resource, as it was named to the issuer.
    pub resource: String,
    /// Where tokens come from.
    pub token_endpoint: String,
    /// The client it was issued to.
    pub client: ClientId,
    /// What was asked for.
    pub requested: Scopes,
    /// The key it is bound to.
    pub dpop: Option<DpopKey>,
    /// What was given.
    pub tokens: Tokens,
}

/// A request to a token endpoint, and once more if it wants a nonce.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) what: Request,
    pub(crate) endpoint: String,
    /// Whom an assertion of the client is for.
    pub(crate) issuer: String,
    pub(crate) client: ClientId,
    /// Which methods the server takes; none where its metadata does not say.
    pub(crate) methods: Option<Vec<String>>,
    /// Names and values, without what says who the client is.
    pub(crate) form: Vec<(&'static str, Secret)>,
    pub(crate) dpop: Option<DpopKey>,
    pub(crate) nonce: Option<String>,
    pub(crate) reach: Reach,
}

/// What follows from an answer of a token endpoint.
#[derive(Debug)]
pub(crate) enum Exchanged {
    /// Ask once more.
    Again(FetchRequest),
    /// The answer, as it was written.
    Done(Value),
}

/// How a client says who it is. Closed: these are all ways there are here.
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
    /// [`AuthError::Server`] when there is no common way to say who the client is;
    /// [`AuthError::Key`].
    pub(crate) fn request(&self, at: &Moment) -> Result<FetchRequest, AuthError> {
        let method = self.method()?;
        let mut pairs: Vec<(&str, Secret)> = self.form.clone();
        let mut authorization = None;
        match (method, &self.client.proof) {
            (Method::Basic, ClientProof::Secret(secret)) => {
                let pair = format!(
                    "{}:{}",
                    form::encode(&self.client.id),
                    form::encode(secret.reveal())
                );
                authorization = Some(format!("Basic {}", STANDARD.encode(pair)));
            }
            (Method::Post, ClientProof::Secret(secret)) => {
                pairs.push(("client_id", self.client.id.clone().into()));
                pairs.push(("client_secret", secret.clone()));
            }
            (Method::Assertion, ClientProof::Key(key)) => {
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
        request.reach = self.reach;
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

    /// What follows from an answer.
    ///
    /// # Errors
    ///
    /// [`AuthError::Unanswered`], [`AuthError::Refused`], [`AuthError::Answer`].
    pub(crate) fn take(
        &mut self,
        answer: Result<Fetched, FetchFault>,
        at: &Moment,
    ) -> Result<Exchanged, AuthError> {
        let place: Box<str> = self.endpoint.split('?').next().unwrap_or_default().into();
        let what = self.what;
        let answer = answer.map_err(|fault| AuthError::Unanswered {
            what,
            place: place.clone(),
            fault,
        })?;
        if (200..300).contains(&answer.status) {
            // Neither the reader's words nor ours repeat what was read: there are tokens in it.
            let read = serde_json::from_slice(&answer.body);
            return read.map(Exchanged::Done).map_err(|_| AuthError::Answer {
                what,
                place,
                fault: "it is no JSON".into(),
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

    /// The client, with the way in which it said who it is: whoever refreshes has no metadata that
    /// says which ways there are.
    pub(crate) fn settled(&self) -> Result<ClientId, AuthError> {
        let method = self.method()?;
        let mut client = self.client.clone();
        if client.method.is_none() && method != Method::None {
            client.method = Some(method.name().to_owned());
        }
        Ok(client)
    }

    fn refusal(&self, answer: &Fetched) -> Refusal {
        let mut refusal = read_refusal(answer);
        refusal.code = refusal.code.filter(|text| !self.is_repeated(text));
        refusal.description = refusal.description.filter(|text| !self.is_repeated(text));
        refusal
    }

    /// Whether a text has something in it that was sent: a server may repeat that.
    fn is_repeated(&self, text: &str) -> bool {
        let own = match &self.client.proof {
            ClientProof::Secret(secret) => Some(secret),
            _ => None,
        };
        let sent = self.form.iter().map(|(_, value)| value);
        let has_sent = sent
            .chain(own)
            .map(Secret::reveal)
            .any(|value| value.len() >= 8 && text.contains(value.as_str()));
        // So begins what is signed, and is made anew for every request.
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
            ClientProof::None => Ok(Method::None),
            ClientProof::Secret(_) if wants("client_secret_basic") => Ok(Method::Basic),
            ClientProof::Secret(_) if wants("client_secret_post") => Ok(Method::Post),
            // The server has said that it wants no secret.
            ClientProof::Secret(_) if wants("none") => Ok(Method::None),
            ClientProof::Key(_) if wants("private_key_jwt") || self.methods.is_none() => {
                Ok(Method::Assertion)
            }
            _ => Err(AuthError::Server {
                issuer: self.issuer.as_str().into(),
                reason: Lack::Method,
            }),
        }
    }
}

/// What an endpoint says when it refuses.
pub(crate) fn read_refusal(answer: &Fetched) -> Refusal {
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
    Refusal {
        status: answer.status,
        code: wire.error.filter(is_code).map(Into::into),
        description: wire.error_description.map(|text| plain(&text)),
    }
}

impl Tokens {
    /// Reads what a token endpoint gave.
    ///
    /// # Errors
    ///
    /// What is wrong with it; nothing of it is in there.
    pub(crate) fn read(
        answer: Value,
        is_proven: bool,
        now: SystemTime,
    ) -> Result<Self, &'static str> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let access = text("access_token").ok_or("it has no \"access_token\"")?;
        let is_token = |byte: u8| byte.is_ascii_graphic();
        if access.is_empty() || !access.bytes().all(is_token) {
            return Err("its \"access_token\" is none that a header can hold");
        }
        let kind = text("token_type").ok_or("it has no \"token_type\"")?;
        let is_bound = kind.eq_ignore_ascii_case("dpop");
        if !(is_bound && is_proven || kind.eq_ignore_ascii_case("bearer")) {
            return Err("its \"token_type\" is none that was asked for");
        }
        let scopes = text("scope").map(Scopes::parse).transpose();
        Ok(Self {
            access: access.into(),
            refresh: text("refresh_token")
                .filter(|text| !text.is_empty())
                .map(Secret::from),
            scopes: scopes.map_err(|_| "its \"scope\" is no list of scopes")?,
            expires: lifetime(answer.get("expires_in")).map(|time| now + time),
            is_bound,
        })
    }
}

/// A lifetime in seconds; some servers write it as text. More than a year is a year.
fn lifetime(value: Option<&Value>) -> Option<Duration> {
    const MOST: f64 = 365.0 * 24.0 * 3600.0;
    let seconds = match value? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(MOST)))
}

/// Asks for another token with the one that was given for that.
#[derive(Debug)]
pub struct Refresh {
    exchange: Exchange,
    grant: Grant,
}

impl Refresh {
    /// A refresh of a grant; none when it was given nothing to refresh it with.
    ///
    /// What goes out goes to the endpoint that gave the token, and nowhere else.
    pub fn of(grant: &Grant, server: Option<&ServerMetadata>, reach: Reach) -> Option<Self> {
        let refresh = grant.tokens.refresh.clone()?;
        let form = vec![
            ("grant_type", "refresh_token".into()),
            ("refresh_token", refresh),
            ("resource", grant.resource.clone().into()),
        ];
        let methods =
            server.and_then(|server| server.token_endpoint_auth_methods_supported.clone());
        let exchange = Exchange {
            what: Request::Refresh,
            endpoint: grant.token_endpoint.clone(),
            issuer: grant.issuer.clone(),
            client: grant.client.clone(),
            methods,
            form,
            dpop: grant.dpop.clone(),
            nonce: None,
            reach,
        };
        Some(Self {
            exchange,
            grant: grant.clone(),
        })
    }

    /// What to fetch first.
    ///
    /// # Errors
    ///
    /// As for any request of a token.
    pub fn begin(&self, at: &Moment) -> Result<FetchRequest, AuthError> {
        self.exchange.request(at)
    }

    /// What follows from an answer: another request, or the grant with its new token.
    ///
    /// # Errors
    ///
    /// [`AuthError::Refused`] with `invalid_grant` when the token is used up.
    pub fn take(
        &mut self,
        answer: Result<Fetched, FetchFault>,
        at: &Moment,
    ) -> Result<Result<Grant, FetchRequest>, AuthError> {
        let given = match self.exchange.take(answer, at)? {
            Exchanged::Again(request) => return Ok(Err(request)),
            Exchanged::Done(given) => given,
        };
        let mut tokens = self.exchange.tokens(given, at)?;
        let old = &self.grant.tokens;
        // A server that does not rotate says nothing: the old one stays good.
        tokens.refresh = tokens.refresh.or_else(|| old.refresh.clone());
        tokens.scopes = tokens.scopes.or_else(|| old.scopes.clone());
        Ok(Ok(Grant {
            tokens,
            ..self.grant.clone()
        }))
    }
}

impl Exchange {
    pub(crate) fn tokens(&self, given: Value, at: &Moment) -> Result<Tokens, AuthError> {
        let tokens = Tokens::read(given, self.dpop.is_some(), at.now);
        tokens.map_err(|fault| AuthError::Answer {
            what: self.what,
            place: self.endpoint.split('?').next().unwrap_or_default().into(),
            fault: fault.into(),
        })
    }
}
