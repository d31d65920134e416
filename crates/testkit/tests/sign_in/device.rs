//! Sign-ins with a code on another device, in virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_auth::{
    AuthError, AuthServerError, ClientConfig, ClientRegistration, DeviceSignInError,
    EndpointRequest, GrantFlow, OAuth, OAuthBuilder, OAuthOptions, UserCode,
};
use pintle_runtime::{
    AuthChallenge, Authorizer as _, Fetch, FetchError, FetchRequest, FetchResponse, RequestSummary,
};
use pintle_testkit::issuer::{DevicePoll, Issuer, IssuerBehavior, RecordedRequest};
use serde_json::{Value, json};
use tokio::time::Instant;

const SERVER: &str = "https://mcp.test/mcp";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// An issuer and the document of a server. It records the time of each request to the issuer.
#[derive(Clone)]
struct Site {
    issuer: Issuer,
    times: Arc<Mutex<Vec<(String, Instant)>>>,
    shown: Arc<Mutex<Vec<UserCode>>>,
}

impl Fetch for Site {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        if request.url == "https://mcp.test/.well-known/oauth-protected-resource/mcp" {
            let document = json!({
                "resource": SERVER, "authorization_servers": [self.issuer.url()],
                "scopes_supported": ["files"],
            });
            return Ok(FetchResponse::new(200, document.to_string()));
        }
        if let Some(path) = request.url.strip_prefix(self.issuer.url()) {
            let mut times = self.times.lock().expect("whole");
            times.push((path.to_owned(), Instant::now()));
        }
        self.issuer.fetch(request).await
    }
}

impl Site {
    fn new() -> Self {
        Self {
            issuer: Issuer::new("https://issuer.test"),
            times: Arc::default(),
            shown: Arc::default(),
        }
    }

    fn builder(&self, config: ClientConfig) -> OAuthBuilder {
        let config = config.with_grant_flow(GrantFlow::Device);
        OAuth::of(SERVER, config, self.clone()).expect("a URL")
    }

    fn oauth(&self) -> OAuth {
        let shown = Arc::clone(&self.shown);
        let builder = self.builder(ClientConfig::new("test"));
        let builder = builder.on_user_code(move |code| {
            shown.lock().expect("whole").push(code);
            async { Ok(()) }
        });
        builder.build()
    }

    /// Sets a member of the device authorization response.
    fn set(&self, member: &str, value: Value) {
        let members = [(member.to_owned(), value)];
        self.issuer.device_members(members.into_iter().collect());
    }

    /// The pauses in seconds before each poll.
    fn pauses(&self) -> Vec<u64> {
        let times = self.times.lock().expect("whole");
        let times: Vec<_> = times
            .iter()
            .filter(|(path, _)| path == "/device_authorization" || path == "/token")
            .map(|(_, time)| *time)
            .collect();
        times
            .windows(2)
            .map(|two| (two[1] - two[0]).as_secs())
            .collect()
    }

    fn asked(&self, path: &str) -> Vec<RecordedRequest> {
        let asked = self.issuer.seen().into_iter();
        asked.filter(|asked| asked.path == path).collect()
    }

    async fn error(&self) -> AuthError {
        self.oauth().sign_in().await.expect_err("no tokens")
    }
}

