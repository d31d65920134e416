//! `pintle serve SERVER`: another server behind the program.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::serve::child::Program;
use crate::talk::program::{Pintle, pintle};

const LATEST: &str = "2026-07-28";
const EARLIER: &str = "2025-06-18";
const PINTLE: &str = env!("CARGO_BIN_EXE_pintle");
/// Longest wait for a process, so that a test cannot hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A directory that is removed with this value.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-proxied-{}-{next}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a new directory");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Serves the showcase through the program, over HTTP. Returns the program and its URL.
async fn serve(options: &str, server: &str) -> (Program, String) {
    let mut program = Program::start(&format!("serve --http 127.0.0.1:0{options} {server}"));
    let line = program.noted("Connect clients to").await;
    let (_, url) = line.split_once("http://").expect("a URL");
    let url = format!("http://{}", url.trim_end_matches('.'));
    (program, url)
}

/// Books a berth. The server asks a question during the call.
fn book(url: &str, revision: &str) -> Pintle {
    let call =
        pintle("call allot_berth call_sign=RECK --answer {\"berth\":\"grain-pier\",\"hours\":3}");
    let words = [
        "--revision",
        revision,
        "--",
        PINTLE,
        "serve",
        "--stdio",
        url,
    ];
    words.into_iter().fold(call, Pintle::word)
}

#[tokio::test]
async fn a_program_is_served_over_http_in_all_pairs_of_eras() {
    for of_server in [LATEST, EARLIER] {
        let options = format!(" --revision {of_server}");
        let (mut program, url) = serve(&options, &format!("-- {PINTLE} serve --stdio")).await;
        for of_client in [LATEST, EARLIER] {
            let call = pintle("call")
                .word(&url)
                .words("--revision")
                .word(of_client);
            let call = call.words("allot_berth call_sign=RECK --answer");
            let printed = call
                .word("{\"berth\":\"grain-pier\",\"hours\":3}")
                .prints()
                .await;
            let pair = (of_client, of_server);
            assert_eq!(printed, "RECK lies at grain-pier for 3 hours\n", "{pair:?}");
        }
        program.signal("TERM").await;
        assert_eq!(program.ended().await.code(), Some(0));
    }
}

#[tokio::test]
async fn a_program_is_served_by_the_transport_of_2024() {
    let (_program, url) = serve(" --sse", &format!("-- {PINTLE} serve --stdio")).await;
    let call = pintle("call").word(url.replace("/mcp", "/sse"));
    let printed = call.words("height_of_tide hours=3 --revision 2024-11-05");
    assert_eq!(printed.prints().await, "3.24\n");
}

