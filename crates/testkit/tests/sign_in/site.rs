//! One site for all: a server, its token issuer, and an identity provider of an enterprise.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pintle_auth::AuthorizationResponse;
use pintle_http::client::{DocumentClient, HttpClientOptions};
use pintle_runtime::{Fetch as _, FetchRequest, FetchResponse, NetworkScope};
use pintle_testkit::fake_http::{
    FakeResponse, FakeServer, SeenRequest, courtesy, empty, json, result, with,
};
use serde_json::{Value, json};

/// The prefix of every secret that this site makes.
pub(crate) const MARK: &str = "s3cret";
/// The secret members of forms.
const SECRET: [&str; 9] = [
    "code",
    "code_verifier",
    "refresh_token",
    "client_secret",
    "client_assertion",
    "assertion",
    "subject_token",
    "token",
    "state",
];

/// Clones are the same site.
#[derive(Clone, Default)]
pub(crate) struct Site(Arc<Inner>);

#[derive(Default)]
struct Inner {
    made: AtomicUsize,
    /// The valid tokens, and every secret that was seen.
    good: Mutex<Vec<String>>,
    secrets: Mutex<Vec<String>>,
    /// The index of the received value that the token endpoint repeats in its refusals; 0 while it
    /// issues tokens.
    repeated: AtomicUsize,
}

impl Site {
    pub(crate) async fn listen(&self) -> SocketAddr {
        let site = self.clone();
        let origin = FakeServer::new(move |seen, _| site.answer(seen));
        origin.listen().await.expect("a port")
    }

    /// Revokes every token that was issued so far.
    pub(crate) fn wears_out(&self) {
        self.0.good.lock().expect("whole").clear();
    }

    /// Refuses every token request, and repeats the `nth` received value, counted from 1; 0 issues
    /// tokens again.
    pub(crate) fn repeats(&self, nth: usize) {
        self.0.repeated.store(nth, Ordering::SeqCst);
    }

