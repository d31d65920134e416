//! Sign-ins at a terminal, and the later commands that use the credentials.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use pintle_testkit::issuer::{DevicePoll, IssuerBehavior};
use serde_json::Value;

use crate::talk::guarded::Guard;
use crate::talk::home::{Home, free_port, visit};
use crate::talk::server::serve_http;
use crate::talk::typist::Typist;

/// Visits the sign-in page that the program shows, and returns the text on the screen.
pub(crate) async fn follow(typist: &mut Typist, guard: &Guard) -> String {
    let mut shown = typist.sees("sign in at ").await;
    typist.sees(":").await;
    let page = format!("{}/authorize", guard.issuer.url());
    typist.sees(&page).await;
    let query = typist.sees("\r\n").await;
    visit(&format!("{page}{query}")).await;
    shown.push_str(&query);
    shown
}

async fn login(home: &Home, guard: &Guard) {
    let mut typist = home.typist(&["login", guard.url(), "--no-browser"]);
    follow(&mut typist, guard).await;
    typist.sees("signed in").await;
    assert_eq!(typist.leaves().await.code(), Some(0));
}

// spec: 2025-11-25 AUTH-80
// hardening: H-45, H-46
#[tokio::test]
async fn commands_after_a_sign_in_use_its_credentials() {
    let (guard, home) = (Guard::new().await, Home::new());
    login(&home, &guard).await;
    let codes = guard.issuer.count("/authorize");
    for _ in 0..2 {
        let call = home.pintle("call -vv").word(guard.url());
        let ended = call.word("add").word("a=1").word("b=2").run().await;
        assert_eq!(
            (ended.code, ended.output.as_str()),
            (Some(0), "3\n"),
            "{ended:?}"
        );
        let secrets = secrets(&home, &guard);
        assert!(
            secrets.len() >= 4,
            "a token, one to refresh it with, a code and its verifier"
        );
        for secret in secrets {
            assert!(!ended.notes.contains(&secret), "{}", ended.notes);
        }
    }
    assert_eq!(guard.issuer.count("/authorize"), codes, "no second sign-in");
    for file in home.files() {
        let mode = file.metadata().expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

/// Returns all secrets: those in files, and those sent to the issuer.
fn secrets(home: &Home, guard: &Guard) -> Vec<String> {
    let stored = home.stored();
    let mut secrets: Vec<String> = Vec::new();
    for name in ["\"access\":\"", "\"refresh\":\""] {
        let found = stored.split(name).skip(1);
        secrets.extend(found.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
    }
    for asked in guard.issuer.seen() {
        let found = ["code", "code_verifier", "refresh_token", "client_secret"];
        let found = found.iter().filter_map(|name| asked.parameter(name));
        secrets.extend(found.map(str::to_owned));
    }
    secrets
}

// hardening: H-46
#[tokio::test]
async fn a_sign_in_shows_no_secret() {
    let (guard, home) = (Guard::new().await, Home::new());
    let trace = home.path().join("trace.jsonl");
    let trace_text = trace.to_str().expect("text");
    let mut typist = home.typist(&[
        "-vv",
        "call",
        guard.url(),
        "add",
        "a=1",
        "b=2",
        "--no-browser",
        "--trace",
        trace_text,
    ]);
    let mut shown = follow(&mut typist, &guard).await;
    shown.push_str(&typist.sees("\n3\r\n").await);
    assert_eq!(typist.leaves().await.code(), Some(0));
    shown.push_str(&std::fs::read_to_string(trace).expect("a trace"));
    for secret in secrets(&home, &guard) {
        assert!(!shown.contains(&secret), "{shown}");
    }
}

#[tokio::test]
async fn a_command_asks_before_it_opens_a_browser() {
    let (guard, home) = (Guard::new().await, Home::new());
    // This browser only writes its arguments to a file.
    let (bin, went) = (home.path().join("bin"), home.path().join("went"));
    std::fs::create_dir_all(&bin).expect("made");
    let opener = bin.join("xdg-open");
    let script = format!(
        "#!/bin/sh\nprintf '%s' \"$#:$1\" > '{0}.new'\nmv '{0}.new' '{0}'\n",
        went.display()
    );
    std::fs::write(&opener, script).expect("written");
    std::fs::set_permissions(&opener, Permissions::from_mode(0o700)).expect("runs");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("set"));
    let words = ["call", guard.url(), "add", "a=1", "b=2"];

    let mut typist = home.typist_with(&words, &[("PATH", &path)]);
    typist.sees("asks you to visit an address").await;
    typist.sees("cancel] > ").await;
    typist.types("no\n").await;
    typist.sees("the sign-in was declined").await;
    assert_eq!(typist.leaves().await.code(), Some(3));
    assert!(!went.exists(), "nothing is opened without a yes");

    let mut typist = home.typist_with(&words, &[("PATH", &path)]);
    typist.sees("cancel] > ").await;
    typist.types("yes\n").await;
    typist.sees("waiting").await;
    let sent = loop {
        match std::fs::read_to_string(&went) {
            Ok(sent) => break sent,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let url = sent.strip_prefix("1:").expect("one argument, and no shell");
    visit(url).await;
    typist.sees("\n3\r\n").await;
    assert_eq!(typist.leaves().await.code(), Some(0));
}

#[tokio::test]
async fn no_sign_in_begins_without_a_terminal() {
    let (guard, home) = (Guard::new().await, Home::new());
    for line in [
        "list",
        "login",
        "inspect",
        "call --no-browser",
        "auth status",
    ] {
        let asked = home.pintle(line).word(guard.url());
        let asked = match line.starts_with("call") {
            true => asked.word("add").word("a=1"),
            false => asked,
        };
        let text = asked.fails(3).await;
        assert!(
            text.contains("login") || text.contains("--no-browser"),
            "{line}: {text}"
        );
    }
    assert_eq!(guard.issuer.count("/authorize"), 0);
    assert_eq!(guard.issuer.count("/register"), 0);
    let is_lock = |file: &std::path::PathBuf| file.extension().is_some_and(|end| end == "lock");
    assert!(home.files().iter().all(is_lock), "{:?}", home.files());
}

#[tokio::test]
async fn a_sign_in_is_shown_and_removed() {
    let (guard, home) = (Guard::new().await, Home::new());
    let none = home.pintle("auth status").prints().await;
    assert_eq!(none, "Not signed in to any server.\n");
    login(&home, &guard).await;
    let all = home.pintle("auth status --json").json().await;
    let one = home
        .pintle("auth status --json")
        .word(guard.url())
        .json()
        .await;
    assert_eq!(all, one);
    let server = &one["servers"][0];
    assert_eq!(server["server"], guard.url());
    assert_eq!(server["issuer"], guard.issuer.url());
    assert_eq!(server["scopes"], serde_json::json!(["bench"]));
    assert_eq!(server["renews"], true);
    let text = home.pintle("auth status").prints().await;
    assert!(text.contains(guard.issuer.url()), "{text}");
    for secret in secrets(&home, &guard) {
        assert!(!text.contains(&secret) && !one.to_string().contains(&secret));
    }

    let text = home.pintle("logout").word(guard.url()).prints().await;
    assert!(text.contains("are revoked"), "{text}");
    assert!(guard.issuer.count("/revoke") > 0);
    let text = home.pintle("logout").word(guard.url()).prints().await;
    assert!(text.starts_with("Not signed in"), "{text}");
    home.pintle("list").word(guard.url()).fails(3).await;
    let gone = home.pintle("auth status --json").json().await;
    assert_eq!(gone["servers"], Value::Array(Vec::new()));
}

// spec: 2026-07-28 X-CC-05
#[tokio::test]
async fn a_client_with_its_own_credentials_needs_no_sign_in() {
    let (guard, home) = (Guard::new().await, Home::new());
    guard.issuer.knows("robot", Some("robot-secret"), &[]);
    let call = || {
        let call = home.pintle("call --client-credentials --client-id robot --scope bench -vv");
        let call = call.word("--client-secret-env=SECRET").word(guard.url());
        call.word("add").word("a=1").word("b=2")
    };
    let ended = call().set("SECRET", "robot-secret").run().await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(0), "3\n"),
        "{ended:?}"
    );
    assert!(!ended.notes.contains("robot-secret"), "{}", ended.notes);
    assert!(home.files().is_empty(), "nothing is stored");
    let trace = home.path().join("trace.jsonl");
    let traced = call().set("SECRET", "robot-secret").word("--trace");
    traced.word(trace.to_str().expect("text")).prints().await;
    let traced = std::fs::read_to_string(&trace).expect("a trace");
    assert!(traced.contains("io.modelcontextprotocol/oauth-client-credentials"));
    assert!(!traced.contains("robot-secret"), "{traced}");
    let text = call().set("SECRET", "wrong-secret").fails(3).await;
    assert!(
        text.contains("invalid_client") && !text.contains("wrong-secret"),
        "{text}"
    );
    let text = home
        .pintle("login --client-credentials --client-id robot")
        .word("--client-secret-env=SECRET");
    text.word(guard.url()).set("SECRET", "x").fails(1).await;
}

#[tokio::test]
async fn a_sign_in_can_use_a_chosen_port_and_a_registered_client() {
    let (guard, home) = (Guard::new().await, Home::new());
    let chosen = free_port();
    let redirect = format!("http://127.0.0.1:{chosen}/callback");
    guard.issuer.knows("desk", None, &[&redirect]);
    let port = chosen.to_string();
    let words = [
        "login",
        guard.url(),
        "--no-browser",
        "--client-id",
        "desk",
        "--redirect-port",
        &port,
    ];
    let mut typist = home.typist(&words);
    follow(&mut typist, &guard).await;
    typist.sees("signed in").await;
    assert_eq!(typist.leaves().await.code(), Some(0));
    assert_eq!(guard.issuer.count("/register"), 0);
    let status = home.pintle("auth status --json").json().await;
    assert_eq!(status["servers"][0]["client"], "desk");

    let _taken = std::net::TcpListener::bind(("127.0.0.1", chosen)).expect("free again");
    let text = home
        .pintle("login --no-browser --redirect-port")
        .word(&port);
    let text = text.word(guard.url()).fails(4).await;
    assert!(text.contains(&format!("port {port}")), "{text}");
}

#[tokio::test]
async fn a_server_that_requires_no_token_has_no_sign_in() {
    let (server, home) = (serve_http().await, Home::new());
    let text = home
        .pintle("login --no-browser")
        .word(&server.url)
        .fails(5)
        .await;
    assert!(text.contains("requires no sign-in"), "{text}");
    let text = home
        .pintle("login --no-browser http://127.0.0.1:1/mcp")
        .fails(4)
        .await;
    assert!(text.contains("cannot determine whether"), "{text}");
    for words in [
        "login",
        "login tcp://127.0.0.1:1",
        "logout -- x",
        "login @nobody",
    ] {
        home.pintle(words).fails(1).await;
    }
}

#[tokio::test]
async fn an_issuer_that_is_down_does_not_remove_credentials() {
    let (guard, home) = (Guard::new().await, Home::new());
    login(&home, &guard).await;
    guard.issuer.set_behavior(IssuerBehavior::Broken(503));
    let mut typist = home.typist(&["login", guard.url(), "--no-browser"]);
    typist.sees("authorization-server metadata").await;
    assert_eq!(typist.leaves().await.code(), Some(3));
    guard.issuer.set_behavior(IssuerBehavior::Well);
    home.pintle("list").word(guard.url()).prints().await;
}

#[tokio::test]
async fn a_broken_deployment_is_explained_for_each_link() {
    let (guard, home) = (Guard::new().await, Home::new());
    let inspect = || home.pintle("inspect").word(guard.url()).run();
    let whole = inspect().await;
    assert_eq!(whole.code, Some(3), "{whole:?}");
    assert!(!whole.output.contains("broken"), "{whole:?}");
    assert!(whole.notes.contains("pintle login"), "{whole:?}");
    let name = guard.issuer.url().to_owned();

    guard.issuer.edit(|document| {
        document.insert("issuer".into(), "https://other.example".into());
    });
    let broken = inspect().await;
    assert_eq!(broken.code, Some(3), "{broken:?}");
    assert!(
        broken.output.contains("broken issuer: the document at"),
        "{broken:?}"
    );
    assert!(
        broken.notes.contains("`issuer`") && broken.notes.contains("letter by letter"),
        "{broken:?}"
    );

    guard.issuer.edit(|document| {
        document.insert("issuer".into(), name.clone().into());
        document.remove("code_challenge_methods_supported");
        document.remove("registration_endpoint");
    });
    let inspected = home.pintle("inspect --json").word(guard.url()).run().await;
    let links: Value = serde_json::from_str(&inspected.output).expect("JSON");
    let links = links["authorization"].as_array().expect("links");
    let broken: Vec<&Value> = links
        .iter()
        .filter(|link| link["state"] == "broken")
        .collect();
    let names: Vec<&str> = broken
        .iter()
        .filter_map(|link| link["link"].as_str())
        .collect();
    assert_eq!(names, ["PKCE", "registration"], "{links:?}");

    // At a terminal the program shows the same, and opens no browser.
    let mut typist = home.typist(&["inspect", guard.url()]);
    typist.sees("broken").await;
    typist.sees("code_challenge_methods_supported").await;
    typist.sees("breaks at its link").await;
    assert_eq!(typist.leaves().await.code(), Some(3));
    assert_eq!(guard.issuer.count("/authorize"), 0);
}

#[tokio::test]
async fn a_rejected_token_is_explained_with_the_answer_of_the_server() {
    let (guard, home) = (Guard::new().await, Home::new());
    let good = || guard.issuer.token(guard.url()).scopes("bench");
    let rows = [
        (
            guard.issuer.token("https://other.example").scopes("bench"),
            "(HTTP status 401, invalid_token): the token is for another server",
            format!("`pintle login {}`", guard.url()),
        ),
        (
            good().expires(-100),
            "(HTTP status 401, invalid_token): the token has expired",
            format!("`pintle login {}`", guard.url()),
        ),
        (
            guard.issuer.token(guard.url()),
            "(HTTP status 403, insufficient_scope)",
            format!("`pintle login {} --scope bench`", guard.url()),
        ),
    ];
    for (token, text, next) in rows {
        let token = token.sign();
        let inspected = home.pintle("inspect --bearer-env TOKEN").word(guard.url());
        let inspected = inspected.set("TOKEN", &token).run().await;
        assert_eq!(inspected.code, Some(3), "{inspected:?}");
        let shown = format!("broken token: the server rejects it {text}");
        assert!(inspected.output.contains(&shown), "{inspected:?}");
        assert!(inspected.notes.contains(&next), "{inspected:?}");
        assert!(!format!("{inspected:?}").contains(&token), "{inspected:?}");
    }
}

#[tokio::test]
async fn a_sign_in_with_a_code_needs_no_terminal_and_no_browser() {
    let (guard, home) = (Guard::new().await, Home::new());
    let short = [("interval".to_owned(), 1.into())];
    guard.issuer.device_members(short.into_iter().collect());
    let ended = home.pintle("login --device").word(guard.url()).run().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let page = format!("  {}/device\n", guard.issuer.url());
    for text in [
        page.as_str(),
        "enter the code WDJB-MJHT",
        "valid for 15 min",
    ] {
        assert!(ended.notes.contains(text), "{text}: {ended:?}");
    }
    assert_eq!(guard.issuer.count("/authorize"), 0);
    let call = home.pintle("call").word(guard.url());
    let called = call.word("add").word("a=1").word("b=2").run().await;
    assert_eq!(called.output, "3\n", "{called:?}");
    guard.issuer.device_polls([DevicePoll::Denied]);
    let ended = home.pintle("login --device").word(guard.url()).run().await;
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.notes.contains("the request was denied"), "{ended:?}");
}
