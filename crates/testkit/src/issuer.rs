//! An authorization server in memory, for tests of code that needs tokens.
//!
//! It answers as a real server does: metadata (RFC 8414 and OpenID), keys and client registration.
//! Its authorization endpoint asks no user for consent. It issues tokens for codes with PKCE, for
//! refresh tokens, for device codes ([`Issuer::device_polls`]) and for clients themselves. A token is bound to a key (DPoP) if the client proves
//! one. It supports introspection and revocation. It runs in memory ([`Issuer`] is a [`Fetch`]), or
//! listens on the loopback for tests that need sockets ([`Issuer::listen`]). [`Issuer::token`] makes
//! any token that a test needs, good or bad.
//!
//! Nothing in its answers is secret, and it must not be used in production, because one of its keys
//! is in this repository.
//!
//! ```
//! use pintle_testkit::issuer::Issuer;
//! use pintle_runtime::{Fetch as _, FetchRequest};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let issuer = Issuer::new("https://issuer.test");
//! let token = issuer.token("https://api.test/mcp").scopes("files:read").sign();
//! assert_eq!(token.split('.').count(), 3);
//!
//! let document = FetchRequest::get("https://issuer.test/.well-known/oauth-authorization-server");
//! assert_eq!(issuer.fetch(document).await?.status, 200);
//! assert_eq!(issuer.count("/jwks"), 0);
//! # Ok(())
//! # }
//! ```

mod authorize;
mod device;
mod exchange;
mod keys;
mod listen;
mod proof;
mod register;
mod token;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse, random_bytes};
use serde_json::{Map, Value, json};

pub use device::DevicePoll;
pub use keys::Signature;
pub use proof::{Proof, ProofKey};
pub use token::Token;

use authorize::Code;
use device::Devices;
use exchange::Refresh;
use keys::Keys;
use register::Client;

/// An authorization server. Clones are the same one.
#[derive(Clone)]
pub struct Issuer(Arc<Inner>);

struct Inner {
    name: String,
    state: Mutex<State>,
}

struct State {
    keys: Keys,
    document: Map<String, Value>,
    clients: BTreeMap<String, Client>,
    codes: BTreeMap<String, Code>,
    devices: Devices,
    refreshes: BTreeMap<String, Refresh>,
    /// Every token that was signed here and is not revoked.
    issued: BTreeSet<String>,
    seen: Vec<RecordedRequest>,
    reuses: usize,
    behavior: IssuerBehavior,
    subject: String,
    consents: bool,
}

/// The behavior of an issuer. Exhaustive, because tests need no other behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IssuerBehavior {
    /// The issuer answers every request correctly.
    #[default]
    Well,
    /// Every answer has this HTTP status.
    Broken(u16),
    /// No connection to it succeeds.
    Down,
    /// Requests never get an answer.
    Silent,
}

/// A request to an issuer.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The HTTP method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// The parameters of query and form, in their order.
    pub parameters: Vec<(String, String)>,
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as raw bytes.
    pub body: Vec<u8>,
}

/// The response to one request.
#[derive(Debug)]
pub(crate) struct IssuerResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Issuer {
    /// Creates an issuer in memory. Its name is any URL without a path.
    pub fn new(name: &str) -> Self {
        Self(Arc::new(Inner {
            name: name.to_owned(),
            state: Mutex::new(State {
                keys: Keys::new(),
                document: document(name),
                clients: BTreeMap::new(),
                codes: BTreeMap::new(),
                devices: Devices::default(),
                refreshes: BTreeMap::new(),
                issued: BTreeSet::new(),
                seen: Vec::new(),
                reuses: 0,
                behavior: IssuerBehavior::Well,
                subject: "ada".into(),
                consents: true,
            }),
        }))
    }

    /// The issuer URL, as its metadata has it.
    pub fn url(&self) -> &str {
        &self.0.name
    }

    /// Begins a token for a server: valid, unless its builder changes it.
    pub fn token(&self, audience: &str) -> Token {
        Token::new(self, audience)
    }

