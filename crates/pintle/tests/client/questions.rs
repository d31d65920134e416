//! Questions of the server: the same handlers in every revision.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::client::{
    CallError, Client, ClientBuilder, EraMode, Group, QuestionError, SamplingError,
};
use pintle::model::{CreateMessageResult, Feature, Revision, Root};
use pintle::prelude::*;
use serde_json::json;

use crate::client::help_desk::{connect, modes, text, within};

fn revision_of(client: &Client) -> Revision {
    client.server().expect("a server").revision
}

/// Accepts the defaults, and confirms.
fn agreeing(asked: &Arc<Mutex<Vec<String>>>) -> ClientBuilder {
    let asked = Arc::clone(asked);
    Client::builder().on_elicit(move |form| {
        let server = form.server.as_ref().map(|server| server.name.clone());
        assert_eq!(server.as_deref(), Some("desk"));
        asked.lock().expect("no panic").push(form.message.clone());
        async move {
            let mut content = pintle::model::JsonObject::new();
            if form.message == "Sure?" {
                content.insert("sure".into(), true.into());
            } else if form.defaults.is_empty() {
                // Up to 2025-06-18 a text has no default.
                content.insert("place".into(), "there".into());
            }
            Answer::Accepted(content)
        }
    })
}

// spec: 2025-11-25 ELIC-14, ELIC-21, ELIC-37, ELIC-04, ELIC-52
// spec: 2026-07-28 N-ELIC-06, N-ELIC-08, N-MRTR-16, N-MRTR-18, N-MRTR-21, N-MRTR-23, N-VER-09 (client rounds)
#[tokio::test(start_paused = true)]
async fn forms_are_filled_in_with_their_defaults() {
    for mode in modes() {
        let asked = Arc::default();
        let client = connect(agreeing(&asked), mode).await;
        let said = within(client.call_tool("deploy", ()))
            .await
            .expect("a result");
        if revision_of(&client).has(Feature::Elicitation) {
            let has_defaults = revision_of(&client).has(Feature::ElicitationDefaults);
            let expected = if has_defaults {
                "deployed here"
            } else {
                "deployed there"
            };
            assert_eq!(text(&said.content), expected, "{mode:?}");
            assert_eq!(*asked.lock().expect("no panic"), ["Where?", "Sure?"]);
        } else {
            assert!(said.has_failed());
        }
    }
}

// spec: 2025-11-25 ELIC-37
// spec: 2026-07-28 N-ELIC-08
#[tokio::test(start_paused = true)]
async fn no_is_an_answer() {
    for mode in modes() {
        let builder = Client::builder().on_elicit(async |_| Answer::Declined);
        let client = connect(builder, mode).await;
        let said = within(client.call_tool("deploy", ()))
            .await
            .expect("a result");
        if revision_of(&client).has(Feature::Elicitation) {
            assert_eq!(text(&said.content), "left alone");
        }
    }
}

// spec: 2025-11-25 ELIC-26, ELIC-60
// spec: 2026-07-28 N-ELIC-15 (sound addresses), N-ELIC-16
// hardening: H-78
#[tokio::test(start_paused = true)]
async fn a_user_is_sent_to_sound_urls_only() {
    let url = "https://sign.example.org/now";
    for mode in modes() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let eye = Arc::clone(&seen);
        let builder = Client::builder().on_elicit_url(move |visit| {
            eye.lock().expect("no panic").push((visit.url, visit.host));
            async { Answer::Accepted(()) }
        });
        let client = connect(builder, mode).await;
        if !revision_of(&client).has(Feature::UrlElicitation) {
            continue;
        }
        let said = within(client.call_tool("sign", json!({ "url": url }))).await;
        assert_eq!(text(&said.expect("a result").content), "signed");
        let bad = json!({ "url": "http://sign.example.org/" });
        match within(client.call_tool("sign", bad)).await {
            Ok(said) => assert!(said.has_failed(), "{said:?}"),
            Err(CallError::QuestionFailed { source, .. }) => {
                assert!(matches!(source, QuestionError::Unsound(_)), "{source}");
            }
            Err(error) => panic!("{error}"),
        }
        let seen = seen.lock().expect("no panic");
        assert_eq!(*seen, [(url.to_owned(), "sign.example.org".to_owned())]);
    }
}

