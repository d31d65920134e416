//! Calls: arguments in, results out, exit codes.

use std::fs;

use serde_json::{Value, json};

use crate::talk::program::pintle;
use crate::talk::server::serve;

#[tokio::test]
async fn arguments_are_read_by_the_schema_in_every_revision() {
    let server = serve().await;
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let call = pintle("call --revision").word(revision).word(&server.url);
        let call = call
            .word("add")
            .word("a=1.5")
            .word("b=2")
            .word("more=3")
            .word("more=4");
        assert_eq!(call.prints().await, "10.5\n");
    }
    let call = pintle("call")
        .word(&server.url)
        .word("add")
        .word("{\"a\": 1}")
        .word("b:=2");
    assert_eq!(call.prints().await, "3\n");
    let call = pintle("call")
        .word(&server.url)
        .word("add")
        .word("-")
        .word("b=2");
    assert_eq!(
        call.input("{\"a\": 1, \"more\": [1]}").prints().await,
        "4\n"
    );
    let call = pintle("call")
        .word(&server.url)
        .word("repeat")
        .word("text=@-");
    assert_eq!(call.input("one\ntwo\n").prints().await, "one\ntwo\n");
}

#[tokio::test]
async fn a_result_is_the_same_as_data() {
    let server = serve().await;
    let call = pintle("call --json")
        .word(&server.url)
        .word("add")
        .word("a=1")
        .word("b=2");
    let result = call.json().await;
    assert_eq!(
        result["content"],
        json!([{ "type": "text", "text": "3" }]),
        "{result}"
    );
}

#[tokio::test]
async fn a_pipe_gets_the_unchanged_text_of_the_server() {
    let server = serve().await;
    let text = pintle("call").word(&server.url).word("odd").prints().await;
    assert_eq!(text, "\u{1b}]0;owned\u{7}plain\n");
}

#[tokio::test]
async fn every_failure_has_its_code() {
    let server = serve().await;
    let call = |words: &str| {
        let call = pintle("call").word(&server.url);
        words
            .split_whitespace()
            .fold(call, |call, word| call.word(word))
    };
    let text = call("add a=one b=2").fails(6).await;
    assert!(text.contains("`a` is \"one\"; expected a number"), "{text}");
    let text = call("add a=1").fails(6).await;
    assert!(text.contains("`b` is missing"), "{text}");
    let text = call("ad a=1").fails(5).await;
    assert!(
        text.contains("no tool `ad` (did you mean `add`?)"),
        "{text}"
    );
    let text = call("add word").fails(1).await;
    assert!(text.contains("invalid argument `word`"), "{text}");
    let ended = call("fail").run().await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(5), "the saw is blunt\n"),
        "{ended:?}"
    );
    // Without a check by the client, the server finds the fault.
    let ended = call("add a=one b=2 --unchecked").run().await;
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.output.contains("/a"), "{ended:?}");
}

#[tokio::test]
async fn progress_is_shown_on_standard_error() {
    let server = serve().await;
    let ended = pintle("call").word(&server.url).word("steps").run().await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(0), "done\n"),
        "{ended:?}"
    );
    assert!(ended.notes.contains("50%  half\\u{1b}way"), "{ended:?}");
}