    /// Every secret that was sent.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.0.secrets.lock().expect("whole").clone()
    }

    fn make(&self, what: &str) -> String {
        let number = self.0.made.fetch_add(1, Ordering::SeqCst);
        format!("{MARK}-{what}-{number}")
    }

    fn note(&self, secret: &str) {
        if secret.len() >= 8 {
            self.0
                .secrets
                .lock()
                .expect("whole")
                .push(secret.to_owned());
        }
    }

    fn answer(&self, seen: &SeenRequest) -> FakeResponse {
        for name in ["authorization", "dpop"] {
            let value = seen.header(name).unwrap_or_default();
            self.note(value.rsplit(' ').next().unwrap_or_default());
        }
        let (path, query) = seen.target.split_once('?').unwrap_or((&seen.target, ""));
        let pairs = pairs(if query.is_empty() { &seen.body } else { query });
        for (name, value) in &pairs {
            if SECRET.contains(&name.as_str()) {
                self.note(value);
            }
        }
        let at = format!("http://{}", seen.header("host").unwrap_or_default());
        match path {
            "/.well-known/oauth-authorization-server" => json(200, &metadata(&at)),
            "/register" => json(201, &self.registered()),
            "/authorize" => self.consent(&pairs, &at),
            "/token" | "/idp" if self.0.repeated.load(Ordering::SeqCst) > 0 => self.repeat(seen),
            "/token" => json(200, &self.tokens(seen.header("dpop").is_some())),
            "/idp" => json(200, &self.word()),
            "/revoke" => empty(200),
            "/mcp" | "/dpop" => self.protected(seen, path),
            _ => match path.strip_prefix("/.well-known/oauth-protected-resource") {
                Some(own) if !own.is_empty() => {
                    let resource = format!("{at}{own}");
                    json(
                        200,
                        &json!({ "resource": resource, "authorization_servers": [at] }),
                    )
                }
                _ => empty(404),
            },
        }
    }

    fn registered(&self) -> Value {
        json!({
            "client_id": "registered", "client_secret": self.make("client"),
            "token_endpoint_auth_method": "client_secret_post",
        })
    }

    fn consent(&self, pairs: &[(String, String)], at: &str) -> FakeResponse {
        let value = |name: &str| {
            let found = pairs.iter().find(|(own, _)| own == name);
            found.map_or("", |(_, value)| value.as_str())
        };
        let (back, state) = (value("redirect_uri"), value("state"));
        let code = self.make("code");
        let back = format!("{back}?code={code}&state={state}&iss={at}");
        with(302, &[("location", &back)], "")
    }

    fn tokens(&self, is_bound: bool) -> Value {
        let access = self.make("access");
        self.0.good.lock().expect("whole").push(access.clone());
        let kind = if is_bound { "DPoP" } else { "Bearer" };
        json!({
            "access_token": access, "token_type": kind, "expires_in": 3600,
            "refresh_token": self.make("refresh"),
        })
    }

    fn word(&self) -> Value {
        json!({
            "access_token": self.make("word"), "token_type": "N_A",
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        })
    }

    /// Refuses, and repeats a value of the request.
    fn repeat(&self, seen: &SeenRequest) -> FakeResponse {
        let headers = ["authorization", "dpop"].map(|name| seen.header(name).map(str::to_owned));
        let form = pairs(&seen.body).into_iter().map(|(_, value)| value);
        let mut received = headers.into_iter().flatten().chain(form);
        let nth = self.0.repeated.load(Ordering::SeqCst) - 1;
        let message = format!("no: {}", received.nth(nth).unwrap_or_default());
        json(
            400,
            &json!({ "error": "invalid_grant", "error_description": message }),
        )
    }

    fn protected(&self, seen: &SeenRequest, path: &str) -> FakeResponse {
        let shown = seen.header("authorization").unwrap_or_default();
        let token = shown.rsplit(' ').next().unwrap_or_default();
        let is_good = self
            .0
            .good
            .lock()
            .expect("whole")
            .iter()
            .any(|own| own == token);
        match (is_good, path) {
            (true, _) if seen.is("tools/list") => json(200, &result(seen)),
            (true, _) => courtesy(seen).unwrap_or_else(|| empty(404)),
            (false, "/dpop") => with(401, &[("www-authenticate", "DPoP algs=\"ES256\"")], ""),
            (false, _) => with(401, &[("www-authenticate", "Bearer")], ""),
        }
    }
}

fn metadata(at: &str) -> Value {
    json!({
        "issuer": at,
        "authorization_endpoint": format!("{at}/authorize"),
        "token_endpoint": format!("{at}/token"),
        "registration_endpoint": format!("{at}/register"),
        "revocation_endpoint": format!("{at}/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported":
            ["client_secret_post", "client_secret_basic", "private_key_jwt"],
        "dpop_signing_alg_values_supported": ["ES256"],
    })
}

/// The pairs of a form, unescaped.
fn pairs(form: &str) -> Vec<(String, String)> {
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (plain(name), plain(value)))
        .collect()
}

fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || {
            char::from(rest.next().unwrap_or(b'0'))
                .to_digit(16)
                .unwrap_or(0)
        };
        bytes.push(match byte {
            b'%' => u8::try_from(digit() * 16 + digit()).unwrap_or(b'?'),
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn web() -> DocumentClient {
    DocumentClient::new(&HttpClientOptions::default())
}

/// Sends a GET request, as a browser does.
pub(crate) async fn get(url: &str) -> FetchResponse {
    let mut request = FetchRequest::get(url);
    request.network = NetworkScope::Private;
    web().fetch(request).await.expect("an answer")
}

/// Signs in at once, without a question.
pub(crate) async fn consent(url: &str) -> AuthorizationResponse {
    let answer = get(url).await;
    AuthorizationResponse::at(answer.single("location").expect("the way back"))
}
