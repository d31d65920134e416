//! A shell without a terminal.

use crate::talk::program::pintle;
use crate::talk::server::serve;

#[tokio::test]
async fn lines_are_run_in_order() {
    let server = serve().await;
    let lines = "# a remark\n\nadd a=1 b=2\ncall repeat 'text=two words'\nread bench://notes/glue\nreload\nexit\nfail\n";
    let text = pintle("shell")
        .word(&server.url)
        .input(lines)
        .prints()
        .await;
    assert_eq!(text, "3\ntwo words\nLet it dry.\n");
}

#[tokio::test]
async fn a_failed_line_ends_the_shell() {
    let server = serve().await;
    let ended = pintle("shell")
        .word(&server.url)
        .input("fail\nadd a=1 b=2\n")
        .run()
        .await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(5), "the saw is blunt\n"),
        "{ended:?}"
    );
    let text = pintle("shell")
        .word(&server.url)
        .input("nonsense\n")
        .fails(1)
        .await;
    assert!(
        text.contains("`nonsense` is neither a command nor a tool"),
        "{text}"
    );
    let help = pintle("shell")
        .word(&server.url)
        .input("help")
        .prints()
        .await;
    assert!(help.contains("reload"), "{help}");
}
