//! Registration and authentication of clients.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{IssuerResponse, RecordedRequest, State, random_name, unescaped};

/// A registered client.
#[derive(Debug, Clone)]
pub(super) struct Client {
    secret: Option<String>,
    pub(super) redirects: Vec<String>,
}

impl Client {
    pub(super) fn new(secret: Option<&str>, redirects: &[&str]) -> Self {
        Self {
            secret: secret.map(str::to_owned),
            redirects: redirects.iter().map(|&one| one.to_owned()).collect(),
        }
    }
}

impl State {
    /// Registers a client: RFC 7591. A client that names no authentication method gets a secret.
    pub(super) fn register(&mut self, asked: &RecordedRequest) -> IssuerResponse {
        let Ok(mut metadata) = serde_json::from_slice::<Value>(&asked.body) else {
            return IssuerResponse::error(400, "invalid_client_metadata");
        };
        let texts = |value: &Value| -> Option<Vec<String>> {
            let all = value.as_array()?.iter();
            all.map(|one| one.as_str().map(str::to_owned)).collect()
        };
        let redirects = match &metadata["redirect_uris"] {
            Value::Null => Some(Vec::new()),
            list => texts(list),
        };
        let Some(redirects) = redirects.filter(|all| all.iter().all(|one| is_safe(one))) else {
            return IssuerResponse::error(400, "invalid_redirect_uri");
        };
        let is_public = metadata["token_endpoint_auth_method"] == "none";
        let (id, secret) = (random_name(), (!is_public).then(random_name));
        metadata["client_id"] = json!(id);
        if let Some(secret) = &secret {
            metadata["client_secret"] = json!(secret);
            metadata["client_secret_expires_at"] = json!(0);
        }
        self.clients.insert(id, Client { secret, redirects });
        IssuerResponse::json(201, &metadata)
    }

    /// Returns the client that makes a request, by its credentials. These are `client_secret_basic`,
    /// `client_secret_post`, or only an id if the client has no secret.
    pub(super) fn authenticated(&self, asked: &RecordedRequest) -> Option<String> {
        let (id, secret) = match asked.header("authorization") {
            Some(line) => {
                let both = STANDARD.decode(line.strip_prefix("Basic ")?).ok()?;
                let both = String::from_utf8(both).ok()?;
                let (id, secret) = both.split_once(':')?;
                (unescaped(id), Some(unescaped(secret)))
            }
            None => (
                asked.parameter("client_id")?.to_owned(),
                asked.parameter("client_secret").map(str::to_owned),
            ),
        };
        (self.clients.get(&id)?.secret == secret).then_some(id)
    }
}

/// Returns true for `https`, and for `http` on the loopback.
fn is_safe(redirect: &str) -> bool {
    let loopback = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    let is_loopback = loopback.iter().any(|start| {
        let rest = redirect.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    redirect.starts_with("https://") || is_loopback
}
