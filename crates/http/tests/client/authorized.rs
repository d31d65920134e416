//! Requests that need a token: where the transport and an authorizer meet.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_http::client::{DocumentClient, HttpClientOptions};
use pintle_model::Revision;
use pintle_proto::{PeerCallError, TransportErrorKind};
use pintle_runtime::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, Fetch, FetchError, FetchRequest,
    NetworkScope, RequestSummary, RetryDecision,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::origin::{FakeServer, SeenRequest, courtesy, empty, json, result, welcome, with};
use super::user::{Outcome, User, user_with};

/// Has a token after the first challenge, and records the challenges.
#[derive(Clone, Default)]
struct Clerk {
    log: Arc<Mutex<Vec<String>>>,
    generations: Arc<Mutex<u64>>,
    never: bool,
}

impl Authorizer for Clerk {
    async fn authorize(&self, summary: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        let generation = *self.generations.lock().expect("whole");
        self.log
            .lock()
            .expect("whole")
            .push(format!("{} {}", summary.method, summary.operation));
        if generation == 0 {
            return Ok(AuthHeaders::none());
        }
        let token = format!("Bearer t{generation}");
        Ok(AuthHeaders::new(
            vec![("authorization".into(), token.into())],
            generation,
        ))
    }

    async fn handle_challenge(
        &self,
        _: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        let AuthChallenge {
            status,
            challenges,
            generation,
            before,
            ..
        } = &refused;
        let log = format!("{status} {} {generation} {before}", challenges.join("|"));
        self.log.lock().expect("whole").push(log);
        if self.never {
            return Err(AuthorizerError::new("nobody signs in"));
        }
        if refused.before > 0 {
            return Ok(RetryDecision::GiveUp);
        }
        *self.generations.lock().expect("whole") += 1;
        Ok(RetryDecision::Retry)
    }

    fn take_nonce(&self, nonce: &str) {
        self.log
            .lock()
            .expect("whole")
            .push(format!("nonce {nonce}"));
    }
}

async fn listed(clerk: &Clerk, origin: FakeServer) -> Outcome {
    let options = HttpClientOptions::default().authorizer(clerk.clone());
    let user = user_with(origin, &options).await;
    user.peer
        .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    user.list().await
}

fn wants_token(seen: &SeenRequest) -> bool {
    seen.header("authorization").is_none()
}

// spec: 2025-11-25 AUTH-57, AUTH-76
// spec: 2026-07-28 N-AUTH-43
#[tokio::test(start_paused = true)]
async fn a_refused_request_is_sent_again_with_its_token() {
    let clerk = Clerk::default();
    let origin = FakeServer::new(|seen, _| match wants_token(seen) {
        true => with(401, &[("www-authenticate", "Bearer scope=\"x\"")], ""),
        false => with(
            200,
            &[("content-type", "application/json"), ("dpop-nonce", "n")],
            result(seen).to_string(),
        ),
    });
    listed(&clerk, origin.clone()).await.expect("a result");
    let seen = origin.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].body, seen[1].body, "the same message");
    assert_eq!(seen[1].header("authorization"), Some("Bearer t1"));
    let log = clerk.log.lock().expect("whole").clone();
    let expected = [
        "POST tools/list",
        "401 Bearer scope=\"x\" 0 0",
        "POST tools/list",
        "nonce n",
    ];
    assert_eq!(log, expected);
}

// hardening: H-43
#[tokio::test(start_paused = true)]
async fn a_refusal_that_stays_is_the_answer() {
    for (never, requests) in [(false, 2), (true, 1)] {
        let clerk = Clerk {
            never,
            ..Clerk::default()
        };
        let origin = FakeServer::new(|_, _| empty(401));
        let Err(PeerCallError::Lost(error)) = listed(&clerk, origin.clone()).await else {
            panic!("it was refused");
        };
        assert_eq!(error.kind(), TransportErrorKind::Unauthorized(401));
        assert_eq!(origin.seen().len(), requests);
    }
}

