//! Whole sign-ins against a site in memory.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use pintle_runtime::{FetchRequest, Fetched};
use serde_json::{Value, json};

use super::*;
use crate::client::{ClientId, Enterprise, Profile, Way};
use crate::credentials::GrantRecord;
use crate::error::{AuthError, Lack};
use crate::form;
use crate::key::{Algorithm, SigningKey};
use crate::metadata::Document;
use crate::moment::Moment;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::WebUrl;

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";
const REDIRECT: &str = "http://127.0.0.1:7777/callback";

/// Documents by place, and what was asked of the site.
struct Site {
    pages: BTreeMap<&'static str, Value>,
    asked: Vec<FetchRequest>,
    /// What a user comes back with besides code and state.
    back: String,
    visits: Vec<Vec<(String, String)>>,
    drawn: u8,
    /// What every stage of a sign-in shows of itself.
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

    fn moment(&mut self) -> Moment {
        self.drawn += 1;
        Moment::new(SystemTime::UNIX_EPOCH, [self.drawn; 96])
    }

    fn answer(&mut self, request: FetchRequest) -> Fetched {
        let found = self.pages.get(request.url.as_str());
        let answer = match found {
            None => Fetched::new(404, ""),
            Some(page) => match page.get("status").and_then(Value::as_u64) {
                Some(status) => {
                    Fetched::new(u16::try_from(status).expect("a status"), page.to_string())
                }
                None => Fetched::new(200, page.to_string()),
            },
        };
        self.asked.push(request);
        answer
    }

    /// Drives a sign-in to its end.
    fn run(&mut self, plan: Plan) -> Result<Grant, AuthError> {
        let (mut sign_in, mut need) = SignIn::begin(plan, &self.moment())?;
        loop {
            let at = self.moment();
            self.shown += &format!("{sign_in:?} {need:?} {at:?}\n");
            need = match need {
                Need::Fetch(request) => {
                    let answer = self.answer(request);
                    sign_in.take_answer(Ok(answer), &at)?
                }
                Need::Visit(visit) => {
                    let query = visit.url.split_once('?').expect("a query").1;
                    let pairs = form::read(query).expect("pairs");
                    let state = pairs
                        .iter()
                        .find(|(name, _)| name == "state")
                        .expect("a state");
                    let back = format!("code=c0de&state={}&{}", state.1, self.back);
                    self.visits.push(pairs);
                    sign_in.take_landed(&Landed::with_query(&back), &at)?
                }
                Need::Identity => sign_in.take_assertion("id-token-of-user".into(), &at)?,
                Need::Workload(audience) => {
                    assert_eq!(audience, "https://as.example/token");
                    sign_in.take_assertion("platform-jwt".into(), &at)?
                }
                Need::Done(grant) => return Ok(*grant),
            };
        }
    }

    fn places(&self) -> Vec<&str> {
        self.asked
            .iter()
            .map(|request| request.url.as_str())
            .collect()
    }