#[tokio::test(start_paused = true)]
async fn a_user_signs_in_with_a_code_and_the_token_is_refreshed() {
    let site = Site::new();
    site.issuer
        .device_polls([DevicePoll::Pending, DevicePoll::Pending]);
    let oauth = site.oauth();
    oauth.sign_in().await.expect("tokens");
    assert_eq!(site.pauses(), [5, 5, 5]);
    let shown = site.shown.lock().expect("whole").clone();
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].code, "WDJB-MJHT");
    assert_eq!(shown[0].url, "https://issuer.test/device");
    assert_eq!(
        shown[0].complete_url.as_deref(),
        Some("https://issuer.test/device?user_code=WDJB-MJHT")
    );
    assert_eq!(shown[0].expires_in, Duration::from_secs(900));
    for asked in site
        .asked("/device_authorization")
        .iter()
        .chain(&site.asked("/token"))
    {
        assert_eq!(asked.parameter("resource"), Some(SERVER));
    }
    assert_eq!(
        site.asked("/device_authorization")[0].parameter("scope"),
        Some("files")
    );
    assert_eq!(site.asked("/token")[0].parameter("grant_type"), Some(GRANT));
    let issued = oauth.issued_tokens().expect("read").expect("tokens");
    assert_eq!(
        issued.tokens.scopes.as_ref().expect("scopes").to_string(),
        "files"
    );
    // The next rejection of the token is answered with a refresh, and not with a code.
    let summary = RequestSummary::new("POST", SERVER, "tools/list");
    let refused = AuthChallenge::new(401, vec!["Bearer".into()], 1);
    oauth
        .handle_challenge(summary, refused)
        .await
        .expect("a retry");
    let asked = site.asked("/token");
    let last = asked.last().expect("a request");
    assert_eq!(last.parameter("grant_type"), Some("refresh_token"));
    assert_eq!(last.parameter("resource"), Some(SERVER));
    assert_eq!(site.asked("/device_authorization").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_client_registers_for_device_codes_once() {
    let site = Site::new();
    let oauth = site.oauth();
    oauth.sign_in().await.expect("tokens");
    oauth.sign_in().await.expect("tokens");
    let registered = site.asked("/register");
    assert_eq!(registered.len(), 1);
    let metadata: Value = serde_json::from_slice(&registered[0].body).expect("JSON");
    assert_eq!(metadata["grant_types"], json!([GRANT, "refresh_token"]));
    assert!(metadata.get("redirect_uris").is_none(), "{metadata}");
}

#[tokio::test(start_paused = true)]
async fn a_client_with_a_secret_authenticates_at_both_endpoints() {
    let site = Site::new();
    site.issuer.knows("tv", Some("tv-secret"), &[]);
    let client = ClientRegistration::with_secret("tv", "tv-secret");
    let builder = site.builder(ClientConfig::new("test").registered_at(None, client));
    let oauth = builder.on_user_code(|_| async { Ok(()) }).build();
    oauth.sign_in().await.expect("tokens");
    for path in ["/device_authorization", "/token"] {
        let asked = site.asked(path);
        let header = asked[0].header("authorization").unwrap_or_default();
        assert!(header.starts_with("Basic "), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn slow_down_adds_five_seconds_to_all_later_pauses() {
    let site = Site::new();
    use DevicePoll::{Pending, SlowDown};
    site.issuer.device_polls([SlowDown, Pending, SlowDown]);
    site.oauth().sign_in().await.expect("tokens");
    assert_eq!(site.pauses(), [5, 10, 10, 15]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_endpoint_doubles_the_pause() {
    let site = Site::new();
    site.issuer
        .device_polls([DevicePoll::Broken(503), DevicePoll::Broken(502)]);
    site.oauth().sign_in().await.expect("tokens");
    assert_eq!(site.pauses(), [5, 10, 20]);
}

#[tokio::test(start_paused = true)]
async fn the_interval_of_the_server_is_used_within_its_limits() {
    for (interval, expected) in [(json!(null), 5), (json!(0), 1), (json!(12), 12)] {
        let site = Site::new();
        site.set("interval", interval);
        site.oauth().sign_in().await.expect("tokens");
        assert_eq!(site.pauses(), [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_denied_or_expired_code_ends_the_sign_in() {
    for (poll, expected, text) in [
        (DevicePoll::Denied, DeviceSignInError::Denied, "denied"),
        (DevicePoll::Expired, DeviceSignInError::Expired, "expired"),
    ] {
        let site = Site::new();
        site.issuer.device_polls([DevicePoll::Pending, poll]);
        let error = site.error().await;
        assert!(error.to_string().contains(text), "{error}");
        assert!(
            matches!(error, AuthError::DeviceSignIn { fault, .. } if fault == expected),
            "{error:?}"
        );
        assert_eq!(site.pauses(), [5, 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn polling_ends_when_the_code_expires_or_the_timeout_elapses() {
    let site = Site::new();
    site.set("expires_in", json!(12));
    site.issuer.device_polls([DevicePoll::Pending; 1_000]);
    let error = site.error().await;
    let fault = DeviceSignInError::Expired;
    assert!(matches!(error, AuthError::DeviceSignIn { fault: own, .. } if own == fault));
    assert_eq!(site.pauses(), [5, 5]);
    let site = Site::new();
    site.set("expires_in", json!(1_000_000));
    site.issuer.device_polls([DevicePoll::Pending; 1_000]);
    let began = Instant::now();
    let error = site.error().await;
    assert!(matches!(error, AuthError::SignInTimedOut(_)), "{error:?}");
    assert_eq!(began.elapsed(), OAuthOptions::default().sign_in_timeout);
}

#[tokio::test(start_paused = true)]
async fn other_errors_of_the_endpoints_end_the_sign_in() {
    let site = Site::new();
    site.issuer.device_polls([DevicePoll::Broken(400)]);
    let error = site.error().await;
    assert!(
        matches!(
            error,
            AuthError::Refused {
                what: EndpointRequest::Token,
                ..
            }
        ),
        "{error:?}"
    );
    let site = Site::new();
    let client = ClientRegistration::public("unknown");
    let builder = site.builder(ClientConfig::new("test").registered_at(None, client));
    let oauth = builder.on_user_code(|_| async { Ok(()) }).build();
    let error = oauth.sign_in().await.expect_err("an unknown client");
    assert!(
        matches!(
            error,
            AuthError::Refused {
                what: EndpointRequest::DeviceAuthorization,
                ..
            }
        ),
        "{error:?}"
    );
    let site = Site::new();
    site.set("user_code", json!("\u{1b}[2J"));
    let error = site.error().await;
    assert!(
        matches!(
            error,
            AuthError::InvalidResponse {
                what: EndpointRequest::DeviceAuthorization,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(site.asked("/token").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_device_codes_is_rejected_before_a_request() {
    let site = Site::new();
    site.issuer.edit(|document| {
        document.remove("device_authorization_endpoint");
    });
    let error = site.error().await;
    let lack = AuthServerError::Endpoint("device_authorization_endpoint");
    assert!(
        matches!(&error, AuthError::Server { reason, .. } if *reason == lack),
        "{error:?}"
    );
    assert!(error.to_string().contains("device_authorization_endpoint"));
}

#[tokio::test(start_paused = true)]
async fn no_code_is_requested_if_it_cannot_be_shown() {
    let site = Site::new();
    let oauth = site.builder(ClientConfig::new("test")).build();
    let error = oauth
        .sign_in()
        .await
        .expect_err("no function shows the code");
    assert!(matches!(error, AuthError::SignInUnavailable), "{error:?}");
    assert_eq!(site.issuer.seen().len(), 0);
    let builder = site.builder(ClientConfig::new("test"));
    let oauth = builder
        .on_user_code(|_| async { Err(AuthError::SignInUnavailable) })
        .build();
    let error = oauth.sign_in().await.expect_err("the function failed");
    assert!(matches!(error, AuthError::SignInUnavailable), "{error:?}");
    assert_eq!(site.asked("/token").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_silent_endpoint_is_polled_less_often() {
    let site = Site::new();
    let issuer = site.issuer.clone();
    let oauth = site.oauth();
    site.issuer.device_polls([DevicePoll::Pending]);
    let signing_in = tokio::spawn(async move { oauth.sign_in().await });
    tokio::time::sleep(Duration::from_secs(7)).await;
    issuer.set_behavior(IssuerBehavior::Down);
    tokio::time::sleep(Duration::from_secs(5)).await;
    issuer.set_behavior(IssuerBehavior::Well);
    signing_in.await.expect("no panic").expect("tokens");
    assert_eq!(site.pauses(), [5, 5, 10]);
}