// spec: 2025-11-25 AUTH-58
#[tokio::test(start_paused = true)]
async fn requests_of_a_session_have_the_token_and_delete_starts_no_sign_in() {
    let clerk = Clerk::default();
    let origin = FakeServer::new(|seen, _| match seen.verb.as_str() {
        "DELETE" => empty(401),
        _ if wants_token(seen) => empty(401),
        _ if seen.is("initialize") => welcome(seen),
        _ => courtesy(seen).unwrap_or_else(|| json(200, &result(seen))),
    });
    let options = HttpClientOptions::default().authorizer(clerk.clone());
    let user = user_with(origin.clone(), &options).await;
    user.shake_hands(Revision::LATEST_LEGACY)
        .await
        .expect("a welcome");
    user.list().await.expect("a result");
    user.peer.close();
    user.driver.await.expect("it ran").expect("a clean end");
    let without = origin.seen().into_iter().filter(wants_token).count();
    assert_eq!(without, 1, "the first of all");
    let log = clerk.log.lock().expect("whole").clone();
    let refusals = log.iter().filter(|log| log.starts_with("401")).count();
    assert_eq!(refusals, 1, "nobody signs in to say goodbye: {log:?}");
}

// spec: 2025-11-25 AUTH-59
// hardening: H-32, H-46
#[tokio::test(start_paused = true)]
async fn a_token_stays_in_its_header_and_at_its_origin() {
    let clerk = Clerk::default();
    let origin = FakeServer::new(|seen, _| match wants_token(seen) {
        true => empty(401),
        false => with(307, &[("location", "https://evil.example/")], ""),
    });
    let outcome = listed(&clerk, origin.clone()).await;
    assert!(outcome.is_err());
    assert_eq!(
        origin.connections().len(),
        1,
        "nobody else was connected to"
    );
    assert!(origin.seen().iter().all(|seen| !seen.target.contains("t1")));
    let options = HttpClientOptions::default()
        .bearer("hunter2")
        .expect("a token");
    assert!(!format!("{options:?}").contains("hunter2"));
    assert!(HttpClientOptions::default().bearer("a\r\nb").is_err());
}

#[tokio::test(start_paused = true)]
async fn a_token_of_the_caller_goes_out_as_it_is() {
    let origin = FakeServer::new(|seen, _| json(200, &result(seen)));
    let options = HttpClientOptions::default().bearer("t0").expect("a token");
    let user: User = user_with(origin.clone(), &options).await;
    user.peer
        .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    user.list().await.expect("a result");
    assert_eq!(origin.seen()[0].header("authorization"), Some("Bearer t0"));
}

/// Answers one request on a local port with these bytes, then stays silent.
async fn serve(answer: Vec<u8>) -> io::Result<String> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        let mut head = [0; 4_096];
        let _ = stream.read(&mut head).await?;
        stream.write_all(&answer).await?;
        std::future::pending::<io::Result<()>>().await
    });
    Ok(format!("http://{address}/document"))
}

async fn fetched(answer: &str, change: impl FnOnce(&mut FetchRequest)) -> Result<u16, FetchError> {
    let url = serve(answer.as_bytes().to_vec()).await.expect("a port");
    let mut request = FetchRequest::get(url);
    request.network = NetworkScope::Private;
    change(&mut request);
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    fetch.fetch(request).await.map(|answer| answer.status)
}

// spec: 2025-11-25 SEC-14
// spec: 2026-07-28 N-SEC-04
// hardening: H-29, H-30, H-44
#[tokio::test]
async fn documents_are_fetched_within_bounds() {
    let whole = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    assert!(matches!(fetched(whole, |_| {}).await, Ok(200)));
    let forbidden = fetched(whole, |request| request.network = NetworkScope::Public).await;
    let own = IpAddr::from(Ipv4Addr::LOCALHOST);
    assert!(matches!(forbidden, Err(FetchError::Forbidden(address)) if address == own));
    let by_name = fetched(whole, |request| {
        request.network = NetworkScope::Public;
        request.url = request.url.replace("127.0.0.1", "localhost");
    });
    assert!(
        matches!(by_name.await, Err(FetchError::Forbidden(_))),
        "a name is resolved first"
    );
    let moved = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    assert!(
        matches!(fetched(moved, |_| {}).await, Ok(302)),
        "redirects are not followed"
    );
    let large = "HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n";
    assert!(matches!(
        fetched(large, |_| {}).await,
        Err(FetchError::TooLarge(1_048_576))
    ));
    let slow = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
    let hurried = fetched(slow, |request| request.timeout = Duration::from_millis(50)).await;
    assert!(
        matches!(hurried, Err(FetchError::TimedOut(_))),
        "{hurried:?}"
    );
}