// spec: 2025-11-25 SAMP-10, SAMP-27, MSG-17 (refused sampling)
// spec: 2026-07-28 N-SAMP-07, N-MRTR-28
#[tokio::test(start_paused = true)]
async fn a_model_answers_or_is_not_let() {
    for mode in modes() {
        let builder =
            Client::builder().on_sample(async |_| Ok(CreateMessageResult::new("Hm.", "thinker-1")));
        let client = connect(builder, mode).await;
        let said = within(client.call_tool("think", ()))
            .await
            .expect("a result");
        assert_eq!(text(&said.content), "thinker-1", "{mode:?}");

        let builder = Client::builder().on_sample(async |_| Err(SamplingError::Refused));
        let client = connect(builder, mode).await;
        match within(client.call_tool("think", ())).await {
            Ok(said) => assert!(said.has_failed()),
            Err(CallError::QuestionFailed { source, .. }) => {
                assert_eq!(source, QuestionError::Refused)
            }
            Err(error) => panic!("{error}"),
        }
    }
}

// spec: 2025-11-25 ROOT-02, ROOT-03
// spec: 2026-07-28 N-ROOT-01, N-ROOT-03
#[tokio::test(start_paused = true)]
async fn roots_are_sent_and_may_change() {
    for mode in modes() {
        let client = connect(Client::builder().roots(["file:///a", "file:///b"]), mode).await;
        let said = within(client.call_tool("where_am_i", ()))
            .await
            .expect("a result");
        assert_eq!(text(&said.content), "file:///a file:///b");
        client
            .set_roots(vec![Root::new("file:///c")])
            .expect("roots");
        let said = within(client.call_tool("where_am_i", ()))
            .await
            .expect("a result");
        assert_eq!(text(&said.content), "file:///c");
        client.set_roots(vec![Root::new("http://c")]).unwrap_err();
    }
    let client = connect(Client::builder(), EraMode::Auto).await;
    client.set_roots(Vec::new()).unwrap_err();
}

// spec: 2025-11-25 ELIC-68
// spec: 2026-07-28 N-ELIC-19, N-ELIC-06
#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_the_form_is_not_sent() {
    for mode in modes() {
        let builder = Client::builder().on_elicit(async |_| {
            let content = json!({ "place": 5, "sure": "yes" });
            Answer::Accepted(content.as_object().expect("an object").clone())
        });
        let client = connect(builder, mode).await;
        match within(client.call_tool("deploy", ())).await {
            Ok(said) => assert!(said.has_failed()),
            Err(CallError::QuestionFailed { source, .. }) => {
                assert!(matches!(source, QuestionError::Failed(_)), "{source}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_is_answered() {
    let builder = Client::builder().on_elicit(|_| async { panic!("as asked") });
    let client = connect(builder, EraMode::Legacy).await;
    let said = within(client.call_tool("deploy", ()))
        .await
        .expect("a result");
    assert!(said.has_failed());
    within(client.ping()).await.expect("it is still there");
}

/// The fields of a form.
#[data]
struct Trip {
    #[serde(default = "basel")]
    from: String,
    to: String,
}

fn basel() -> String {
    "Basel".to_owned()
}

/// Plans a trip.
#[tool]
async fn plan(cx: Context) -> Result<String> {
    let trip = cx.elicit::<Trip>("Where?").await?.accepted();
    let trip = trip.ok_or("no trip")?;
    Ok(format!("{} to {}", trip.from, trip.to))
}

#[tokio::test(start_paused = true)]
async fn values_of_an_answer_replace_the_defaults_of_the_form() {
    let group = Group::new();
    let server = || Server::new("trips", "1").tool::<plan>();
    let near = Client::builder().on_elicit(async |form| form.accept([("to", "Oslo".into())]));
    group.add("near", near, server()).expect("a member");
    let both = [("from", json!("Bern")), ("to", json!("Oslo"))];
    let far = Client::builder().on_elicit(move |form| {
        let both = both.clone();
        async { form.accept(both) }
    });
    group.add("far", far, server()).expect("a member");
    for (name, expected) in [
        ("near__plan", "Basel to Oslo"),
        ("far__plan", "Bern to Oslo"),
    ] {
        let planned = group.call_tool(name, ()).timeout(Duration::from_secs(5));
        let planned = within(planned.into_future()).await.expect("a result");
        assert_eq!(planned.first_text(), Some(expected));
    }
}
