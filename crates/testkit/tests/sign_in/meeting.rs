//! A client and a server of ours, over sockets, with an authorization server between them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pintle_auth::resource::{
    Dpop, DpopNonce, RequireBearer, RequireBearerBuilder, TokenError, TokenVerifier, VerifiedToken,
};
use pintle_auth::{AuthorizationResponse, ClientConfig, OAuth, Revocation, Secret, SignedOut};
use pintle_client::{Call, CallError, Client};
use pintle_http::client::{
    BoxIo, Dialer, EndpointUrl, HttpClientOptions, HttpConnect, UrlOrigin, WebClient,
};
use pintle_http::{HttpServer, ServeHttp as _};
use pintle_model::CallToolResult;
use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse, Principal};
use pintle_server::{Server, Tool};
use pintle_testkit::issuer::Issuer;
use tokio::net::TcpStream;
use tokio::sync::Barrier;

use crate::sign_in::site::get;

/// The URL of the server in all clients; its real port differs.
const HERE: &str = "http://127.0.0.1/mcp";

/// A dialer that connects every URL to one port.
#[derive(Clone)]
struct Port(SocketAddr);

impl Dialer for Port {
    fn dial(&self, _: &UrlOrigin) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send>> {
        let address = self.0;
        Box::pin(async move { Ok(BoxIo::new(TcpStream::connect(address).await?)) })
    }
}

/// Documents of the issuer and of the server.
struct Web(Issuer, SocketAddr);

impl Fetch for Web {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        match request.url.strip_prefix("http://127.0.0.1/") {
            Some(path) => Ok(get(&format!("http://{}/{path}", self.1)).await),
            None => self.0.fetch(request).await,
        }
    }
}

/// A server and the issuer of its tokens.
struct Place {
    issuer: Issuer,
    address: SocketAddr,
}

impl Place {
    async fn new(require: impl FnOnce(RequireBearerBuilder) -> RequireBearerBuilder) -> Self {
        let issuer = Issuer::new("https://issuer.test");
        let layer = RequireBearer::jwks(issuer.url(), issuer.clone()).audience(HERE);
        let address = serve(require(layer)).await;
        Self { issuer, address }
    }

    fn oauth(&self) -> OAuth {
        let web = Web(self.issuer.clone(), self.address);
        let issuer = self.issuer.clone();
        let oauth = OAuth::of(HERE, ClientConfig::new("test"), web).expect("a URL");
        let oauth = oauth.on_sign_in(move |visit| {
            let issuer = issuer.clone();
            async move {
                let answer = issuer.fetch(FetchRequest::get(visit.url)).await;
                let answer = answer.expect("an answer");
                let back = answer.single("location").expect("the way back");
                Ok(Some(AuthorizationResponse::at(back)))
            }
        });
        oauth.build()
    }

    async fn client(&self, oauth: &OAuth) -> Client {
        let options = HttpClientOptions::default().authorizer(oauth.clone());
        let url = EndpointUrl::parse(HERE).expect("a URL");
        let web = WebClient::over(Port(self.address), &options);
        let connect = HttpConnect::over(web, url, &options).expect("no header of ours");
        Client::connect(connect).await.expect("a server")
    }

    fn grants(&self, kind: &str) -> usize {
        let asked = self.issuer.seen();
        let of_kind = asked
            .iter()
            .filter(|one| one.parameter("grant_type") == Some(kind));
        of_kind.count()
    }
}

/// A server with two tools, behind a layer.
async fn serve(requirements: RequireBearerBuilder) -> SocketAddr {
    let layer = requirements.build().expect("good settings");
    let whoami = async |who: Principal| who.id().to_owned();
    let server = Server::new("bank", "1")
        .add_tool(Tool::new("whoami").handler(whoami))
        .add_tool(
            Tool::new("open")
                .scopes(["safe"])
                .handler(async || "opened"),
        );
    let service = server.into_http().expect("starts");
    let server = HttpServer::bind_with_layer(layer, service, "127.0.0.1:0").await;
    let server = server.expect("a port");
    let address = server.address().expect("an address");
    tokio::spawn(server.run_until(std::future::pending()));
    address
}

/// The text of the result of a call.
async fn text(call: Call<CallToolResult>) -> Result<String, CallError> {
    let result = call.await?;
    Ok(serde_json::to_string(&result).expect("it is JSON"))
}

