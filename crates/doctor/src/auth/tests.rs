use std::collections::BTreeMap;

use pintle::auth::WebUrl;
use pintle::runtime::{Fetch, FetchError, FetchRequest, FetchResponse};
use serde_json::{Value, json};

use super::*;

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example/tenant";
const BY_PATH: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
const AS: &str = "https://as.example/.well-known/oauth-authorization-server/tenant";

/// A server and its documents by URL. `status` and `challenge` answer a request without a token.
struct Deployment {
    status: u16,
    challenge: Option<String>,
    /// The status and the challenge that answer a request with a token.
    verdict: (u16, &'static str),
    pages: BTreeMap<String, String>,
}

impl Deployment {
    fn whole() -> Self {
        let mut deployment = Self {
            status: 401,
            challenge: Some(format!("Bearer resource_metadata=\"{BY_PATH}\"")),
            verdict: (200, ""),
            pages: BTreeMap::new(),
        };
        deployment.put(BY_PATH, &resource());
        deployment.put(AS, &server());
        deployment
    }

    fn put(&mut self, place: &str, page: &Value) {
        self.pages.insert(place.to_owned(), page.to_string());
    }

    /// Changes one member of the document at a URL, or removes it if the value is null.
    fn edit(&mut self, place: &str, member: &str, value: Value) {
        let mut page: Value = serde_json::from_str(&self.pages[place]).expect("JSON");
        match value {
            Value::Null => page.as_object_mut().expect("an object").remove(member),
            value => page
                .as_object_mut()
                .expect("an object")
                .insert(member.to_owned(), value),
        };
        self.put(place, &page);
    }
}

impl Fetch for Deployment {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let shows = |(name, _): &(Box<str>, Box<str>)| &**name == "authorization";
        if request.url == SERVER && request.headers.iter().any(shows) {
            let (status, challenge) = self.verdict;
            return Ok(FetchResponse::new(status, "").header("www-authenticate", challenge));
        }
        if request.url == SERVER {
            let answer = FetchResponse::new(self.status, "");
            return Ok(match &self.challenge {
                Some(line) => answer.header("www-authenticate", line),
                None => answer,
            });
        }
        Ok(match self.pages.get(&request.url) {
            Some(page) => FetchResponse::new(200, page.clone()),
            None => FetchResponse::new(404, ""),
        })
    }
}

fn resource() -> Value {
    json!({ "resource": SERVER, "authorization_servers": [ISSUER] })
}

fn server() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://as.example/authorize",
        "token_endpoint": "https://as.example/token",
        "registration_endpoint": "https://as.example/register",
        "code_challenge_methods_supported": ["S256"],
    })
}

async fn links(deployment: &Deployment, has_client: bool) -> Vec<Link> {
    let endpoint = Endpoint {
        url: SERVER.to_owned(),
        ..Endpoint::default()
    };
    links_of(deployment, &endpoint, has_client).await
}

async fn links_of(deployment: &Deployment, endpoint: &Endpoint, has_client: bool) -> Vec<Link> {
    let server = WebUrl::parse(SERVER).expect("an address");
    diagnose_auth(deployment, endpoint, server, has_client)
        .await
        .expect("it answers")
}

#[tokio::test]
async fn a_whole_chain_has_no_advice() {
    let links = links(&Deployment::whole(), false).await;
    let names: Vec<&str> = links.iter().map(|link| link.name).collect();
    assert_eq!(
        names,
        [
            "challenge",
            "protected resource metadata",
            "resource",
            "authorization servers",
            "authorization server metadata",
            "issuer",
            "PKCE",
            "registration",
            "endpoints",
        ]
    );
    assert!(
        links
            .iter()
            .all(|link| link.state == LinkState::Whole && link.next.is_none()),
        "{links:?}"
    );
}

type Break = fn(&mut Deployment);

/// A change that breaks a deployment, the name of the broken link, and parts of its finding and its advice.
const BROKEN: [(Break, &str, &str, &str); 19] = [
    (
        |d| d.challenge = None,
        "challenge",
        "no valid WWW-Authenticate",
        BY_PATH,
    ),
    (
        |d| d.challenge = Some("Basic realm=\"x\"".into()),
        "challenge",
        "requires Basic",
        "Bearer",
    ),
    (|d| d.status = 403, "challenge", "status 403", "answer 401"),
    (
        |d| d.challenge = Some("Bearer resource_metadata=\"https://mcp.example/elsewhere\"".into()),
        "protected resource metadata",
        "names https://mcp.example/elsewhere (HTTP status 404), and it is at",
        BY_PATH,
    ),
    (
        |d| drop(d.pages.remove(BY_PATH)),
        "protected resource metadata",
        "not published",
        BY_PATH,
    ),
    (
        |d| drop(d.pages.insert(BY_PATH.into(), "<html>".into())),
        "protected resource metadata",
        "not valid metadata JSON",
        "RFC 9728",
    ),
    (
        |d| d.edit(BY_PATH, "resource", json!("https://other.example/mcp")),
        "resource",
        "\"https://other.example/mcp\"",
        SERVER,
    ),
    (
        |d| d.edit(BY_PATH, "resource", Value::Null),
        "resource",
        "no \"resource\"",
        SERVER,
    ),
    (
        |d| d.edit(BY_PATH, "authorization_servers", Value::Null),
        "authorization servers",
        "no \"authorization_servers\"",
        "authorization_servers",
    ),
    (
        |d| {
            d.edit(
                BY_PATH,
                "authorization_servers",
                json!(["http://as.example"]),
            )
        },
        "authorization servers",
        "not https",
        "https",
    ),
    (
        |d| {
            d.edit(
                BY_PATH,
                "authorization_servers",
                json!(["https://10.0.0.7"]),
            )
        },
        "authorization servers",
        "private network",
        "clients may reach",
    ),
    (
        |d| drop(d.pages.remove(AS)),
        "authorization server metadata",
        "(HTTP status 404)",
        "RFC 8414",
    ),
    (
        |d| drop(d.pages.insert(AS.into(), "[]".into())),
        "authorization server metadata",
        "not valid metadata JSON",
        "RFC 8414",
    ),
    (
        |d| d.edit(AS, "issuer", json!("https://as.example/tenant/")),
        "issuer",
        "\"https://as.example/tenant/\"",
        "letter by letter",
    ),
    (
        |d| d.edit(AS, "code_challenge_methods_supported", json!(["plain"])),
        "PKCE",
        "S256",
        "list it",
    ),
    (
        |d| d.edit(AS, "registration_endpoint", Value::Null),
        "registration",
        "registers no client",
        "--client-id",
    ),
    (
        |d| d.edit(AS, "token_endpoint", Value::Null),
        "endpoints",
        "no token_endpoint",
        "name them",
    ),
    (
        |d| d.edit(AS, "authorization_endpoint", Value::Null),
        "endpoints",
        "no authorization_endpoint",
        "name them",
    ),
    (
        |d| d.edit(AS, "token_endpoint", json!("http://as.example/token")),
        "endpoints",
        "token_endpoint",
        "https",
    ),
];