#[tokio::test]
async fn log_messages_are_shown_from_the_requested_level() {
    let server = serve().await;
    for revision in ["2025-11-25", "2026-07-28"] {
        let call = |level: &str| {
            let call = pintle("call --revision")
                .word(revision)
                .word("--log")
                .word(level);
            call.word(&server.url).word("tell")
        };
        let ended = call("info").run().await;
        assert_eq!(ended.output, "told\n", "{ended:?}");
        assert_eq!(
            ended.notes, "warning saw: it is \\u{1b}blunt\n",
            "{revision}"
        );
        let ended = call("debug").run().await;
        assert!(
            ended.notes.starts_with("debug: a shaving\n"),
            "{revision}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn pictures_are_saved_if_the_output_is_not_a_terminal() {
    let server = serve().await;
    let place = std::env::temp_dir().join(format!("pintle-pictures-{}", std::process::id()));
    let call = pintle("call")
        .word(&server.url)
        .word("picture")
        .word("--save");
    let text = call.word(place.display().to_string()).prints().await;
    let file = place.join("picture-1.png");
    let saved = fs::read(&file);
    fs::remove_dir_all(&place).expect("there");
    assert_eq!(
        text,
        format!("[image, image/png, 12 bytes: {}]\n", file.display())
    );
    assert_eq!(saved.expect("saved"), b"\x89PNG\r\n\x1a\nrest");
}

#[tokio::test]
async fn resources_are_read() {
    let server = serve().await;
    let read = |uri: &str| pintle("read").word(&server.url).word(uri);
    assert_eq!(read("bench://notes/glue").prints().await, "Let it dry.\n");
    let text = read("bench://notes/gold").fails(5).await;
    assert!(text.contains("resources/read"), "{text}");
    let data = pintle("read --json")
        .word(&server.url)
        .word("bench://scan")
        .json()
        .await;
    assert_eq!(data["contents"][0]["mimeType"], "image/png", "{data}");
}

#[tokio::test]
async fn prompts_are_printed() {
    let server = serve().await;
    let prompt = |word: &str| pintle("prompt").word(&server.url).word("review").word(word);
    assert_eq!(
        prompt("work=saw").prints().await,
        "user\nReview the saw kindly.\n"
    );
    let text = prompt("tone=x").fails(6).await;
    assert!(
        text.contains("`work` is missing; expected a string: The work to review."),
        "{text}"
    );
    let text = prompt("wrok=saw").fails(6).await;
    assert!(text.contains("did you mean `work`?"), "{text}");
    let text = pintle("prompt")
        .word(&server.url)
        .word("reviw")
        .fails(5)
        .await;
    assert!(text.contains("did you mean `review`?"), "{text}");
}

#[tokio::test]
async fn arguments_are_completed() {
    let server = serve().await;
    let complete = |of: &str, word: &str| pintle("complete").word(&server.url).word(of).word(word);
    assert_eq!(complete("review", "work=g").prints().await, "glue\ngrain\n");
    assert_eq!(
        complete("bench://notes/{name}", "name=s").prints().await,
        "saw\n"
    );
}

#[tokio::test]
async fn a_tool_is_measured() {
    let server = serve().await;
    let bench = pintle("bench --json --calls 50 --warm-up 1 --concurrency 4").word(&server.url);
    let found = bench.word("add").word("a=1").word("b=2").json().await;
    assert_eq!(
        (&found["calls"], &found["toolErrors"]),
        (&json!(50), &json!(0)),
        "{found}"
    );
    let min = found["microseconds"]["min"].as_f64();
    assert!(
        min > Some(0.0) && min <= found["microseconds"]["max"].as_f64(),
        "{found}"
    );
    let text = pintle("bench --calls 20")
        .word(&server.url)
        .word("fail")
        .prints()
        .await;
    assert!(
        text.contains("tool errors  20") && text.contains("p99.9"),
        "{text}"
    );
}

#[tokio::test]
async fn a_measurement_is_plotted() {
    let server = serve().await;
    let file = std::env::temp_dir().join(format!("pintle-plot-{}.svg", std::process::id()));
    let bench = pintle("bench --calls 20 --warm-up 1 --svg").word(file.display().to_string());
    let bench = bench.word(&server.url).words("add a=1 b=2");
    let text = bench.prints().await;
    let picture = fs::read_to_string(&file).expect("written");
    fs::remove_file(&file).expect("there");
    assert!(text.contains("% of calls") && text.contains('*'), "{text}");
    assert_eq!(picture.matches("<polyline").count(), 1, "{picture}");
    let bench = pintle("bench --calls 1 --svg /no/such/directory/plot.svg").word(&server.url);
    let text = bench.words("add a=1 b=2").fails(5).await;
    assert!(text.contains("plot.svg"), "{text}");
}

#[tokio::test]
async fn two_servers_are_compared_in_rounds() {
    let (first, second) = (serve().await, serve().await);
    let bench = |options: &str| {
        let bench = pintle("bench --calls 20 --warm-up 1 --rounds 4").words(options);
        let bench = bench.word("--compare").word(&second.url).word(&first.url);
        bench.words("add a=1 b=2")
    };
    let found = bench("--json").json().await;
    assert_eq!(found["targets"][0]["calls"], json!(20), "{found}");
    assert_eq!(found["targets"][1]["calls"], json!(20), "{found}");
    assert_eq!(found["targets"][1]["target"], json!(second.url), "{found}");
    let p50 = &found["ratios"]["p50"];
    let ratio = |name: &str| p50[name].as_f64().expect("a ratio");
    assert!(
        0.0 < ratio("min") && ratio("min") <= ratio("median"),
        "{found}"
    );
    assert!(ratio("median") <= ratio("max"), "{found}");
    let text = bench("").prints().await;
    for part in [
        "compared / first, of 4 rounds",
        "median",
        "o tcp://",
        "+ both",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = pintle("bench --calls 1 --compare http://127.0.0.1:1/mcp").word(&first.url);
    text.words("add a=1 b=2").fails(4).await;
}

#[tokio::test]
async fn every_message_is_traced() {
    let server = serve().await;
    let file = std::env::temp_dir().join(format!("pintle-trace-{}.jsonl", std::process::id()));
    let call = pintle("call --trace")
        .word(file.display().to_string())
        .word(&server.url);
    call.word("add").word("a=1").word("b=2").prints().await;
    let text = fs::read_to_string(&file).expect("written");
    fs::remove_file(&file).expect("there");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let sent = lines.iter().filter(|line| line["to"] == "server");
    let methods: Vec<_> = sent.map(|line| &line["message"]["method"]).collect();
    assert_eq!(methods, ["server/discover", "tools/list", "tools/call"]);
    let last = lines.last().expect("a line");
    assert_eq!(
        (
            &last["to"],
            &last["message"]["result"]["content"][0]["text"]
        ),
        (&json!("client"), &json!("3"))
    );
}
