//! Servers behind URLs.

use crate::talk::program::pintle;
use crate::talk::server::serve_http;

#[tokio::test]
async fn a_url_is_called_in_every_revision() {
    let server = serve_http().await;
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let call = pintle("call --revision").word(revision).word(&server.url);
        assert_eq!(
            call.word("add").word("a=1").word("b=2").prints().await,
            "3\n",
            "{revision}"
        );
    }
    let call = pintle("call")
        .word(&server.url)
        .word("greet")
        .word("--answer");
    assert_eq!(
        call.word("{\"name\": \"Ann\"}").prints().await,
        "hello Ann\n"
    );
}

#[tokio::test]
async fn progress_is_shown_over_http() {
    let server = serve_http().await;
    for revision in ["2025-11-25", "2026-07-28"] {
        let call = pintle("call --revision").word(revision).word(&server.url);
        let ended = call.word("steps").run().await;
        assert_eq!(
            (ended.code, ended.output.as_str()),
            (Some(0), "done\n"),
            "{ended:?}"
        );
        assert!(ended.notes.contains("50%  half\\u{1b}way"), "{ended:?}");
    }
}

#[tokio::test]
async fn everything_is_listed_and_read_over_http() {
    let server = serve_http().await;
    let inspected = pintle("inspect --json").word(&server.url).json().await;
    assert_eq!(
        inspected["offers"]["prompts"][0]["name"], "review",
        "{inspected}"
    );
    let read = pintle("read").word(&server.url).word("bench://notes/glue");
    assert_eq!(read.prints().await, "Let it dry.\n");
}

#[tokio::test]
async fn a_url_without_a_server_is_unreachable() {
    let text = pintle("ping http://127.0.0.1:1/mcp").fails(4).await;
    assert!(text.starts_with("pintle: "), "{text}");
    let text = pintle("ping ftp://127.0.0.1:1/mcp").fails(1).await;
    assert!(text.contains("http or https"), "{text}");
    let text = pintle("ping http://127.0.0.1:1/mcp --header")
        .word("Host: evil.example")
        .fails(1)
        .await;
    assert!(text.contains("host"), "{text}");
}
