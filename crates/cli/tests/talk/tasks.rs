//! Tasks, from one run of the program to the next.

use serde_json::json;

use crate::talk::program::{Ended, Pintle, pintle};
use crate::talk::server::{serve, serve_http};

const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// `pintle COMMAND --revision REVISION URL WORDS`.
fn line(command: &str, revision: &str, url: &str, words: &str) -> Pintle {
    let line = pintle(command).word("--revision").word(revision).word(url);
    words.split_whitespace().fold(line, Pintle::word)
}

// spec: 2025-11-25 TASK-20, TASK-26
// spec: 2026-07-28 X-TASK-18, X-TASK-32
#[tokio::test]
async fn a_task_begins_in_one_run_and_is_awaited_in_another() {
    let (pipe, http) = (serve().await, serve_http().await);
    for url in [&pipe.url, &http.url] {
        for revision in BOTH {
            let id = line("call --detach", revision, url, "sand").prints().await;
            let id = id.trim();
            assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{id}");
            let wait = format!("wait {id}");
            let text = line("tasks", revision, url, &wait).prints().await;
            assert_eq!(text, "sanded\n", "{revision} {url}");
            let result = format!("result {id}");
            let text = line("tasks --json", revision, url, &result).json().await;
            assert_eq!(
                text["content"],
                json!([{ "type": "text", "text": "sanded" }])
            );
            let get = format!("get {id}");
            let text = line("tasks --json", revision, url, &get).json().await;
            assert_eq!(
                (&text["taskId"], &text["status"]),
                (&json!(id), &json!("completed"))
            );
        }
    }
}

#[tokio::test]
async fn a_call_may_wait_for_its_task() {
    let server = serve_http().await;
    for revision in BOTH {
        for words in ["call", "call --task", "call --keep 1h"] {
            let ended = line(words, revision, &server.url, "sand").run().await;
            assert_eq!(
                (ended.code, ended.output.as_str()),
                (Some(0), "sanded\n"),
                "{ended:?}"
            );
            assert_eq!(ended.notes.contains("task "), words != "call", "{ended:?}");
            // A tool that requires a task needs no flag. Its failure is the exit code.
            let ended = line(words, revision, &server.url, "lacquer").run().await;
            assert_eq!(ended.output, "the lacquer is dry\n", "{ended:?}");
            assert_eq!(ended.code, Some(5));
        }
        let ended = line("call --task", revision, &server.url, "repeat text=x")
            .run()
            .await;
        assert_eq!(
            (ended.code, ended.output.as_str()),
            (Some(0), "x\n"),
            "{ended:?}"
        );
        assert!(ended.notes.contains("did not create a task"), "{ended:?}");
    }
}

#[tokio::test]
async fn a_running_task_is_cancelled() {
    let server = serve().await;
    for revision in BOTH {
        let task = line("call --detach --json", revision, &server.url, "glue")
            .json()
            .await;
        let id = task["taskId"].as_str().expect("a name").to_owned();
        let tasks = |words: String| line("tasks", revision, &server.url, &words);
        let text = tasks(format!("get {id}")).prints().await;
        assert!(text.contains("working"), "{text}");
        let text = tasks(format!("result {id}")).fails(5).await;
        assert!(text.contains("no result yet, it is working"), "{text}");
        let text = tasks(format!("cancel {id}")).prints().await;
        assert!(text.contains("cancelled"), "{text}");
        let text = tasks(format!("wait {id}")).fails(5).await;
        assert!(text.contains("cancelled"), "{text}");
        tasks("wait nothing".to_owned()).fails(5).await;
    }
}

#[tokio::test]
async fn a_run_that_waits_for_a_task_answers_its_questions() {
    let server = serve().await;
    for revision in BOTH {
        let id = line("call --detach", revision, &server.url, "greet_later")
            .prints()
            .await;
        let wait = line(
            "tasks",
            revision,
            &server.url,
            &format!("wait {}", id.trim()),
        );
        let answer = wait.word("--answer").word("{\"name\": \"Ann\"}");
        assert_eq!(answer.prints().await, "hello Ann\n", "{revision}");
    }
}

// spec: 2025-11-25 TASK-82
#[tokio::test]
async fn a_client_of_a_shared_socket_cannot_list_tasks() {
    let server = serve().await;
    for revision in BOTH {
        let url = &server.url;
        line("call --detach", revision, url, "sand").prints().await;
        line("tasks", revision, url, "list").fails(5).await;
    }
}

/// Starts a task and lists the tasks, in one conversation with the showcase on standard streams.
async fn start_and_list(revision: &str) -> Ended {
    let shell = pintle("shell --revision").word(revision).word("--");
    let shell = shell.word(env!("CARGO_BIN_EXE_pintle"));
    let shell = shell.word("serve").word("--stdio");
    let lines = "call --detach survey lines=1\ntasks list\n";
    shell.input(lines).run().await
}

#[tokio::test]
async fn the_only_client_of_a_pipe_can_list_tasks_in_2025_11_25() {
    let ended = start_and_list(BOTH[0]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut lines = ended.output.lines();
    let id = lines.next().unwrap_or_default();
    assert!(
        !id.is_empty() && lines.any(|line| line.starts_with(id)),
        "{ended:?}"
    );
    assert_eq!(start_and_list(BOTH[1]).await.code, Some(5));
}

#[tokio::test]
async fn the_showcase_is_surveyed_in_a_task() {
    for revision in BOTH {
        let call = pintle("call --task --revision").word(revision);
        let call = call.word("survey").word("lines=1").word("--");
        let call = call
            .word(env!("CARGO_BIN_EXE_pintle"))
            .word("serve")
            .word("--stdio");
        let ended = call.run().await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.output.contains("7.9"), "{ended:?}");
        assert!(ended.notes.contains("task "), "{ended:?}");
    }
}
