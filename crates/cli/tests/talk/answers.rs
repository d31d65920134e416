//! Questions of the server.

use serde_json::Value;

use crate::talk::program::{Pintle, pintle};
use crate::talk::server::{Served, serve};

fn call(server: &Served, revision: &str, tool: &str) -> Pintle {
    pintle("call --revision")
        .word(revision)
        .word(&server.url)
        .word(tool)
}

#[tokio::test]
async fn answers_of_the_command_line_work_in_every_revision() {
    let server = serve().await;
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let answered = |answer| {
            call(&server, revision, "greet")
                .word("--answer")
                .word(answer)
        };
        assert_eq!(
            answered("{\"name\": \"Ann\"}").prints().await,
            "hello Ann\n",
            "{revision}"
        );
        assert_eq!(
            answered("decline").prints().await,
            "as you like\n",
            "{revision}"
        );
        assert_eq!(answered("cancel").prints().await, "gone\n", "{revision}");
    }
    for revision in ["2025-11-25", "2026-07-28"] {
        let answered = |answer| {
            call(&server, revision, "sign_in")
                .word("--answer")
                .word(answer)
        };
        assert_eq!(
            answered("accept").prints().await,
            "signed in\n",
            "{revision}"
        );
        assert_eq!(
            answered("decline").prints().await,
            "not signed in\n",
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_question_without_a_terminal_is_declined_and_reported() {
    let server = serve().await;
    for revision in ["2025-11-25", "2026-07-28"] {
        let ended = call(&server, revision, "greet").run().await;
        assert_eq!(
            (ended.code, ended.output.as_str()),
            (Some(0), "as you like\n"),
            "{ended:?}"
        );
        let line = ended
            .notes
            .lines()
            .find(|line| line.starts_with('{'))
            .expect("a payload");
        let payload: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(payload["question"]["message"], "Who is there?", "{payload}");
        assert_eq!(payload["server"], "Workbench\u{1b}[2J");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
}

#[tokio::test]
async fn only_a_configured_program_answers_sampling() {
    let server = serve().await;
    let message =
        r#"echo '{"role":"assistant","model":"abacus","content":{"type":"text","text":"54"}}'"#;
    let program = format!("sh -c \"{}\"", message.replace('"', "\\\""));
    for revision in ["2025-11-25", "2026-07-28"] {
        let asked = call(&server, revision, "ask_model")
            .word("--sample-with")
            .word(&program);
        assert_eq!(asked.prints().await, "abacus\n", "{revision}");
        let ended = call(&server, revision, "ask_model").run().await;
        assert_eq!(ended.code, Some(5), "{ended:?}");
        assert!(ended.notes.contains("--sample-with"), "{ended:?}");
    }
}