    /// What was sent to a place last.
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

fn plan(profile: Profile) -> Plan {
    let server = WebUrl::parse(SERVER).expect("a URL");
    Plan::new(server, profile.into(), REDIRECT)
}

fn person() -> Plan {
    plan(Profile::new("test"))
}

const TOKEN: &str = "https://as.example/token";

// spec: 2025-11-25 AUTH-10, AUTH-12, AUTH-14, AUTH-45, AUTH-49, AUTH-50, AUTH-93, AUTH-RFC-07, AUTH-RFC-10
// spec: 2026-07-28 N-AUTH-10, N-AUTH-14, N-AUTH-19, N-AUTH-20, N-AUTH-26, N-AUTH-48
#[test]
fn a_person_signs_in_for_a_server_that_nobody_knew() {
    let mut site = Site::new();
    let grant = site.run(person()).expect("a grant");
    assert_eq!(
        site.places(),
        [
            "https://mcp.example/.well-known/oauth-protected-resource/mcp",
            "https://as.example/.well-known/oauth-authorization-server",
            "https://as.example/register",
            TOKEN,
        ]
    );
    let registered: Value = serde_json::from_slice(&site.asked[2].body).expect("JSON");
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["redirect_uris"], json!([REDIRECT]));
    assert_eq!(
        registered["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    let sent = site.sent(TOKEN);
    for (name, value) in [
        ("grant_type", "authorization_code"),
        ("code", "c0de"),
        ("client_id", "dynamic"),
        ("redirect_uri", REDIRECT),
        ("resource", SERVER),
    ] {
        assert_eq!(of(&sent, name), Some(value), "{name}");
    }
    assert_eq!(of(&sent, "code_verifier").map(str::len), Some(43));
    assert_eq!(of(&site.visits[0], "resource"), Some(SERVER));
    assert_eq!(of(&site.visits[0], "scope"), None);
    assert_eq!(grant.tokens.access.reveal(), "t0k");
    let hour = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
    assert_eq!(grant.tokens.expires, Some(hour));
    assert!(grant.tokens.is_stale(hour - Duration::from_secs(30)));
    assert!(!grant.tokens.is_stale(hour - Duration::from_secs(31)));
}

// spec: 2025-11-25 AUTH-07, AUTH-28, AUTH-31, AUTH-42, AUTH-43, AUTH-44
// spec: 2026-07-28 N-AUTH-15, N-AUTH-18
#[test]
fn an_id_that_is_known_goes_before_a_document_and_that_before_a_registration() {
    let document = "https://app.example/client.json";
    let takes = "client_id_metadata_document_supported";
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let known = ClientId::public("known");
    for (profile, takes_documents, expected) in [
        (Profile::new("t").with_document(document), true, document),
        (Profile::new("t").with_document(document), false, "dynamic"),
        (
            Profile::new("t")
                .with_document(document)
                .registered_at(Some(ISSUER), known.clone()),
            true,
            "known",
        ),
        (
            Profile::new("t").registered_at(None, known.clone()),
            true,
            "known",
        ),
        (
            Profile::new("t")
                .with_document(document)
                .registered_at(Some("https://b"), known),
            true,
            document,
        ),
    ] {
        let mut site = Site::new();
        site.set(page, takes, json!(takes_documents));
        site.run(plan(profile)).expect("a grant");
        assert_eq!(of(&site.visits[0], "client_id"), Some(expected));
        assert_eq!(of(&site.sent(TOKEN), "client_id"), Some(expected));
    }
}

// spec: 2026-07-28 N-AUTH-22, N-AUTH-23
// hardening: H-40, H-41
#[test]
fn what_one_server_knows_is_never_told_to_another() {
    let mut site = Site::new();
    let other = ClientId::with_secret("theirs", "their secret");
    let refused = site.run(plan(
        Profile::new("t").registered_at(Some("https://b"), other),
    ));
    let reason = Lack::OtherIssuer("https://b".into());
    assert!(matches!(refused, Err(AuthError::Server { reason: own, .. }) if own == reason));
    assert_eq!(site.places().len(), 2, "nothing but metadata was asked for");

    let mut plan = person();
    let mut kept = ClientId::public("theirs");
    kept.redirect = Some(REDIRECT.to_owned());
    plan.kept.push(("https://b".to_owned(), kept.clone()));
    let mut site = Site::new();
    site.run(plan).expect("a grant");
    assert_eq!(of(&site.sent(TOKEN), "client_id"), Some("dynamic"));

    let mut plan = person();
    plan.kept.push((ISSUER.to_owned(), kept));
    let mut site = Site::new();
    site.run(plan).expect("a grant");
    assert_eq!(
        of(&site.sent(TOKEN), "client_id"),
        Some("theirs"),
        "its own is used again"
    );
}

// spec: 2025-11-25 AUTH-21, AUTH-24, AUTH-46, AUTH-47, AUTH-70
// spec: 2026-07-28 N-AUTH-37, N-AUTH-38, N-AUTH-40, N-AUTH-48
#[test]
fn scopes_come_from_the_challenge_or_else_from_the_metadata() {
    let scopes = |list: &str| Scopes::parse(list).expect("scopes");
    let held = |issuer: &str| Some((issuer.to_owned(), scopes("old")));
    for (challenged, advertised, offline, held, expected) in [
        (Some("a b"), Some(json!(["x"])), false, None, Some("a b")),
        (None, Some(json!(["x", "y"])), false, None, Some("x y")),
        (None, None, false, None, None),
        (None, None, true, None, None),
        (Some("a"), None, true, None, Some("a offline_access")),
        (Some("a old"), None, false, held(ISSUER), Some("old a")),
        (Some("a"), None, false, held("https://b"), Some("a")),
    ] {
        let mut site = Site::new();
        if let Some(advertised) = advertised {
            let page = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
            site.set(page, "scopes_supported", advertised);
        }
        if offline {
            let page = "https://as.example/.well-known/oauth-authorization-server";
            site.set(page, "scopes_supported", json!(["offline_access"]));
        }
        let mut plan = person();
        plan.challenged = challenged.map(scopes);
        plan.held = held;
        let grant = site.run(plan).expect("a grant");
        assert_eq!(of(&site.visits[0], "scope"), expected);
        assert_eq!(grant.requested.to_string(), expected.unwrap_or_default());
    }
}

// spec: 2025-11-25 AUTH-RFC-08, AUTH-RFC-11
#[test]
fn a_secret_travels_in_the_way_that_was_agreed_on() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let supported = "token_endpoint_auth_methods_supported";
    for (methods, basic, posted) in [
        (json!(["client_secret_basic"]), true, false),
        (json!(["client_secret_post"]), false, true),
        (
            json!(["client_secret_post", "client_secret_basic"]),
            true,
            false,
        ),
        (json!(["none"]), false, false),
        (Value::Null, true, false),
    ] {
        let mut site = Site::new();
        site.set(page, supported, methods.clone());
        let client = ClientId::with_secret("i d", "s:e");
        site.run(plan(Profile::new("t").registered_at(None, client)))
            .expect("a grant");
        let expected = basic.then(|| "Basic aSUyMGQ6cyUzQWU=".to_owned());
        assert_eq!(site.header(TOKEN, "authorization"), expected, "{methods}");
        let sent = site.sent(TOKEN);
        assert_eq!(
            of(&sent, "client_secret"),
            posted.then_some("s:e"),
            "{methods}"
        );
        assert_eq!(of(&sent, "client_id").is_some(), !basic, "{methods}");
    }
    let mut site = Site::new();
    site.set(page, supported, json!(["private_key_jwt"]));
    let client = ClientId::with_secret("c", "s");
    let refused = site.run(plan(Profile::new("t").registered_at(None, client)));
    assert!(matches!(
        refused,
        Err(AuthError::Server {
            reason: Lack::Method,
            ..
        })
    ));
}

// spec: 2025-11-25 AUTH-34
// spec: 2026-07-28 X-CC-01, X-CC-02, X-CC-04
#[test]
fn a_client_asks_for_itself_with_a_secret_or_a_key() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let profile = |client| {
        Profile::new("t")
            .by(Way::Itself)
            .registered_at(None, client)
    };
    let mut site = Site::new();
    site.set(
        page,
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_basic"]),
    );
    site.run(plan(profile(ClientId::with_secret("c", "s"))))
        .expect("a grant");
    let sent = site.sent(TOKEN);
    assert_eq!(of(&sent, "grant_type"), Some("client_credentials"));
    assert_eq!(of(&sent, "resource"), Some(SERVER));
    assert!(site.header(TOKEN, "authorization").is_some() && site.visits.is_empty());

