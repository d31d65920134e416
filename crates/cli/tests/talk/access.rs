//! Servers that require a token.

use crate::talk::guarded::Guard;
use crate::talk::program::pintle;
use crate::talk::server::serve;

#[tokio::test]
async fn a_given_token_is_sent() {
    let guard = Guard::new().await;
    let token = guard.token();
    let call = || {
        pintle("call")
            .word(guard.url())
            .word("add")
            .word("a=1")
            .word("b=2")
    };
    let by_variable = call().word("--bearer-env=TOKEN").set("TOKEN", &token);
    assert_eq!(by_variable.prints().await, "3\n");
    let by_header = call().word(format!("--header=Authorization: Bearer {token}"));
    assert_eq!(by_header.prints().await, "3\n");
}

// spec: 2025-11-25 AUTH-80
// hardening: H-46
#[tokio::test]
async fn a_token_is_in_no_output() {
    let guard = Guard::new().await;
    let trace = std::env::temp_dir().join(format!("pintle-bearer-{}.jsonl", std::process::id()));
    let file = trace.to_str().expect("text");
    for (token, code) in [(guard.token(), 0), ("not-a-token-at-all".to_owned(), 3)] {
        let call = pintle("call -vv --bearer-env TOKEN --trace").word(file);
        let call = call.word(guard.url()).word("repeat").word("text=x");
        let ended = call.set("TOKEN", &token).run().await;
        assert_eq!(ended.code, Some(code), "{ended:?}");
        let trace = std::fs::read_to_string(&trace).expect("a trace");
        for text in [&ended.output, &ended.notes, &trace] {
            assert!(!text.contains(&token), "{text}");
        }
    }
    std::fs::remove_file(trace).expect("removed");
}

#[tokio::test]
async fn a_failure_without_a_token_names_the_next_step() {
    let guard = Guard::new().await;
    let text = pintle("list").word(guard.url()).fails(3).await;
    for step in [
        format!("`pintle login {}`", guard.url()),
        "--bearer-env".to_owned(),
    ] {
        assert!(text.contains(&step), "{text}");
    }
}

#[tokio::test]
async fn a_token_is_rejected_for_a_server_without_http() {
    let server = serve().await;
    let ping = || pintle("ping --bearer-env TOKEN").set("TOKEN", "x");
    let text = ping().word(&server.url).fails(1).await;
    assert!(text.contains("http or https"), "{text}");
    let text = ping().word("--").word("no-such-program").fails(1).await;
    assert!(text.contains("requires a URL as the server"), "{text}");
    let text = pintle("ping https://a.example --bearer-env s3cret")
        .fails(1)
        .await;
    assert!(
        text.contains("--bearer-env") && !text.contains("s3cret"),
        "{text}"
    );
}

#[tokio::test]
async fn the_reason_for_a_refused_token_is_reported() {
    let guard = Guard::new().await;
    let ping = pintle("ping --bearer-env TOKEN").set("TOKEN", "x.y.z");
    let text = ping.word(guard.url()).fails(3).await;
    assert!(text.contains("invalid_token: "), "{text}");
}
