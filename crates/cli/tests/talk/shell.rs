//! A conversation by hand, without hands.

use crate::talk::program::pintle;
use crate::talk::server::serve;

#[tokio::test]
async fn lines_are_obeyed_one_after_the_other() {
    let server = serve().await;
    let lines = "# a remark\n\nadd a=1 b=2\ncall repeat 'text=two words'\nread bench://notes/glue\nreload\nexit\nfail\n";
    let said = pintle("shell")
        .word(&server.url)
        .input(lines)
        .prints()
        .await;
    assert_eq!(said, "3\ntwo words\nLet it dry.\n");
}

#[tokio::test]
async fn a_line_that_fails_ends_it() {
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
    let said = pintle("shell")
        .word(&server.url)
        .input("nonsense\n")
        .fails(1)
        .await;
    assert!(
        said.contains("`nonsense` is neither a command nor a tool"),
        "{said}"
    );
    let help = pintle("shell")
        .word(&server.url)
        .input("help")
        .prints()
        .await;
    assert!(help.contains("reload"), "{help}");
}
