//! Answers that send us elsewhere.

use pintle_http::client::HttpClientOptions;
use pintle_model::Revision;
use pintle_proto::{PeerCallError, TransportErrorKind};

use super::origin::{FakeServer, json, result, with};
use super::user::{Outcome, user_with};

fn options() -> HttpClientOptions {
    let key = http::HeaderName::from_static("x-api-key");
    let value = http::HeaderValue::from_static("secret");
    let options = HttpClientOptions::default();
    options.header(key, value).expect("not reserved")
}

async fn sent_to(status: u16, location: &'static str) -> (FakeServer, Outcome) {
    let origin = FakeServer::new(move |seen, _| match seen.target.as_str() {
        "/mcp" => with(status, &[("location", location)], ""),
        _ => json(200, &result(seen)),
    });
    let user = user_with(origin.clone(), &options()).await;
    user.peer
        .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let outcome = user.list().await;
    (origin, outcome)
}

fn why(outcome: &Outcome) -> String {
    let Err(PeerCallError::Lost(error)) = outcome else {
        panic!("not lost: {outcome:?}");
    };
    let source = std::error::Error::source(error).expect("a cause");
    source.to_string()
}

// hardening: H-32
#[tokio::test(start_paused = true)]
async fn a_redirect_at_the_same_origin_is_followed_with_the_whole_message() {
    for status in [307, 308] {
        for location in ["/other/", "http://127.0.0.1:8000/other/", "../other/"] {
            let (origin, outcome) = sent_to(status, location).await;
            outcome.expect("a result");
            let seen = origin.seen();
            let (first, second) = (&seen[0], &seen[1]);
            assert_eq!(second.target, "/other/");
            assert_eq!((&first.verb, &first.body), (&second.verb, &second.body));
            assert_eq!(second.header("x-api-key"), Some("secret"));
            assert_eq!(second.header("mcp-method"), Some("tools/list"));
        }
    }
}

// hardening: H-32
#[tokio::test(start_paused = true)]
async fn nothing_goes_to_another_origin_and_nothing_is_turned_into_a_get() {
    for location in [
        "http://evil.example/mcp",
        "https://127.0.0.1:8000/mcp",
        "http://127.0.0.1:8001/",
        "//evil.example/",
    ] {
        let (origin, outcome) = sent_to(308, location).await;
        assert!(why(&outcome).contains("is not followed"), "{location}");
        assert_eq!(origin.seen().len(), 1);
        assert_eq!(
            origin.connections().len(),
            1,
            "nobody else was even connected to"
        );
    }
    for status in [301, 302, 303] {
        let (origin, outcome) = sent_to(status, "/other/").await;
        assert!(why(&outcome).contains("only 307 and 308"), "{status}");
        assert_eq!(origin.seen().len(), 1);
    }
}

// hardening: H-32
#[tokio::test(start_paused = true)]
async fn three_redirects_are_followed_and_a_fourth_is_not() {
    for (steps, ends) in [(3, true), (4, false)] {
        let origin = FakeServer::new(move |seen, count| {
            if count < steps {
                return with(307, &[("location", &format!("/{count}"))], "");
            }
            json(200, &result(seen))
        });
        let user = user_with(origin.clone(), &options()).await;
        user.peer
            .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
        let outcome = user.list().await;
        assert_eq!(outcome.is_ok(), ends, "{outcome:?}");
        assert_eq!(origin.seen().len(), 4);
        if !ends {
            assert_eq!(super::user::loss(&outcome), TransportErrorKind::Status(307));
        }
    }
}
