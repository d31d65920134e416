//! `pintle web`: its page, a recording, a check, a sign-in.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::talk::guarded::Guard;
use crate::talk::home::{Home, visit};

/// Maximum time of a wait in a test.
const LATE: Duration = Duration::from_secs(60);

/// Maximum time from the start of the program to the first byte of the page. A build without optimization keeps it.
const START: Duration = Duration::from_millis(100);

/// A running page.
struct Web {
    address: SocketAddr,
    token: String,
    /// Everything that the page has received.
    received: Mutex<String>,
    _program: Child,
}

impl Web {
    async fn start(home: &Home, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
        command.args(["web", "--no-open"]).args(words);
        command.current_dir(home.path()).env("HOME", home.path());
        command
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut program = command.kill_on_drop(true).spawn().expect("starts");
        let notes = program.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(notes).lines();
        let url = loop {
            let line = timeout(LATE, lines.next_line()).await.expect("in time");
            let line = line.expect("text").expect("the program prints the URL");
            if let Some(at) = line.find("http://127.0.0.1:") {
                break line[at + 7..].trim().to_owned();
            }
        };
        // The program must not wait for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let (address, token) = url.split_once("/#").expect("a token");
        Self {
            address: address.parse().expect("an address"),
            token: token.to_owned(),
            received: Mutex::default(),
            _program: program,
        }
    }

    async fn send(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("listens");
        let text = format!(
            "{head} HTTP/1.1\r\nConnection: close\r\nHost: {0}\r\nOrigin: http://{0}\r\nPintle-Token: {1}\r\n\
             Content-Type: application/json\r\nContent-Length: {2}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(text.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("answered");
        answer
    }

    async fn post(&self, name: &str, body: Value) -> Value {
        let head = format!("POST /api/{name}");
        let answer = timeout(LATE, self.send(&head, &body.to_string())).await;
        let answer = answer.expect("in time");
        self.received.lock().expect("no panic").push_str(&answer);
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
        serde_json::from_str(body).expect("JSON")
    }
}

#[tokio::test]
async fn the_page_answers_soon_after_the_start() {
    let home = Home::new();
    let mut times = Vec::new();
    // Other programs only add to the time.
    for _ in 0..8 {
        let began = Instant::now();
        let web = Web::start(&home, &[]).await;
        let page = web.send("GET /", "").await;
        times.push(began.elapsed());
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    }
    let best = times.iter().min().expect("times");
    println!("{times:?}");
    assert!(*best <= START, "{times:?}");
}

#[tokio::test]
async fn the_page_shows_a_recording() {
    let home = Home::new();
    let file = home.path().join("session.jsonl");
    std::fs::write(&file, "{\"pintle_recording\":1}\n").expect("written");
    let words = ["--recording", file.to_str().expect("text")];
    let web = Web::start(&home, &words).await;
    let state = web.post("state", json!({})).await;
    assert_eq!(state["recording"], "session.jsonl");
    let recording = web.post("recording", json!({})).await;
    assert_eq!(recording["text"], "{\"pintle_recording\":1}\n");
    let missing = home
        .pintle("web --no-open --recording none.jsonl")
        .fails(1)
        .await;
    assert!(missing.contains("none.jsonl cannot be read"), "{missing}");
}

#[tokio::test]
async fn the_page_checks_a_program_and_shows_its_standard_error() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_pintle");
    let script = format!("echo hello >&2; exec {program} serve --stdio");
    let web = Web::start(&home, &["--", "sh", "-c", &script]).await;
    let state = web.post("state", json!({})).await;
    let name = &state["targets"][0]["name"];
    let connected = web.post("connect", json!({ "target": name })).await;
    assert_eq!(connected["canJudge"], true, "{connected}");
    let events = web.post("events", json!({ "after": 0 })).await;
    assert!(
        events.to_string().contains("\"text\":\"hello\""),
        "{events}"
    );
    let linted = web.post("lint", json!({})).await;
    assert!(linted["result"]["findings"].is_array(), "{linted}");
}

// hardening: H-46
#[tokio::test]
async fn a_sign_in_of_the_page_passes_no_token_to_it() {
    let (guard, home) = (Guard::new().await, Home::new());
    let web = Web::start(&home, &[guard.url()]).await;
    let body = json!({ "target": guard.url() });
    let refused = web.post("connect", body.clone()).await;
    assert_eq!(refused["error"]["needsSignIn"], true, "{refused}");

    let asked = json!({ "op": 1, "target": guard.url() });
    let asked = asked.to_string();
    let signed_in = web.send("POST /api/sign-in", &asked);
    tokio::pin!(signed_in);
    let mut after = 0;
    let url = loop {
        let events = json!({ "after": after }).to_string();
        let events = tokio::select! {
            early = &mut signed_in => panic!("{early}"),
            events = web.send("POST /api/events", &events) => events,
        };
        let (_, page) = events.split_once("\r\n\r\n").expect("a head");
        let page: Value = serde_json::from_str(page).expect("JSON");
        after = page["next"].as_u64().expect("a number");
        let mut steps = page["events"].as_array().expect("events").iter();
        if let Some(step) = steps.find(|event| event["type"] == "signIn") {
            break step["url"].as_str().expect("a URL").to_owned();
        }
    };
    assert!(url.starts_with(guard.issuer.url()), "{url}");
    let (answer, ()) = tokio::join!(signed_in, visit(&url));
    assert!(answer.ends_with("{\"result\":null}"), "{answer}");

    let connected = web.post("connect", body).await;
    assert_eq!(connected["isConnected"], true, "{connected}");
    let call = json!({ "op": 2, "name": "add", "arguments": { "a": 1, "b": 2 } });
    let called = web.post("call", call).await;
    assert_eq!(called["result"]["content"][0]["text"], "3", "{called}");
    web.post("events", json!({ "after": 0 })).await;
    web.post("state", json!({})).await;
    let stored = home.stored();
    let received = web.received.lock().expect("no panic").clone();
    let mut secrets = 0;
    for name in ["\"access\":\"", "\"refresh\":\""] {
        for secret in stored
            .split(name)
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            assert!(!received.contains(secret), "{received}");
            secrets += 1;
        }
    }
    assert!(secrets > 0, "the tokens are stored");
}