    let mut site = Site::new();
    site.set(
        page,
        "token_endpoint_auth_methods_supported",
        json!(["private_key_jwt"]),
    );
    let (key, _) = SigningKey::generate().expect("a key");
    site.run(plan(profile(ClientId::with_key("c", key))))
        .expect("a grant");
    let sent = site.sent(TOKEN);
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    assert_eq!(of(&sent, "client_assertion_type"), Some(kind));
    assert_eq!(of(&sent, "client_id"), None);
    assert_eq!(
        of(&sent, "client_assertion").map(|token| token.split('.').count()),
        Some(3)
    );
    assert_eq!(site.header(TOKEN, "authorization"), None);
    assert_eq!(Algorithm::Es256.name(), "ES256");

    let nobody = Site::new().run(plan(Profile::new("t").by(Way::Itself)));
    assert!(matches!(
        nobody,
        Err(AuthError::Server {
            reason: Lack::Registration,
            ..
        })
    ));
}

fn enterprise() -> Profile {
    let client = ClientId::with_secret("at-idp", "idp-secret");
    let idp = Enterprise::new("https://idp.example", "https://idp.example/token", client);
    let own = ClientId::with_secret("at-as", "as-secret");
    Profile::new("t")
        .by(Way::Enterprise(idp))
        .registered_at(Some(ISSUER), own)
}

