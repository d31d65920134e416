//! Whole sign-ins against a site in memory.

mod refusals;
mod sign_in;
mod tokens;
mod ways;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use pintle_runtime::{FetchRequest, FetchResponse, WebUrl};
use serde_json::{Value, json};

use super::*;
use crate::client::{ClientConfig, ClientRegistration, EnterpriseManaged, GrantFlow};
use crate::credentials::TokensRecord;
use crate::error::{AuthError, AuthServerError};
use crate::flow_context::FlowContext;
use crate::form;
use crate::key::{Algorithm, SigningKey};
use crate::metadata::MetadataDocument;
use crate::scope::Scopes;
use crate::secret::Secret;

const SERVER: &str = "https://mcp.example/mcp";

const ISSUER: &str = "https://as.example";

const REDIRECT: &str = "http://127.0.0.1:7777/callback";

/// A site: its documents by place, and the requests to it.
struct Site {
    pages: BTreeMap<&'static str, Value>,
    asked: Vec<FetchRequest>,
    /// Parameters of the redirect besides code and state.
    back: String,
    visits: Vec<Vec<(String, String)>>,
    drawn: u8,
    /// Debug output of all stages of the sign-in.
    shown: String,
}

impl Site {
    fn new() -> Self {
        let mut pages = BTreeMap::new();
        pages.insert(
            "https://mcp.example/.well-known/oauth-protected-resource/mcp",
            json!({ "resource": SERVER, "authorization_servers": [ISSUER] }),
        );
        pages.insert(
            "https://as.example/.well-known/oauth-authorization-server",
            json!({
                "issuer": ISSUER,
                "authorization_endpoint": "https://as.example/authorize",
                "token_endpoint": "https://as.example/token",
                "registration_endpoint": "https://as.example/register",
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }),
        );
        pages.insert(
            "https://as.example/register",
            json!({ "client_id": "dynamic" }),
        );
        pages.insert(
            "https://as.example/token",
            json!({ "access_token": "t0k", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r1" }),
        );
        Self {
            pages,
            asked: Vec::new(),
            back: format!("iss={}", form::encode(ISSUER)),
            visits: Vec::new(),
            drawn: 0,
            shown: String::new(),
        }
    }

    fn set(&mut self, page: &'static str, member: &str, value: Value) {
        self.pages.get_mut(page).expect("a page")[member] = value;
    }

    fn flow_context(&mut self) -> FlowContext {
        self.drawn += 1;
        FlowContext::new(SystemTime::UNIX_EPOCH, [self.drawn; 96])
    }

    fn answer(&mut self, request: FetchRequest) -> FetchResponse {
        let found = self.pages.get(request.url.as_str());
        let answer = match found {
            None => FetchResponse::new(404, ""),
            Some(page) => match page.get("status").and_then(Value::as_u64) {
                Some(status) => {
                    FetchResponse::new(u16::try_from(status).expect("a status"), page.to_string())
                }
                None => FetchResponse::new(200, page.to_string()),
            },
        };
        self.asked.push(request);
        answer
    }

    /// Drives a sign-in to its end.
    fn run(&mut self, plan: SignInPlan) -> Result<IssuedTokens, AuthError> {
        let (mut sign_in, mut need) = SignIn::begin(plan, &self.flow_context())?;
        loop {
            let at = self.flow_context();
            self.shown += &format!("{sign_in:?} {need:?} {at:?}\n");
            need = match need {
                SignInStep::Fetch(request) => {
                    let answer = self.answer(request);
                    sign_in.take_answer(Ok(answer), &at)?
                }
                SignInStep::Visit(visit) => {
                    let query = visit.url.split_once('?').expect("a query").1;
                    let pairs = form::read(query).expect("pairs");
                    let state = pairs
                        .iter()
                        .find(|(name, _)| name == "state")
                        .expect("a state");
                    let back = format!("code=c0de&state={}&{}", state.1, self.back);
                    self.visits.push(pairs);
                    sign_in.take_response(&AuthorizationResponse::with_query(&back), &at)?
                }
                SignInStep::Identity => sign_in.take_assertion("id-token-of-user".into(), &at)?,
                SignInStep::Workload(audience) => {
                    assert_eq!(audience, "https://as.example/token");
                    sign_in.take_assertion("platform-jwt".into(), &at)?
                }
                SignInStep::ShowCode(_) | SignInStep::Wait(_) => sign_in.resume(&at)?,
                SignInStep::Done(issued) => return Ok(*issued),
            };
        }
    }

    fn places(&self) -> Vec<&str> {
        self.asked
            .iter()
            .map(|request| request.url.as_str())
            .collect()
    }

    /// Returns the form of the last request to a place.
    fn sent(&self, place: &str) -> Vec<(String, String)> {
        let found = self.asked.iter().rfind(|request| request.url == place);
        let body = std::str::from_utf8(&found.expect("a request").body).expect("text");
        form::read(body).expect("pairs")
    }

    fn header(&self, place: &str, name: &str) -> Option<String> {
        let found = self.asked.iter().rfind(|request| request.url == place)?;
        let found = found.headers.iter().find(|(own, _)| &**own == name)?;
        Some(found.1.to_string())
    }
}

fn of<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = pairs.iter().find(|(own, _)| own == name)?;
    Some(&found.1)
}

fn plan(profile: ClientConfig) -> SignInPlan {
    let server = WebUrl::parse(SERVER).expect("a URL");
    SignInPlan::new(server, profile.into(), REDIRECT)
}

fn person() -> SignInPlan {
    plan(ClientConfig::new("test"))
}

const TOKEN: &str = "https://as.example/token";

fn enterprise() -> ClientConfig {
    let client = ClientRegistration::with_secret("at-idp", "idp-secret");
    let idp = EnterpriseManaged::new("https://idp.example", "https://idp.example/token", client);
    let own = ClientRegistration::with_secret("at-as", "as-secret");
    ClientConfig::new("t")
        .with_grant_flow(GrantFlow::Enterprise(idp))
        .registered_at(Some(ISSUER), own)
}
