//! A shell and questions at a terminal.

use crate::talk::home::Home;
use crate::talk::server::serve;
use crate::talk::typist::Typist;

const PROMPT: &str = "workbench> ";
const TAB: &str = "\t";
const ENTER: &str = "\r";
const UP: &str = "\u{1b}[A";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// Starts a shell, and waits for its first prompt.
async fn shell(url: &str) -> Typist {
    let mut typist = Typist::starts(&["shell", url]);
    typist.sees("Ctrl-D exits.").await;
    typist.sees(PROMPT).await;
    typist
}

async fn leave(mut typist: Typist) {
    typist.types(CTRL_D).await;
    assert_eq!(typist.leaves().await.code(), Some(0));
}

#[tokio::test]
async fn names_and_arguments_are_completed() {
    let server = serve().await;
    let mut typist = shell(&server.url).await;

    typist.types(&format!("rep{TAB}")).await;
    typist.sees("repeat").await;
    typist.types(&format!(" te{TAB}")).await;
    typist.sees("text=").await;
    typist.types(&format!("'two words'{ENTER}")).await;
    typist.sees("\r\ntwo words\r\n").await;

    typist.sees(PROMPT).await;
    typist.types(&format!("prompt rev{TAB}")).await;
    typist.sees("review").await;
    // The server completes the argument `work`.
    typist.types(&format!(" work=gl{TAB}")).await;
    typist.sees("work=glue").await;
    typist.types(ENTER).await;
    typist.sees("Review the glue kindly.").await;

    typist.sees(PROMPT).await;
    leave(typist).await;
}

#[tokio::test]
async fn lines_are_stored_in_the_history() {
    let server = serve().await;
    let mut typist = shell(&server.url).await;
    typist.types(&format!("add a=1 b=2{ENTER}")).await;
    typist.sees("\r\n3\r\n").await;
    typist.sees(PROMPT).await;
    typist.types(&format!("repeat text=other{ENTER}")).await;
    typist.sees("\r\nother\r\n").await;
    typist.sees(PROMPT).await;
    typist.types(&format!("{UP}{UP}{ENTER}")).await;
    typist.sees("\r\n3\r\n").await;
    typist.sees(PROMPT).await;
    leave(typist).await;
}

// spec: 2025-11-25 CANC-13
// spec: 2026-07-28 N-CANC-14 (screen)
#[tokio::test]
async fn an_interruption_cancels_the_call_and_not_the_shell() {
    let server = serve().await;
    let mut typist = shell(&server.url).await;
    typist.types(&format!("hold{ENTER}")).await;
    typist.sees("holding").await;
    typist.types(CTRL_C).await;
    typist.sees("interrupted").await;
    typist.sees(PROMPT).await;
    // An interrupted line is not run.
    typist.types(&format!("fail{CTRL_C}")).await;
    typist.sees(PROMPT).await;
    typist.types(&format!("add a=1 b=2{ENTER}")).await;
    let text = typist.sees("\r\n3\r\n").await;
    assert!(!text.contains("the saw is blunt"), "{text}");
    typist.sees(PROMPT).await;
    leave(typist).await;
}

#[tokio::test]
async fn a_question_is_a_form() {
    let server = serve().await;
    for revision in ["2025-11-25", "2026-07-28"] {
        let words = ["call", &server.url, "greet", "--revision", revision];
        let mut typist = Typist::starts(&words);
        typist.sees("Who is there?").await;
        typist.sees("> ").await;
        typist.types("Ann\n").await;
        typist.sees("Send this?").await;
        typist.types("yes\n").await;
        typist.sees("hello Ann\r\n").await;
        assert_eq!(typist.leaves().await.code(), Some(0), "{revision}");
    }
}

#[tokio::test]
async fn a_cancelled_question_consumes_no_input() {
    let server = serve().await;
    let mut typist = shell(&server.url).await;
    typist.types(&format!("greet{ENTER}")).await;
    typist.sees("Who is there?").await;
    typist.sees("> ").await;
    typist.types(&format!("An{CTRL_C}")).await;
    typist.sees("interrupted").await;
    typist.sees(PROMPT).await;
    typist.types(&format!("repeat text=whole{ENTER}")).await;
    typist.sees("\r\nwhole\r\n").await;
    typist.sees(PROMPT).await;

    // The shell continues after a declined question.
    typist.types(&format!("greet{ENTER}")).await;
    typist.sees("Who is there?").await;
    typist.sees("> ").await;
    typist.types("/decline\n").await;
    typist.sees("as you like\r\n").await;
    typist.sees(PROMPT).await;
    leave(typist).await;
}

#[tokio::test]
async fn a_question_of_a_file_can_be_interrupted() {
    let server = serve().await;
    let home = Home::new();
    let asks = r#"{"inputs": [{"id": "where", "type": "promptString", "description": "Where?"}],
        "servers": {"bench": {"url": "${input:where}"}}}"#;
    let file = home.path().join("asks.json");
    std::fs::write(&file, asks).expect("written");
    let file = file.to_str().expect("text");
    let words = ["call", "@bench", "add", "a=1", "b=2", "--config", file];

    let mut typist = home.typist(&words);
    typist.sees("Do you agree to all of this?").await;
    typist.types("yes\n").await;
    typist.sees("Where?: ").await;
    typist.types(&format!("{}\n", server.url)).await;
    typist.sees("\r\n3\r\n").await;
    assert_eq!(typist.leaves().await.code(), Some(0));

    for _ in 0..4 {
        let mut typist = home.typist(&words);
        typist.sees("Where?: ").await;
        typist.types(CTRL_C).await;
        assert_ne!(typist.leaves().await.code(), Some(0));
    }
}

#[tokio::test]
async fn progress_is_drawn_and_erased() {
    let server = serve().await;
    let mut typist = Typist::starts(&["call", &server.url, "steps"]);
    typist.sees("50%  half\\u{1b}way").await;
    typist.sees("\r\u{1b}[Kdone\r\n").await;
    assert_eq!(typist.leaves().await.code(), Some(0));
}

#[tokio::test]
async fn an_interruption_ends_a_command() {
    let server = serve().await;
    let mut typist = Typist::starts(&["call", &server.url, "hold"]);
    typist.sees("holding").await;
    typist.types(CTRL_C).await;
    typist.sees("interrupted").await;
    assert_eq!(typist.leaves().await.code(), Some(130));

    // The same applies to an open question.
    let mut typist = Typist::starts(&["call", &server.url, "greet"]);
    typist.sees("> ").await;
    typist.types(CTRL_C).await;
    typist.sees("interrupted").await;
    assert_eq!(typist.leaves().await.code(), Some(130));
}