// spec: 2026-07-28 X-EMA-01, X-EMA-02, X-EMA-03
#[test]
fn an_enterprise_vouches_for_its_user() {
    let mut site = Site::new();
    let page = "https://as.example/.well-known/oauth-authorization-server";
    site.set(
        page,
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_basic"]),
    );
    let jag = "urn:ietf:params:oauth:token-type:id-jag";
    site.pages.insert(
        "https://idp.example/token",
        json!({ "access_token": "w0rd", "issued_token_type": jag, "token_type": "N_A" }),
    );
    site.run(plan(enterprise())).expect("a grant");
    let sent = site.sent("https://idp.example/token");
    for (name, value) in [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        ("requested_token_type", jag),
        ("subject_token", "id-token-of-user"),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
        ("audience", ISSUER),
        ("resource", SERVER),
    ] {
        assert_eq!(of(&sent, name), Some(value), "{name}");
    }
    let sent = site.sent(TOKEN);
    assert_eq!(
        of(&sent, "grant_type"),
        Some("urn:ietf:params:oauth:grant-type:jwt-bearer")
    );
    assert_eq!(of(&sent, "assertion"), Some("w0rd"));
    let own = site.header(TOKEN, "authorization");
    assert_ne!(
        own,
        site.header("https://idp.example/token", "authorization")
    );

    site.set(
        "https://idp.example/token",
        "issued_token_type",
        json!("access_token"),
    );
    let refused = site.run(plan(enterprise()));
    assert!(matches!(refused, Err(AuthError::Answer { .. })));
}

// spec: 2026-07-28 X-EMA-06
#[test]
fn a_server_that_takes_no_word_of_enterprises_is_told_none() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let profile = "urn:ietf:params:oauth:grant-profile:id-jag";
    for (profiles, is_taken) in [
        (json!([profile, "urn:other"]), true),
        (json!(["urn:other"]), false),
        (json!([]), false),
    ] {
        let mut site = Site::new();
        let methods = json!(["client_secret_basic"]);
        site.set(page, "token_endpoint_auth_methods_supported", methods);
        site.set(page, "authorization_grant_profiles_supported", profiles);
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        site.pages.insert(
            "https://idp.example/token",
            json!({ "access_token": "w0rd", "issued_token_type": jag, "token_type": "N_A" }),
        );
        let came = site.run(plan(enterprise()));
        assert_eq!(came.is_ok(), is_taken, "{came:?}");
        if let Err(error) = came {
            let said = error.to_string();
            for word in [ISSUER, profile, "authorization_grant_profiles_supported"] {
                assert!(said.contains(word), "{said}");
            }
            let asked = site.asked.iter();
            assert_eq!(asked.filter(|asked| asked.method == "POST").count(), 0);
        }
    }
}

// spec: 2026-07-28 X-EMA-07
#[test]
fn an_identity_token_goes_where_the_user_said_and_nobody_listens() {
    let at = |endpoint: &str| {
        let idp = Enterprise::new("https://idp.example", endpoint, ClientId::public("c"));
        let own = ClientId::public("at-as");
        plan(
            Profile::new("t")
                .by(Way::Enterprise(idp))
                .registered_at(Some(ISSUER), own),
        )
    };
    for endpoint in ["http://idp.example/token", "ftp://idp.example/", "idp"] {
        let mut site = Site::new();
        let refused = site.run(at(endpoint));
        assert!(
            matches!(refused, Err(AuthError::Address(..))),
            "{endpoint}: {refused:?}"
        );
        assert!(!site.places().contains(&endpoint));
    }
    let mut site = Site::new();
    let _ = site.run(at("https://idp.internal.example/token"));
    let asked = site.asked.last().expect("a request");
    assert_eq!(asked.url, "https://idp.internal.example/token");
    assert_eq!(
        asked.reach,
        pintle_runtime::Reach::Private,
        "the user has named it"
    );
}

