//! Tokens that are verified by introspection.

use std::time::Duration;

use pintle_auth::resource::{
    IntrospectionClient, RequireBearer, RequireBearerBuilder, ResourceLimits,
};
use pintle_http::{HttpService, ServeHttp as _};
use pintle_runtime::Principal;
use pintle_server::{App, Server, Tool};
use pintle_testkit::issuer::{Issuer, IssuerBehavior};
use tokio::time::advance;
use tower_layer::Layer as _;

use crate::guard::ask::call;
use crate::guard::site::{HERE, Site};

type Guarded = pintle_auth::resource::Guarded<HttpService<App>>;

fn service(
    issuer: &Issuer,
    change: impl FnOnce(RequireBearerBuilder) -> RequireBearerBuilder,
) -> Guarded {
    issuer.knows("api", Some("s3cret"), &[]);
    let asker = IntrospectionClient::new("api", "s3cret");
    let requirements = RequireBearer::introspection(issuer.url(), asker, issuer.clone());
    let layer = change(requirements.audience(HERE))
        .build()
        .expect("good settings");
    let whoami = async |who: Principal| who.id().to_owned();
    let server = Server::new("bank", "1").add_tool(Tool::new("whoami").handler(whoami));
    layer.layer(server.into_http().expect("starts"))
}

async fn status(service: &Guarded, token: &str) -> u16 {
    call("whoami").bearer(token).through(service).await.status
}

#[tokio::test(start_paused = true)]
async fn an_introspection_result_is_cached_for_its_ttl() {
    let issuer = Issuer::new("https://issuer.test");
    let service = service(&issuer, |all| all);
    let token = issuer.token(HERE).sign();
    assert_eq!(status(&service, &token).await, 200);
    assert_eq!(status(&service, &token).await, 200);
    assert_eq!(issuer.count("/introspect"), 1);
    issuer.revoke(&token);
    advance(Duration::from_secs(29)).await;
    assert_eq!(status(&service, &token).await, 200);
    advance(Duration::from_secs(1)).await;
    assert_eq!(status(&service, &token).await, 401);
    assert_eq!(status(&service, &token).await, 401);
    assert_eq!(
        issuer.count("/introspect"),
        3,
        "what is no good is not remembered"
    );
    let documents = issuer.count("/.well-known/oauth-authorization-server");
    assert_eq!(documents, 1);
}

// spec: 2025-11-25 AUTH-61, AUTH-108
#[tokio::test(start_paused = true)]
async fn an_active_token_still_has_to_be_for_this_server() {
    let issuer = Issuer::new("https://issuer.test");
    let service = service(&issuer, |all| all);
    let rows = [
        issuer.token("https://other.test").sign(),
        issuer.token(HERE).without("aud").sign(),
        issuer
            .token(HERE)
            .claim("iss", "https://x.test".into())
            .sign(),
        issuer.token(HERE).expires(-1).sign(),
        Issuer::new("https://issuer.test").token(HERE).sign(),
        "garbage".into(),
    ];
    for token in rows {
        assert_eq!(status(&service, &token).await, 401);
    }
}