    /// Signs with new keys from now on. The old keys stay published until [`Issuer::retire`].
    pub fn rotate(&self) {
        self.lock().keys.rotate();
    }

    /// Withdraws all keys except the newest.
    pub fn retire(&self) {
        self.lock().keys.retire();
    }

    /// Revokes a token. It stays signed, but is not active any more.
    pub fn revoke(&self, token: &str) {
        self.lock().issued.remove(token);
    }

    /// Changes the metadata document.
    pub fn edit(&self, change: impl FnOnce(&mut Map<String, Value>)) {
        change(&mut self.lock().document);
    }

    /// Adds a client without registration. A client with a secret has to authenticate with it.
    pub fn knows(&self, id: &str, secret: Option<&str>, redirects: &[&str]) {
        let client = Client::new(secret, redirects);
        self.lock().clients.insert(id.to_owned(), client);
    }

    /// Sets the subject of later sign-ins; `ada` at first.
    pub fn signs_in(&self, subject: &str) {
        self.lock().subject = subject.to_owned();
    }

    /// Sets whether the user consents to later requests.
    pub fn consents(&self, consents: bool) {
        self.lock().consents = consents;
    }

    /// Sets the responses to the next polls for device codes. After them, a poll gets tokens if the user
    /// consents.
    pub fn device_polls(&self, polls: impl IntoIterator<Item = DevicePoll>) {
        self.lock().devices.respond_with(polls);
    }

    /// Sets members of later device authorization responses, such as `interval`.
    pub fn device_members(&self, members: Map<String, Value>) {
        self.lock().devices.edit(members);
    }

    /// Sets the behavior of the issuer from now on.
    pub fn set_behavior(&self, behavior: IssuerBehavior) {
        self.lock().behavior = behavior;
    }

    /// All requests, in order.
    pub fn seen(&self) -> Vec<RecordedRequest> {
        self.lock().seen.clone()
    }

    /// The number of requests to a path.
    pub fn count(&self, path: &str) -> usize {
        self.seen()
            .iter()
            .filter(|asked| asked.path == path)
            .count()
    }

    /// The number of refresh tokens that arrived a second time. Each reuse revokes all tokens of its
    /// sign-in, because the token may be stolen.
    pub fn reuses(&self) -> usize {
        self.lock().reuses
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }

    /// Answers a request; returns nothing if it stays without an answer.
    fn answer(&self, asked: RecordedRequest) -> Option<IssuerResponse> {
        let mut state = self.lock();
        state.seen.push(asked.clone());
        match state.behavior {
            IssuerBehavior::Well => {}
            IssuerBehavior::Broken(status) => return Some(IssuerResponse::bare(status)),
            IssuerBehavior::Down | IssuerBehavior::Silent => return None,
        }
        Some(match (asked.method.as_str(), asked.path.as_str()) {
            (
                "GET",
                "/.well-known/oauth-authorization-server" | "/.well-known/openid-configuration",
            ) => IssuerResponse::json(200, &Value::Object(state.document.clone())),
            ("GET", "/jwks") => IssuerResponse::json(200, &state.keys.set()),
            ("GET", "/authorize") => state.authorize(&self.0.name, &asked),
            ("POST", "/device_authorization") => state.authorize_device(&self.0.name, &asked),
            ("POST", "/register") => state.register(&asked),
            ("POST", "/token") => state.exchange(&self.0.name, &asked),
            ("POST", "/introspect") => state.introspect(&asked),
            ("POST", "/revoke") => state.forget(&asked),
            _ => IssuerResponse::bare(404),
        })
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Issuer").field(&self.0.name).finish()
    }
}