// spec: 2026-07-28 X-WIF-01, X-WIF-02
#[test]
fn a_platform_vouches_for_a_workload_once() {
    let mut site = Site::new();
    site.run(plan(Profile::new("t").by(Way::Workload)))
        .expect("a grant");
    let sent = site.sent(TOKEN);
    assert_eq!(of(&sent, "assertion"), Some("platform-jwt"));
    assert_eq!(
        (of(&sent, "resource"), of(&sent, "client_id")),
        (Some(SERVER), None)
    );

    site.pages
        .insert(TOKEN, json!({ "status": 400, "error": "invalid_grant" }));
    site.asked.clear();
    assert!(site.run(plan(Profile::new("t").by(Way::Workload))).is_err());
    let asked = site
        .places()
        .into_iter()
        .filter(|place| *place == TOKEN)
        .count();
    assert_eq!(asked, 1, "what was refused is not asked for again");
}

// spec: 2026-07-28 X-DPOP-01
#[test]
fn a_token_is_bound_to_a_key_where_the_server_wants_it() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let mut plan = person();
    plan.wants_dpop = true;
    let refused = Site::new().run(plan.clone());
    assert!(matches!(
        refused,
        Err(AuthError::Server {
            reason: Lack::Dpop,
            ..
        })
    ));

    let mut site = Site::new();
    site.set(page, "dpop_signing_alg_values_supported", json!(["ES256"]));
    site.set(TOKEN, "token_type", json!("DPoP"));
    let grant = site.run(plan).expect("a grant");
    assert!(grant.tokens.is_bound && grant.dpop.is_some());
    assert!(site.header(TOKEN, "dpop").is_some());

    let mut site = Site::new();
    site.set(TOKEN, "token_type", json!("DPoP"));
    let unasked = site.run(person());
    assert!(
        matches!(unasked, Err(AuthError::Answer { .. })),
        "nobody holds its key"
    );
}

// spec: 2026-07-28 X-DPOP-02
#[test]
fn a_nonce_is_taken_once() {
    let grant = Grant {
        issuer: ISSUER.into(),
        resource: SERVER.into(),
        token_endpoint: TOKEN.into(),
        client: ClientId::public("c"),
        requested: Scopes::none(),
        dpop: Some(DpopKey::generate().expect("a key")),
        tokens: Tokens {
            access: "old".into(),
            refresh: Some("r1".into()),
            scopes: None,
            expires: None,
            lifetime: None,
            is_bound: true,
        },
    };
    let at = Moment::new(SystemTime::UNIX_EPOCH, [1; 96]);
    let mut refresh = Refresh::of(&grant, None, pintle_runtime::Reach::Public).expect("a token");
    let body = r#"{"error":"use_dpop_nonce"}"#;
    let nonce = |value: &str| Ok(Fetched::new(400, body).header("DPoP-Nonce", value));
    let again = refresh.take(nonce("n1"), &at).expect("another try");
    assert!(again.is_err(), "it is asked once more");
    let refused = refresh.take(nonce("n2"), &at);
    assert!(
        matches!(refused, Err(AuthError::Refused { .. })),
        "and not for ever"
    );
}