// hardening: H-72
#[tokio::test(start_paused = true)]
async fn without_an_answer_of_the_issuer_requests_are_rejected() {
    let issuer = Issuer::new("https://issuer.test");
    let service = service(&issuer, |all| all);
    let token = issuer.token(HERE).sign();
    for behavior in [
        IssuerBehavior::Down,
        IssuerBehavior::Broken(500),
        IssuerBehavior::Broken(401),
        IssuerBehavior::Silent,
    ] {
        issuer.set_behavior(behavior);
        assert_eq!(status(&service, &token).await, 503, "{behavior:?}");
    }
    issuer.set_behavior(IssuerBehavior::Well);
    assert_eq!(status(&service, &token).await, 200);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_moves_is_asked_at_its_new_place() {
    let issuer = Issuer::new("https://issuer.test");
    let service = service(&issuer, |all| all);
    let moves = |path: &str| {
        let place = format!("https://issuer.test/{path}");
        issuer
            .edit(|document| drop(document.insert("introspection_endpoint".into(), place.into())));
    };
    let documents = || issuer.count("/.well-known/oauth-authorization-server");
    let status = async || status(&service, &issuer.token(HERE).sign()).await;
    moves("gone");
    assert_eq!(status().await, 503);
    moves("introspect");
    advance(Duration::from_secs(9)).await;
    assert_eq!(
        (status().await, documents()),
        (503, 1),
        "it was read a moment ago"
    );
    advance(Duration::from_secs(1)).await;
    assert_eq!((status().await, documents()), (200, 2));
    advance(Duration::from_secs(899)).await;
    assert_eq!((status().await, documents()), (200, 2));
    moves("gone");
    advance(Duration::from_secs(1)).await;
    assert_eq!(
        (status().await, documents()),
        (503, 3),
        "it is where its document says"
    );
    moves("introspect");
    advance(Duration::from_secs(10)).await;
    assert_eq!((status().await, documents()), (200, 4));
    // An issuer without an answer may have moved, too.
    issuer.set_behavior(IssuerBehavior::Silent);
    assert_eq!((status().await, documents()), (503, 4));
    issuer.set_behavior(IssuerBehavior::Well);
    assert_eq!((status().await, documents()), (200, 5));
}

// The same over sockets.
//
// spec: 2025-11-25 AUTH-61, AUTH-63, AUTH-108
// hardening: H-66, H-67, H-72
#[tokio::test]
async fn a_token_is_accepted_only_if_introspection_confirms_it() {
    let issuer = Issuer::new("https://issuer.test");
    issuer.knows("api", Some("s3cret"), &[]);
    let asker = IntrospectionClient::new("api", "s3cret");
    let mut limits = ResourceLimits::default();
    limits.introspection_ttl = Duration::ZERO;
    limits.verify_timeout = Duration::from_secs(1);
    let site = Site::behind(
        issuer.clone(),
        RequireBearer::introspection(issuer.url(), asker, issuer.clone())
            .audience(HERE)
            .limits(limits),
    )
    .await;
    let token = issuer.token(HERE).sign();
    let status = async |token: &str| call("whoami").bearer(token).of(site.address).await.status;
    assert_eq!(status(&token).await, 200);
    for behavior in [
        IssuerBehavior::Down,
        IssuerBehavior::Broken(500),
        IssuerBehavior::Silent,
    ] {
        issuer.set_behavior(behavior);
        assert_eq!(status(&token).await, 503, "{behavior:?}");
    }
    issuer.set_behavior(IssuerBehavior::Well);
    for other in ["garbage", &issuer.token("https://other.test").sign()] {
        assert_eq!(status(other).await, 401);
    }
    assert_eq!(status(&token).await, 200);
    issuer.revoke(&token);
    assert_eq!(status(&token).await, 401);
    assert_eq!(site.runs(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_tokens_are_remembered() {
    let issuer = Issuer::new("https://issuer.test");
    let mut limits = ResourceLimits::default();
    limits.max_cached_introspections = 2;
    let service = service(&issuer, |all| all.limits(limits));
    let tokens: Vec<String> = (0..3).map(|_| issuer.token(HERE).sign()).collect();
    for (token, asked) in [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (0, 4)] {
        assert_eq!(status(&service, &tokens[token]).await, 200);
        assert_eq!(issuer.count("/introspect"), asked);
    }
}

#[tokio::test(start_paused = true)]
async fn only_so_many_are_asked_about_at_once() {
    let issuer = Issuer::new("https://issuer.test");
    let mut limits = ResourceLimits::default();
    // Half of the permits are reserved for tokens that were active before; these tokens are new.
    limits.max_running_introspections = 4;
    let place = "https://issuer.test/introspect";
    let service = service(&issuer, |all| all.limits(limits).endpoint(place));
    issuer.set_behavior(IssuerBehavior::Silent);
    let asks: Vec<_> = (0..3)
        .map(|_| call("whoami").bearer(&issuer.token(HERE).sign()))
        .collect();
    let waiting = asks.iter().map(|ask| ask.through(&service));
    let all = futures_util::future::join_all(waiting);
    let in_time = tokio::time::timeout(Duration::from_secs(1), all).await;
    assert!(in_time.is_err() && issuer.count("/introspect") == 2);
}