#[tokio::test]
async fn a_url_is_served_on_standard_streams() {
    let (_showcase, url) = serve("", &format!("-- {PINTLE} serve --stdio")).await;
    for revision in [LATEST, EARLIER] {
        let printed = book(&url, revision).prints().await;
        assert_eq!(
            printed, "RECK lies at grain-pier for 3 hours\n",
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_program_is_served_at_a_unix_socket() {
    let directory = Directory::new();
    let path = directory.file("socket");
    let line = format!("serve --unix {path} -- {PINTLE} serve --stdio");
    let mut program = Program::start(&line);
    program.noted("Connect clients to unix://").await;
    let url = format!("unix://{path}");
    for revision in [LATEST, EARLIER] {
        let call = pintle("call")
            .word(&url)
            .words("height_of_tide hours=3 --revision");
        assert_eq!(call.word(revision).prints().await, "3.24\n");
    }
    let second = pintle(&line).fails(4).await;
    assert!(second.contains("serves"), "{second}");
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
    assert!(!PathBuf::from(path).exists(), "the socket is removed");
}

#[tokio::test]
async fn a_program_that_was_killed_is_started_again() {
    for revision in [LATEST, EARLIER] {
        let directory = Directory::new();
        let ids = directory.file("ids");
        let script = directory.file("server");
        let text = format!("echo $$ >> {ids}\nexec {PINTLE} serve --stdio\n");
        fs::write(&script, text).expect("a script");
        let options = format!(" --revision {revision}");
        let (_program, url) = serve(&options, &format!("-- sh {script}")).await;
        let tide = || pintle("call").word(&url).words("height_of_tide hours=3");
        assert_eq!(tide().prints().await, "3.24\n");
        for id in fs::read_to_string(&ids).expect("the ids").lines() {
            let _ = std::process::Command::new("kill").args(["-9", id]).output();
            collected(id).await;
        }
        assert_eq!(tide().prints().await, "3.24\n", "{revision}");
    }
}

/// Waits until the parent of a killed process has collected it.
async fn collected(id: &str) {
    let process = PathBuf::from(format!("/proc/{id}"));
    let end = Instant::now() + TEST_TIMEOUT;
    while process.exists() {
        assert!(Instant::now() < end, "process {id} is left");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_host_on_standard_streams_starts_one_process() {
    for of_client in [LATEST, EARLIER] {
        for of_server in [LATEST, EARLIER] {
            let directory = Directory::new();
            let ids = directory.file("ids");
            let script = directory.file("server");
            let text = format!("echo $$ >> {ids}\nexec {PINTLE} serve --stdio\n");
            fs::write(&script, text).expect("a script");
            let call = pintle("call height_of_tide hours=3 --revision").word(of_client);
            let call = call.word("--").word(PINTLE);
            let call = call.words("serve --stdio --revision").word(of_server);
            let call = call.words("-- sh").word(&script);
            assert_eq!(call.prints().await, "3.24\n");
            let started = fs::read_to_string(&ids).expect("the ids").lines().count();
            assert_eq!(started, 1, "{of_client} {of_server}");
        }
    }
}

#[tokio::test]
async fn calls_of_a_served_server_have_lines_in_the_audit_log() {
    let directory = Directory::new();
    let log = directory.file("audit");
    let options = format!(" --audit {log}");
    let (mut program, url) = serve(&options, &format!("-- {PINTLE} serve --stdio")).await;
    pintle("call")
        .word(&url)
        .words("height_of_tide hours=3")
        .prints()
        .await;
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
    let lines = fs::read_to_string(log).expect("the audit log");
    assert!(lines.contains("\"name\":\"height_of_tide\""), "{lines}");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_an_error_at_the_start() {
    let refused = pintle("serve --stdio http://127.0.0.1:1/mcp")
        .fails(4)
        .await;
    assert!(refused.contains("127.0.0.1:1"), "{refused}");
    let missing = pintle("serve --stdio -- /no/such/program").fails(4).await;
    assert!(missing.contains("/no/such/program"), "{missing}");
    pintle("serve --stdio --header a:b").fails(1).await;
}

#[tokio::test]
async fn a_host_receives_the_chosen_tools_only() {
    let directory = Directory::new();
    let lock = directory.file("lock.json");
    let showcase = format!("-- {PINTLE} serve --stdio");
    pintle(&format!("lock --file {lock} {showcase}"))
        .prints()
        .await;
    let text = fs::read_to_string(&lock).expect("a lock file");
    fs::write(&lock, text.replace("Height of tide", "Another title")).expect("written");
    for (options, tool, expected) in [
        (
            "--only height_of_*",
            "height_of_tide hours=3",
            Some("3.24\n"),
        ),
        ("--without height_of_*", "height_of_tide hours=3", None),
        (
            "--rename height_of_tide=tide",
            "tide hours=3",
            Some("3.24\n"),
        ),
        (
            "--set-argument height_of_tide:hours=3",
            "height_of_tide",
            Some("3.24\n"),
        ),
    ] {
        let line = format!("call {tool} -- {PINTLE} serve --stdio {options} {showcase}");
        match expected {
            Some(expected) => assert_eq!(pintle(&line).prints().await, expected, "{options}"),
            None => drop(pintle(&line).fails(5).await),
        }
    }
    let listed = format!("list tools --json -- {PINTLE} serve --stdio --lock {lock} {showcase}");
    let listed = pintle(&listed).prints().await;
    assert!(listed.contains("\"board\"") && !listed.contains("height_of_tide"));
    let missing = format!("serve --stdio --lock /no/such/file {showcase}");
    assert!(pintle(&missing).fails(1).await.contains("/no/such/file"));
    let unserved = pintle("serve --stdio --only a").fails(1).await;
    assert!(unserved.contains("--only"), "{unserved}");
}