/// Without sockets: only requests to this issuer's URL are answered.
impl Fetch for Issuer {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let Some(rest) = request.url.strip_prefix(&self.0.name) else {
            return Err(FetchError::unreachable(
                "this is not the address of the issuer",
            ));
        };
        let asked = RecordedRequest::new(
            request.method,
            rest,
            request
                .headers
                .iter()
                .map(|(name, value)| (&**name, &**value)),
            &request.body,
        );
        let message = match self.answer(asked) {
            Some(message) => message,
            None if self.lock().behavior == IssuerBehavior::Silent => {
                tokio::time::sleep(request.timeout).await;
                return Err(FetchError::TimedOut(request.timeout));
            }
            None => return Err(FetchError::unreachable("the issuer is down")),
        };
        if message.body.len() > request.max_bytes {
            return Err(FetchError::TooLarge(request.max_bytes));
        }
        let mut fetched = FetchResponse::new(message.status, message.body);
        for (name, value) in message.headers {
            fetched = fetched.header(name, &value);
        }
        Ok(fetched)
    }
}

impl RecordedRequest {
    fn new<'h>(
        method: &str,
        place: &str,
        headers: impl Iterator<Item = (&'h str, &'h str)>,
        body: &[u8],
    ) -> Self {
        let place = place.split('#').next().unwrap_or_default();
        let (path, query) = place.split_once('?').unwrap_or((place, ""));
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut parameters = form(query.as_bytes());
        let is_form = |(name, value): &(String, String)| {
            name == "content-type" && value.starts_with("application/x-www-form-urlencoded")
        };
        if headers.iter().any(is_form) {
            parameters.extend(form(body));
        }
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            parameters,
            headers,
            body: body.to_vec(),
        }
    }

    /// A parameter by its name; none if it is missing or there twice.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters.iter().filter(|(own, _)| own == name);
        let found = all.next()?;
        all.next().is_none().then_some(found.1.as_str())
    }

    /// A header by its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        let found = all.find(|(own, _)| own == name)?;
        Some(&found.1)
    }
}

/// Shows method and path only, because the other members may contain secrets.
impl fmt::Debug for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl IssuerResponse {
    fn bare(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![
                ("content-type", "application/json".into()),
                ("cache-control", "no-store".into()),
            ],
            body: body.to_string().into_bytes(),
        }
    }

    /// Error response: RFC 6749, section 5.2.
    fn error(status: u16, code: &str) -> Self {
        Self::json(status, &json!({ "error": code }))
    }
}

fn document(name: &str) -> Map<String, Value> {
    let at = |path: &str| format!("{name}{path}");
    let document = json!({
        "issuer": name,
        "authorization_endpoint": at("/authorize"),
        "device_authorization_endpoint": at("/device_authorization"),
        "token_endpoint": at("/token"),
        "registration_endpoint": at("/register"),
        "introspection_endpoint": at("/introspect"),
        "revocation_endpoint": at("/revoke"),
        "jwks_uri": at("/jwks"),
        "response_types_supported": ["code"],
        "grant_types_supported": [
            "authorization_code", "refresh_token", "client_credentials",
            "urn:ietf:params:oauth:grant-type:device_code",
        ],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "authorization_response_iss_parameter_supported": true,
        "dpop_signing_alg_values_supported": ["ES256"],
    });
    match document {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Returns a name that cannot be guessed.
fn random_name() -> String {
    let bytes: [u8; 16] = random_bytes().expect("the system gives randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Parses a body of type `application/x-www-form-urlencoded`.
fn form(text: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text);
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (unescaped(name), unescaped(value)))
        .collect()
}

fn unescaped(text: &str) -> String {
    let (bytes, mut at, mut out) = (text.as_bytes(), 0, Vec::new());
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    while let Some(byte) = bytes.get(at) {
        let pair = (digit(bytes.get(at + 1)), digit(bytes.get(at + 2)));
        let (byte, used) = match (byte, pair) {
            (b'%', (Some(high), Some(low))) => ((high * 16 + low) as u8, 3),
            (b'+', _) => (b' ', 1),
            (byte, _) => (*byte, 1),
        };
        out.push(byte);
        at += used;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Escapes a text for a query.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