// spec: 2025-11-25 AUTH-82
#[test]
fn a_refresh_token_is_replaced_or_stays() {
    let mut site = Site::new();
    let grant = site.run(person()).expect("a grant");
    let at = site.moment();
    for (answer, expected) in [
        (
            json!({ "access_token": "t2", "token_type": "bearer" }),
            "r1",
        ),
        (
            json!({ "access_token": "t2", "token_type": "bearer", "refresh_token": "r2" }),
            "r2",
        ),
    ] {
        let mut refresh = Refresh::of(&grant, None, pintle_runtime::Reach::Public).expect("one");
        let request = refresh.begin(&at).expect("a request");
        assert_eq!(request.url, TOKEN);
        let body = std::str::from_utf8(&request.body).expect("text").to_owned();
        let sent = form::read(&body).expect("pairs");
        assert_eq!(of(&sent, "refresh_token"), Some("r1"));
        assert_eq!(
            (of(&sent, "resource"), of(&sent, "client_id")),
            (Some(SERVER), Some("dynamic"))
        );
        let fresh = refresh
            .take(Ok(Fetched::new(200, answer.to_string())), &at)
            .expect("read");
        let tokens = fresh.expect("a grant").tokens;
        assert_eq!(
            tokens
                .refresh
                .as_ref()
                .map(Secret::reveal)
                .map(String::as_str),
            Some(expected)
        );
    }
}

// hardening: H-46
#[test]
fn no_stage_of_a_sign_in_shows_a_secret() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let secret = || ClientId::with_secret("c", "s3cret-of-the-client");
    let (key, _) = SigningKey::generate().expect("a key");
    let itself = |client| {
        Profile::new("t")
            .by(Way::Itself)
            .registered_at(None, client)
    };
    let rows = [
        (Profile::new("t"), true),
        (Profile::new("t").registered_at(None, secret()), false),
        (itself(secret()), false),
        (itself(ClientId::with_key("c", key)), true),
        (enterprise(), false),
        (Profile::new("t").by(Way::Workload), true),
    ];
    for (profile, wants_dpop) in rows {
        let mut site = Site::new();
        let methods = json!(["client_secret_post", "private_key_jwt"]);
        site.set(page, "token_endpoint_auth_methods_supported", methods);
        site.set(page, "dpop_signing_alg_values_supported", json!(["ES256"]));
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        site.pages.insert(
            "https://idp.example/token",
            json!({ "access_token": "w0rd-of-the-idp", "issued_token_type": jag }),
        );
        let registered = json!({ "client_id": "dynamic", "client_secret": "registered-s3cret" });
        site.pages.insert("https://as.example/register", registered);
        site.set(TOKEN, "access_token", json!("access-s3cret"));
        site.set(TOKEN, "refresh_token", json!("refresh-s3cret"));
        let mut plan = plan(profile);
        plan.wants_dpop = wants_dpop;
        let grant = site.run(plan).expect("a grant");
        site.shown += &format!("{grant:?} {grant:#?}");
        let forms = site.asked.iter().filter(|request| request.method == "POST");
        let forms: Vec<_> = forms
            .filter_map(|request| form::read(std::str::from_utf8(&request.body).ok()?))
            .flatten()
            .collect();
        let secrets = [
            "code",
            "code_verifier",
            "client_secret",
            "client_assertion",
            "assertion",
            "subject_token",
        ];
        let sent = forms
            .iter()
            .filter(|(name, _)| secrets.contains(&name.as_str()));
        let sent: Vec<&str> = sent.map(|(_, value)| value.as_str()).collect();
        assert!(!sent.is_empty());
        let made = ["s3cret", "w0rd", "eyJ"];
        for secret in sent.into_iter().chain(made) {
            assert!(!site.shown.contains(secret), "{secret}: {}", site.shown);
        }
    }
}

// What a token endpoint says in the place of a token leads nowhere else.
//
// spec: 2025-11-25 AUTH-79
// hardening: H-30
#[test]
fn a_token_endpoint_that_sends_elsewhere_is_not_followed() {
    for place in [TOKEN, "https://as.example/register"] {
        let mut site = Site::new();
        site.pages.insert(place, json!({ "status": 307 }));
        let refused = site.run(person()).expect_err("refused");
        assert!(matches!(refused, AuthError::Refused { .. }), "{refused}");
        assert_eq!(site.places().last(), Some(&place));
    }
}