// spec: 2025-11-25 AUTH-10
// spec: 2026-07-28 N-AUTH-07
#[tokio::test]
async fn the_broken_link_is_named_with_its_document_and_the_next_step() {
    for (number, (change, name, finding, next)) in BROKEN.iter().enumerate() {
        let mut deployment = Deployment::whole();
        change(&mut deployment);
        let links = links(&deployment, false).await;
        let broken: Vec<&Link> = links
            .iter()
            .filter(|link| link.state == LinkState::Broken)
            .collect();
        let [link] = broken.as_slice() else {
            panic!("{number}: one link is broken: {links:?}");
        };
        assert_eq!(link.name, *name, "{number}: {link:?}");
        assert!(link.finding.contains(finding), "{number}: {link:?}");
        assert!(
            link.next.as_deref().is_some_and(|text| text.contains(next)),
            "{number}: {link:?}"
        );
    }
}

#[tokio::test]
async fn a_link_that_some_clients_cannot_use_is_weak() {
    let mut deployment = Deployment::whole();
    deployment.challenge = Some("Bearer realm=\"x\"".to_owned());
    deployment.edit(AS, "registration_endpoint", Value::Null);
    deployment.edit(AS, "client_id_metadata_document_supported", json!(true));
    let found = links(&deployment, false).await;
    let weak: Vec<&str> = found
        .iter()
        .filter(|link| link.state == LinkState::Weak)
        .map(|link| link.name)
        .collect();
    assert_eq!(weak, ["challenge", "registration"], "{found:?}");
    let found = links(&deployment, true).await;
    assert!(
        found
            .iter()
            .any(|link| link.finding.contains("--client-id")),
        "{found:?}"
    );
}

#[tokio::test]
async fn every_issuer_is_checked() {
    let mut deployment = Deployment::whole();
    deployment.edit(
        BY_PATH,
        "authorization_servers",
        json!(["https://gone.example", ISSUER]),
    );
    let links = links(&deployment, false).await;
    let broken: Vec<&Link> = links
        .iter()
        .filter(|link| link.state == LinkState::Broken)
        .collect();
    assert_eq!(broken.len(), 1, "{links:?}");
    assert!(
        broken[0].finding.contains("that of https://gone.example"),
        "{links:?}"
    );
    assert_eq!(links.last().map(|link| link.name), Some("endpoints"));
}

#[tokio::test]
async fn a_token_that_is_shown_is_the_last_link() {
    let mut endpoint = Endpoint {
        url: SERVER.to_owned(),
        ..Endpoint::default()
    };
    endpoint.authorize("s3cret-token");
    let rows: [(u16, &str, LinkState, &str, &str); 7] = [
        (200, "", LinkState::Whole, "accepts it", ""),
        (404, "", LinkState::Whole, "accepts it", ""),
        (400, "", LinkState::Whole, "accepts it", ""),
        (
            401,
            "Bearer error=\"invalid_token\", error_description=\"the token has expired\"",
            LinkState::Broken,
            "(HTTP status 401, invalid_token): the token has expired",
            "`pintle login https://mcp.example/mcp`",
        ),
        (
            401,
            "Bearer",
            LinkState::Broken,
            "(HTTP status 401, without a reason)",
            "`pintle login https://mcp.example/mcp`",
        ),
        (
            403,
            "Bearer error=\"insufficient_scope\", scope=\"files:read files:write\"",
            LinkState::Broken,
            "requires the scopes \"files:read files:write\"",
            "--scope files:read --scope files:write",
        ),
        (
            503,
            "",
            LinkState::Broken,
            "cannot check it",
            "reach the issuer",
        ),
    ];
    for (status, challenge, state, finding, next) in rows {
        let mut deployment = Deployment::whole();
        deployment.verdict = (status, challenge);
        let links = links_of(&deployment, &endpoint, false).await;
        assert!(!format!("{links:?}").contains("s3cret"), "{links:?}");
        let link = links.last().expect("some");
        assert_eq!((link.name, link.state), ("token", state), "{link:?}");
        assert!(link.finding.contains(finding), "{link:?}");
        let advice = link.next.clone().unwrap_or_default();
        assert!(advice.contains(next), "{link:?}");
    }
}
