//! Identity, offers and response times of a server, and failures to reach it.

use crate::talk::program::pintle;
use crate::talk::server::{serve, serve_fresh, serve_http};

const LISTED: &str = "\
Tools  17
  add  (read-only)
      Adds two or more numbers.
      a=NUMBER b=INTEGER [more=LIST:INTEGER]
  repeat  (read-only)
      Returns the text.
      text=STRING
";

#[tokio::test]
async fn everything_is_listed() {
    let server = serve().await;
    let listed = pintle("list").word(&server.url).prints().await;
    assert!(listed.starts_with(LISTED), "{listed}");
    for part in [
        "\nResources  1\n  bench://scan  scan  (image/png)\n",
        "\nResource templates  1\n  bench://notes/{name}  note\n",
        "\nPrompts  1\n  review\n      Reviews a piece of work.\n      work=TEXT [tone=TEXT]\n",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
}

// A command that ends with its answer has no use for notifications of changes.
#[tokio::test]
async fn a_single_command_does_not_subscribe_to_changes() {
    let server = serve_fresh().await;
    let name = format!("pintle-quiet-{}.jsonl", std::process::id());
    let file = std::env::temp_dir().join(name);
    let path = file.to_str().expect("text");
    for revision in ["2025-11-25", "2026-07-28"] {
        let list = pintle("list --revision").word(revision).word("--trace");
        list.word(path).word(&server.url).prints().await;
        let trace = std::fs::read_to_string(&file).expect("a trace");
        assert!(trace.contains("tools/list"), "{trace}");
        assert!(!trace.contains("subscriptions/"), "{revision}: {trace}");
    }
    std::fs::remove_file(file).expect("removed");
}

#[tokio::test]
async fn one_kind_is_listed_as_data() {
    let server = serve().await;
    let listed = pintle("list --json")
        .word(&server.url)
        .word("prompts")
        .json()
        .await;
    assert_eq!(listed["prompts"][0]["name"], "review", "{listed}");
    assert!(listed.get("tools").is_none(), "{listed}");
}

#[tokio::test]
async fn a_server_is_inspected_in_every_revision() {
    let server = serve().await;
    for (revision, era) in [
        ("2024-11-05", "legacy"),
        ("2025-03-26", "legacy"),
        ("2025-06-18", "legacy"),
        ("2025-11-25", "legacy"),
        ("2026-07-28", "modern"),
    ] {
        let inspect = pintle("inspect --json --revision")
            .word(revision)
            .word(&server.url);
        let inspected = inspect.json().await;
        assert_eq!(
            (&inspected["revision"], &inspected["era"]),
            (&revision.into(), &era.into())
        );
        assert_eq!(inspected["server"]["name"], "workbench");
        assert_eq!(inspected["offers"]["tools"][0]["name"], "add");
    }
    let text = pintle("inspect").word(&server.url).prints().await;
    assert!(
        text.starts_with("Workbench\\u{1b}[2J  1.0\n  revision  2026-07-28 (modern)\n"),
        "{text}"
    );
    assert!(
        text.contains("\nInstructions\n  Measure twice.\n"),
        "{text}"
    );
}

#[tokio::test]
async fn a_ping_prints_the_response_times() {
    let server = serve().await;
    let times = pintle("ping --count 3").word(&server.url).prints().await;
    assert_eq!(
        times.lines().filter(|line| line.ends_with(" ms")).count(),
        3,
        "{times}"
    );
    let data = pintle("ping --json --revision 2025-11-25")
        .word(&server.url)
        .json()
        .await;
    assert_eq!(
        data["milliseconds"].as_array().map(Vec::len),
        Some(1),
        "{data}"
    );
}

#[tokio::test]
async fn a_program_is_started_and_ended() {
    let serve = concat!(env!("CARGO_BIN_EXE_pintle"), " serve --stdio");
    let listed = pintle(&format!("list tools -- {serve}")).prints().await;
    assert!(listed.contains("under_keel"), "{listed}");
}

#[tokio::test]
async fn standard_error_of_a_program_is_shown_on_request() {
    const SERVE: &str = concat!(" -- ", env!("CARGO_BIN_EXE_pintle"), " serve --stdio");
    let quiet = pintle(&format!("ping{SERVE}")).run().await;
    assert_eq!(
        (quiet.code, quiet.notes.as_str()),
        (Some(0), ""),
        "{quiet:?}"
    );
    let loud = pintle(&format!("ping -v{SERVE}")).run().await;
    assert!(loud.notes.contains("The showcase is served"), "{loud:?}");
}

#[tokio::test]
async fn a_server_that_does_not_exist_is_unreachable() {
    for server in ["tcp://127.0.0.1:1", "unix:///no/such/socket"] {
        let text = pintle("ping").word(server).fails(4).await;
        assert!(text.starts_with("pintle: "), "{text}");
    }
    let text = pintle("ping -- /no/such/program").fails(4).await;
    assert_eq!(text.matches("/no/such/program").count(), 1, "{text}");
    // The last standard error of a server is shown, without control characters.
    let text = pintle("ping -- sh -c")
        .word("printf 'no \\033[2J config\\n' >&2; exit 3")
        .fails(4)
        .await;
    assert!(
        text.contains("config") && !text.contains('\u{1b}'),
        "{text:?}"
    );
}

#[tokio::test]
async fn a_line_of_a_program_that_is_not_a_message_is_reported() {
    const SERVE: &str = concat!(
        "echo stray; exec ",
        env!("CARGO_BIN_EXE_pintle"),
        " serve --stdio"
    );
    let ping = pintle("ping -- sh -c").word(SERVE).run().await;
    assert_eq!(ping.code, Some(0), "{ping:?}");
    assert!(ping.notes.contains("not a message: stray"), "{ping:?}");
    // Only a failure has the hint about standard error.
    assert!(!ping.notes.contains("-v shows it"), "{ping:?}");
    let call = pintle("call no_such_tool -- sh -c").word(SERVE);
    let text = call.fails(5).await;
    assert!(text.contains("-v shows it"), "{text}");
}

#[tokio::test]
async fn a_failure_is_json_if_the_output_is_json() {
    let ended = pintle("ping --json tcp://127.0.0.1:1").run().await;
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let data: serde_json::Value = serde_json::from_str(&ended.output).expect("JSON");
    assert_eq!(data["error"]["exit"], 4, "{data}");
    let message = data["error"]["message"].as_str().expect("text");
    assert!(ended.notes.contains(message), "{ended:?}");
    // A result that reports a failure is the only output.
    let server = serve().await;
    let failed = pintle("call --json").word(&server.url).word("fail");
    let ended = failed.run().await;
    let data: serde_json::Value = serde_json::from_str(&ended.output).expect("JSON");
    assert_eq!((ended.code, &data["isError"]), (Some(5), &true.into()));
}

#[tokio::test]
async fn a_failure_names_a_likely_cause() {
    let server = serve_http().await;
    let url = server.url.trim_end_matches("/mcp");
    let text = pintle("ping").word(url).fails(4).await;
    assert!(text.contains("/mcp"), "{text}");
    let text = pintle("ping -- sh -c").word("exit 3").fails(4).await;
    assert!(text.contains("--env NAME"), "{text}");
}

// Without `--timeout`, the opening of such a server takes longer than a test waits.
#[tokio::test]
async fn a_timeout_limits_the_opening() {
    let list = pintle("list --timeout 300ms -- sleep 1000");
    let text = list.fails(4).await;
    assert!(text.contains("300ms"), "{text}");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port");
    let address = listener.local_addr().expect("an address");
    for scheme in ["tcp", "http"] {
        let url = format!("{scheme}://{address}");
        let text = pintle("list --timeout 300ms").word(url).fails(4).await;
        assert!(text.contains("300ms"), "{text}");
    }
}

#[tokio::test]
async fn an_invalid_command_line_is_a_usage_error() {
    for (line, part) in [
        ("ping", "which server"),
        ("call somewhere x", "@somewhere"),
        ("list tcp://127.0.0.1:1 toools", "did you mean `tools`"),
        ("nonsense", "nonsense"),
        ("ping tcp://127.0.0.1:1 --revision 1999-01-01", "2026-07-28"),
    ] {
        let text = pintle(line).fails(1).await;
        assert!(text.contains(part), "{line}: {text}");
    }
}

#[tokio::test]
async fn completion_scripts_and_the_manual_are_printed() {
    for (shell, part) in [
        ("bash", "_pintle"),
        ("zsh", "#compdef pintle"),
        ("fish", "complete -c pintle"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = pintle("completions").word(shell).prints().await;
        assert!(
            script.contains(part) && script.contains("sample-with"),
            "{shell}"
        );
    }
    let manual = pintle("man").prints().await;
    for part in [".TH pintle", "pintle-call", "pintle-bench", "sample\\-with"] {
        assert!(manual.contains(part), "{part}");
    }
}