// hardening: H-44
#[test]
fn what_is_nested_too_deep_is_refused() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let at = Site::new().moment();
    for levels in [200, 100_000] {
        let token = format!(
            r#"{{"access_token":"t","token_type":"Bearer","x":{}}}"#,
            deep(levels)
        );
        let grant = Site::new().run(person()).expect("a grant");
        let mut refresh = Refresh::of(&grant, None, pintle_runtime::Reach::Public).expect("one");
        let refused = refresh.take(Ok(Fetched::new(200, token)), &at);
        assert!(matches!(refused, Err(AuthError::Answer { .. })), "{levels}");
        let document = format!(r#"{{"issuer":"{ISSUER}","x":{}}}"#, deep(levels));
        let read = crate::metadata::ServerMetadata::read(document.as_bytes(), ISSUER);
        assert!(read.is_err(), "{levels}");
    }
}

// A token that cannot be refreshed is asked for again in the way that it came, and nobody is asked.
//
// spec: 2025-11-25 AUTH-75
// spec: 2026-07-28 X-EMA-09, N-AUTH-40
#[test]
fn more_is_asked_for_in_the_same_way_without_a_person() {
    let scopes = |list: &str| Scopes::parse(list).expect("scopes");
    let (key, _) = SigningKey::generate().expect("a key");
    let itself = Profile::new("t")
        .by(Way::Itself)
        .registered_at(None, ClientId::with_key("c", key));
    for profile in [itself, enterprise(), Profile::new("t").by(Way::Workload)] {
        let mut site = Site::new();
        let page = "https://as.example/.well-known/oauth-authorization-server";
        let methods = json!(["client_secret_basic", "private_key_jwt"]);
        site.set(page, "token_endpoint_auth_methods_supported", methods);
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        site.pages.insert(
            "https://idp.example/token",
            json!({ "access_token": "w0rd", "issued_token_type": jag }),
        );
        let mut plan = plan(profile);
        plan.challenged = Some(scopes("write"));
        plan.held = Some((ISSUER.to_owned(), scopes("read")));
        let grant = site.run(plan).expect("a grant");
        assert_eq!(grant.requested.to_string(), "read write");
        assert_eq!(of(&site.sent(TOKEN), "scope"), Some("read write"));
        assert!(site.visits.is_empty());
    }
}

// hardening: H-35
#[test]
fn a_code_of_another_issuer_goes_nowhere() {
    let mut site = Site::new();
    site.back = "iss=https%3A%2F%2Fevil.example".to_owned();
    assert!(matches!(
        site.run(person()),
        Err(AuthError::Redirect { .. })
    ));
    assert!(!site.places().contains(&TOKEN));
}

// spec: 2025-11-25 AUTH-52
#[test]
fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    let own = "https://mcp.example/.well-known/oauth-authorization-server";
    let mut site = Site::new();
    site.pages.clear();
    site.back = String::new();
    site.pages.insert(
        "https://mcp.example/register",
        json!({ "client_id": "old" }),
    );
    let token = json!({ "access_token": "t", "token_type": "Bearer" });
    site.pages
        .insert("https://mcp.example/token", token.clone());
    let grant = site.run(person()).expect("a grant");
    assert_eq!(grant.token_endpoint, "https://mcp.example/token");
    assert_eq!(
        (grant.issuer.as_str(), grant.resource.as_str()),
        ("https://mcp.example", SERVER)
    );

    for issuer in ["https://mcp.example", "https://mcp.example/"] {
        let metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": "https://mcp.example/a",
            "token_endpoint": "https://mcp.example/t",
            "registration_endpoint": "https://mcp.example/register",
        });
        site.pages.insert(own, metadata);
        site.pages.insert("https://mcp.example/t", token.clone());
        let grant = site.run(person()).expect("a grant");
        assert_eq!(grant.issuer, issuer);
        assert_eq!(grant.token_endpoint, "https://mcp.example/t");
    }

    let mut profile = Profile::new("t");
    profile.assumes = false;
    let refused = site.run(plan(profile));
    assert!(matches!(
        refused,
        Err(AuthError::Nowhere {
            document: Document::Resource,
            ..
        })
    ));
    // A server that fails to answer is not one that has no such document.
    let page = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
    site.pages.insert(page, json!({ "status": 500 }));
    assert!(matches!(site.run(person()), Err(AuthError::Nowhere { .. })));
}

