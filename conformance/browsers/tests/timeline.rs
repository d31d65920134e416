//! The timeline: differences, copies, recordings and standard error.

use pintle_browsers::{Page, showcase};

use crate::calls::ERAS;

/// Lets a copy be a variable of the page, because a browser without a window has no clipboard.
const COPIES: &str = "navigator.clipboard.writeText = async (text) => { window.copied = text; }";

async fn call(page: &Page<'_>, kind: &str) {
    page.fill("kind", kind).await;
    page.press("Call the tool").await;
    page.see_element("main table").await;
}

in_browsers! {
    async fn a_message_is_compared_with_the_one_before(page: &Page) of showcase().await; {
        for era in ERAS {
            page.use_revision(era).await;
            page.choose("Vessels").await;
            call(page, "tug").await;
            page.fill("Filter messages", "tools/call").await;
            call(page, "ferry").await;
            page.see("tools/call").await;
            page.press("→To the server").await;
            page.press("Compare with the one before").await;
            page.see_element(".diff ins").await;
            let lines = "return [...document.querySelectorAll('.diff :is(ins, del)')].map((node) => node.textContent.trim()).filter((line) => line.includes('kind'))";
            let lines = page.run(lines, vec![]).await;
            let expected = ["-       \"kind\": \"tug\"", "+       \"kind\": \"ferry\""];
            let lines = lines.as_array().expect("lines").iter();
            let lines: Vec<_> = lines.map(|line| line.as_str().expect("a text").trim_end_matches(',').replace("  ", " ")).collect();
            assert_eq!(lines, expected.map(|line| line.replace("  ", " ")));
            page.press("Clear the messages").await;
            page.fill("Filter messages", "").await;
        }
    }

    async fn a_message_is_compared_with_a_marked_one(page: &Page) of showcase().await; {
        page.see("Answer: tools/list").await;
        page.fill("Filter messages", "answer: resources/list").await;
        page.press("←From the server").await;
        page.press("Compare with the marked").await;
        page.see("Mark another message first.").await;
        page.press("Mark").await;
        page.fill("Filter messages", "answer: prompts/list").await;
        page.press("←From the server").await;
        page.press("Compare with the marked").await;
        page.see_element(".diff del").await;
    }

    async fn a_call_is_copied_as_a_test(page: &Page) of showcase().await; {
        page.run(COPIES, vec![]).await;
        page.choose("Board a pilot").await;
        page.fill("call_sign", "RULE").await;
        page.fill("cables", "1").await;
        page.press("Call the tool").await;
        page.see("the pilot is on board of RULE").await;
        page.fill("Filter messages", "tools/call").await;
        page.press("→To the server").await;
        page.press("Copy as test").await;
        let copied = page.run("return window.copied", vec![]).await;
        assert_eq!(copied, include_str!("copied.txt"));
    }

    async fn a_recording_is_opened_in_the_timeline(page: &Page) of showcase().await; {
        page.see("Answer: tools/list").await;
        let file = std::env::temp_dir().join(format!("pintle-tap-{}.jsonl", std::process::id()));
        std::fs::write(&file, RECORDING).expect("written");
        page.press("Recordings").await;
        page.choose_file(file.to_str().expect("text"), "Open a recording").await;
        page.see("Answer: tools/call").await;
        page.see_no("tools/list").await;
        page.see("1 other lines are not shown.").await;
        page.see("25 ms").await;
        page.press("←From the server").await;
        page.see("session 2").await;
        page.see("late-answer").await;
        page.press("Close the recording").await;
        page.see("Answer: tools/list").await;
        std::fs::write(&file, "hello\n").expect("written");
        page.choose_file(file.to_str().expect("text"), "Open a recording").await;
        page.see("the file is not a recording").await;
        std::fs::remove_file(file).expect("removed");
    }

    async fn a_recording_of_the_command_line_is_shown(page: &Page) of showcase().await.with_recording(RECORDING); {
        page.see("session.jsonl").await;
        page.see("Answer: tools/call").await;
    }

    async fn lines_of_standard_error_are_shown(page: &Page) of showcase().await; {
        page.see("Allot a berth").await;
        page.press("Checks").await;
        page.press("Check the tools").await;
        page.see("Standard error: the tools are read").await;
        page.fill("Direction of messages", "Standard error").await;
        page.see_no("Answer: tools/list").await;
        page.press("Server").await;
        page.see_element("#panel-server [aria-label='Standard error of the server'] li").await;
    }
}

/// Two sessions with the same ids, and a line that a writer did not complete.
const RECORDING: &str = r#"{"pintle_recording":1,"started":"2026-11-26T00:00:00.000Z","transport":"http"}
{"ms":10,"to":"server","session":1,"message":{"id":1,"method":"tools/call","params":{"name":"a"}}}
{"ms":20,"to":"server","session":2,"message":{"id":1,"method":"tools/call","params":{"name":"b"}}}
{"ms":45,"to":"client","session":2,"message":{"id":1,"result":{}},"odd":["late-answer"]}
{"ms":
"#;