// spec: 2025-11-25 AUTH-05, AUTH-10, AUTH-57, AUTH-58, AUTH-61, AUTH-73, AUTH-76, AUTH-02
// spec: 2026-07-28 N-AUTH-07, N-AUTH-26, N-AUTH-40, N-AUTH-43, N-AUTH-01
// hardening: H-69
#[tokio::test]
async fn a_client_requests_scopes_when_it_needs_them() {
    let place = Place::new(|all| all.supports(["safe"]).require("mcp")).await;
    let oauth = place.oauth();
    let client = place.client(&oauth).await;
    let who = text(client.call_tool("whoami", ()))
        .await
        .expect("an answer");
    assert!(who.contains("ada"), "{who}");
    let issued = oauth.issued_tokens().expect("read").expect("tokens");
    assert_eq!(
        issued.requested.to_string(),
        "mcp",
        "what the challenge names, and no more"
    );
    assert_eq!(place.issuer.count("/authorize"), 1);
    let opened = text(client.call_tool("open", ())).await;
    assert!(opened.expect("an answer").contains("opened"));
    let issued = oauth.issued_tokens().expect("read").expect("tokens");
    assert_eq!(issued.requested.to_string(), "mcp safe");
    assert_eq!(place.issuer.count("/authorize"), 2);
    assert_eq!(place.issuer.count("/register"), 1);
    client.close().await;
    let gone = oauth.sign_out().await.expect("forgotten");
    assert!(
        matches!(gone, SignedOut::Forgotten(Revocation::Done)),
        "{gone:?}"
    );
    let revoked = place.issuer.seen();
    let revoked: Vec<_> = revoked
        .iter()
        .filter(|asked| asked.path == "/revoke")
        .filter_map(|asked| asked.parameter("token"))
        .collect();
    assert_eq!(revoked.len(), 2);
    assert!(revoked.iter().any(|token| issued.tokens.access.is(token)));
}

// spec: 2026-07-28 X-DPOP-01, X-DPOP-02, X-DPOP-03
#[tokio::test]
async fn a_client_proves_its_key_wherever_the_server_requires_it() {
    for nonce in [DpopNonce::default(), DpopNonce::Required] {
        let place = Place::new(|all| all.dpop(Dpop::Required, nonce)).await;
        let oauth = place.oauth();
        let client = place.client(&oauth).await;
        for _ in 0..3 {
            let who = text(client.call_tool("whoami", ()))
                .await
                .expect("an answer");
            assert!(who.contains("ada"), "{who}");
        }
        let issued = oauth.issued_tokens().expect("read").expect("tokens");
        assert!(issued.tokens.is_bound);
        assert_eq!(
            place.grants("authorization_code"),
            1,
            "a nonce costs no token"
        );
        // A stolen token without its key is rejected.
        let stolen = HttpClientOptions::default().bearer(issued.tokens.access.reveal());
        let stolen = stolen.expect("a header");
        let url = EndpointUrl::parse(HERE).expect("a URL");
        let web = WebClient::over(Port(place.address), &stolen);
        let connect = HttpConnect::over(web, url, &stolen).expect("no header of ours");
        assert!(Client::connect(connect).await.is_err());
        client.close().await;
    }
}

/// Accepts every token but one, and refuses that one to all waiting requests at the same time.
#[derive(Clone)]
struct Crowd {
    withdrawn: Arc<OnceLock<Secret>>,
    refused: Arc<AtomicUsize>,
    gate: Arc<Barrier>,
}

impl Crowd {
    fn of(many: usize) -> Self {
        Self {
            withdrawn: Arc::default(),
            refused: Arc::default(),
            gate: Arc::new(Barrier::new(many)),
        }
    }
}

impl TokenVerifier for Crowd {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        let withdrawn = self.withdrawn.get();
        if withdrawn.is_some_and(|withdrawn| withdrawn.is(token.reveal())) {
            self.gate.wait().await;
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(TokenError::invalid("the token was withdrawn"));
        }
        let mut issued = VerifiedToken::new("https://issuer.test", "ada");
        issued.audiences.push(HERE.into());
        Ok(issued)
    }
}

// hardening: H-42
#[tokio::test]
async fn twenty_calls_rejected_at_once_share_one_refresh_and_all_succeed() {
    const MANY: usize = 20;
    let issuer = Issuer::new("https://issuer.test");
    let crowd = Crowd::of(MANY);
    let layer = RequireBearer::verifier(issuer.url(), crowd.clone()).audience(HERE);
    let address = serve(layer).await;
    let place = Place { issuer, address };
    let oauth = place.oauth();
    let client = place.client(&oauth).await;
    let before = oauth.issued_tokens().expect("read").expect("tokens");
    let withdrawn = crowd.withdrawn.set(before.tokens.access.clone());
    withdrawn.expect("for the first time");
    let calls = (0..MANY).map(|_| text(client.call_tool("whoami", ())));
    for answered in futures_util::future::join_all(calls).await {
        assert!(answered.expect("an answer").contains("ada"));
    }
    assert_eq!(crowd.refused.load(Ordering::SeqCst), MANY);
    assert_eq!(place.grants("refresh_token"), 1);
    assert_eq!(place.issuer.reuses(), 0);
    assert_eq!(place.grants("authorization_code"), 1);
    client.close().await;
}