// spec: 2026-07-28 N-AUTH-21
// hardening: H-46
#[test]
fn an_error_names_the_place_and_repeats_no_secret() {
    let mut site = Site::new();
    let echo = json!({
        "status": 400, "error": "invalid_grant", "error_description": "bad code c0de-of-somebody",
    });
    site.pages.insert(TOKEN, echo);
    let refused = site.run(person()).expect_err("refused").to_string();
    let told = "the request for a token at https://as.example/token was refused: \
                invalid_grant (bad code c0de-of-somebody)";
    assert_eq!(refused, told);

    site.pages.insert(
        "https://as.example/register",
        json!({ "status": 400, "error": "invalid_redirect_uri" }),
    );
    let refused = site.run(person()).expect_err("refused").to_string();
    let told = "the registration of the client at https://as.example/register was refused: \
                invalid_redirect_uri";
    assert_eq!(refused, told);

    // A server that repeats the verifier is not quoted.
    let grant = Site::new().run(person()).expect("a grant");
    let mut grant = grant;
    grant.tokens.refresh = Some("a-long-refresh-token".into());
    let at = site.moment();
    let mut refresh = Refresh::of(&grant, None, pintle_runtime::Reach::Public).expect("one");
    let body = r#"{"error":"invalid_grant","error_description":"a-long-refresh-token is bad"}"#;
    let refused = refresh
        .take(Ok(Fetched::new(400, body)), &at)
        .expect_err("refused");
    let shown = format!("{refused} {refused:?} {grant:?}");
    assert!(!shown.contains("a-long-refresh-token"), "{shown}");
}

// hardening: H-44
#[test]
fn answers_of_a_token_endpoint_that_are_none_are_refused() {
    for (answer, fault) in [
        (json!([]), "access_token"),
        (json!({ "token_type": "Bearer" }), "access_token"),
        (
            json!({ "access_token": "a b", "token_type": "Bearer" }),
            "access_token",
        ),
        (
            json!({ "access_token": "a\r\nX: y", "token_type": "Bearer" }),
            "access_token",
        ),
        (
            json!({ "access_token": 1, "token_type": "Bearer" }),
            "access_token",
        ),
        (json!({ "access_token": "t" }), "token_type"),
        (
            json!({ "access_token": "t", "token_type": "mac" }),
            "token_type",
        ),
        (
            json!({ "access_token": "t", "token_type": "N_A" }),
            "token_type",
        ),
        (
            json!({ "access_token": "t", "token_type": "Bearer", "scope": "\"" }),
            "scope",
        ),
    ] {
        let mut site = Site::new();
        site.pages.insert(TOKEN, answer.clone());
        let refused = site.run(person()).expect_err("refused").to_string();
        assert!(
            refused.contains(fault) && !refused.contains("a b"),
            "{refused}"
        );
    }
    for (seconds, expected) in [
        (json!("60"), Some(60)),
        (json!(1e300), Some(365 * 24 * 3600)),
        (json!(-1), None),
        (json!("x"), None),
        (json!(null), None),
    ] {
        let mut site = Site::new();
        site.set(TOKEN, "expires_in", seconds);
        let grant = site.run(person()).expect("a grant");
        let expected = expected.map(|time| SystemTime::UNIX_EPOCH + Duration::from_secs(time));
        assert_eq!(grant.tokens.expires, expected);
    }
}

// A token that lived for half a minute was renewed before every request.
#[test]
fn a_token_that_does_not_live_long_is_used_for_most_of_its_life() {
    for (life, early) in [(3_600, 30), (120, 30), (60, 15), (20, 5), (4, 1)] {
        let mut site = Site::new();
        site.set(TOKEN, "expires_in", json!(life));
        let grant = site.run(person()).expect("a grant");
        let kept = GrantRecord::write(&grant);
        let read = GrantRecord::read(&kept, &Profile::new("t")).expect("the same");
        for tokens in [grant.tokens, read.tokens] {
            let end = tokens.expires.expect("an end") - Duration::from_secs(early);
            assert!(tokens.is_stale(end), "{life}");
            assert!(!tokens.is_stale(end - Duration::from_millis(1)), "{life}");
        }
    }
}
