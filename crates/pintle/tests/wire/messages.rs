//! Invalid messages, unusual ones, and ordinary ones.

use serde_json::{Value, json};

use crate::wire::peer::{Came, Era, Lines, Posts};

/// The expected result.
#[derive(Debug, Clone, Copy)]
enum Want {
    /// An invalid message: refused with a code, and with its id if that can be read.
    Refused(i64, Id),
    /// A request that is answered with an error. The status over HTTP is 200 in the legacy era, and this
    /// number in the modern one.
    Error(i64, u16),
    /// A member of the parameters is there twice; the part that reads it first reports it.
    Repeated,
    /// A missing resource: the legacy era has its own code for it.
    Missing,
    /// A request whose headers, in the modern era, do not match it.
    Disagrees(i64),
    /// The result has an error for the model: its arguments are wrong.
    Complains,
    /// A result, after this number of runs of the tool.
    Served(usize),
    /// No answer; over HTTP in the modern era a status.
    Silent(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    Seven,
    None,
    /// Any id, because the message has two.
    Any,
}

use Want::{Complains, Disagrees, Error, Missing, Refused, Repeated, Served, Silent};

/// A text, its headers over HTTP, and the expected result.
struct Row {
    text: Vec<u8>,
    method: &'static str,
    name: Option<&'static str>,
    want: Want,
}

fn list(text: &[u8], want: Want) -> Row {
    about("tools/list", None, text, want)
}

fn call(text: &[u8], want: Want) -> Row {
    about("tools/call", Some("echo"), text, want)
}

fn about(method: &'static str, name: Option<&'static str>, text: &[u8], want: Want) -> Row {
    Row {
        text: text.to_vec(),
        method,
        name,
        want,
    }
}

/// A call whose text is nested arrays; three objects surround them.
fn nested(depth: usize, want: Want) -> Row {
    let (open, close) = ("[".repeat(depth), "]".repeat(depth));
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{open}{close}}},META}}}}"#
    );
    call(text.as_bytes(), want)
}

// hardening: H-94, H-106, H-116, H-119, H-120
#[tokio::test]
async fn a_message_that_is_not_json_is_refused_without_an_id() {
    play(vec![
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META}"#, Refused(-32700, Id::None)),
        list(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{META,\"x\":\"a\x01b\"}}", Refused(-32700, Id::None)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META},}"#, Refused(-32700, Id::None)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META}} x"#, Refused(-32700, Id::None)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META}}{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{META}}"#, Refused(-32700, Id::None)),
        list(br#"{"jsonrpc":"2.0",/*c*/"id":7,"method":"tools/list","params":{META}}"#, Refused(-32700, Id::None)),
        list(br#"{'jsonrpc':'2.0','id':7,'method':'tools/list'}"#, Refused(-32700, Id::None)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META,"x":NaN}}"#, Refused(-32700, Id::None)),
        list(br#"{"jsonrpc":"2.0","id":07,"method":"tools/list","params":{META}}"#, Refused(-32700, Id::None)),
        list(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{META}}", Refused(-32700, Id::None)),
        list(b"\0", Refused(-32700, Id::None)),
        list(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{META}}\0", Refused(-32700, Id::None)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\x41"},META}}"#, Refused(-32700, Id::None)),
        call(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\xff\"},META}}", Refused(-32700, Id::None)),
        call(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\xc0\xaf\"},META}}", Refused(-32700, Id::None)),
        call(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":\"\xed\xa0\x80\",\"method\":\"tools/list\",\"params\":{META}}", Refused(-32700, Id::None)),
        call(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\xf5\x80\x80\x80\"},META}}", Refused(-32700, Id::None)),
        call(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\xe2\x82\"},META}}", Refused(-32700, Id::None)),
    ])
    .await;
}

// hardening: H-95, H-96, H-97, H-98, H-124, H-125
#[tokio::test]
async fn an_invalid_message_is_refused_without_an_id() {
    play(vec![
        list(b"\"tools/list\"", Refused(-32600, Id::None)),
        list(b"7", Refused(-32600, Id::None)),
        list(b"null", Refused(-32600, Id::None)),
        list(b"true", Refused(-32600, Id::None)),
        list(b"{}", Refused(-32600, Id::None)),
        list(b"[]", Refused(-32600, Id::None)),
        list(b"[1,2]", Refused(-32600, Id::None)),
        list(
            br#"[{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META}}]"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":null,"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":true,"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":{},"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":[7],"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
        list(
            br#"{"jsonrpc":"2.0","id":1e400,"method":"tools/list","params":{META}}"#,
            Refused(-32600, Id::None),
        ),
    ])
    .await;
}

// hardening: H-100, H-102, H-103, H-128
#[tokio::test]
async fn a_message_that_two_readers_could_read_differently_is_refused() {
    play(vec![
        list(br#"{"id":7,"method":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"1.0","id":7,"method":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":2.0,"id":7,"method":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0 ","id":7,"method":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"Method":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"METHOD":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method\u0000":"tools/list","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":7,"params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":null,"params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/list","params":{META}}"#, Refused(-32600, Id::Any)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"ping","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","m\u0065thod":"ping","params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META},"params":{META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{META,META}}"#, Refused(-32600, Id::Seven)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#, Refused(-32600, Id::Seven)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","name":"echo","arguments":{"text":"a"},META}}"#, Repeated),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"arguments":{"text":"a"},META}}"#, Repeated),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","text":"b"},META}}"#, Complains),
    ])
    .await;
}

// hardening: H-109, H-110, H-111, H-112, H-126, H-135
#[tokio::test]
async fn a_request_that_cannot_be_served_is_answered_with_its_id() {
    play(vec![
        list(br#"{"jsonrpc":"2.0","id":7,"method":"","params":{META}}"#, Disagrees(-32601)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["echo"]}"#, Refused(-32602, Id::Seven)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"echo"}"#, Refused(-32602, Id::Seven)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}"#, Error(-32602, 400)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7,"arguments":{"text":"a"},META}}"#, Disagrees(-32602)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":["a"],META}}"#, Error(-32602, 200)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":"a",META}}"#, Error(-32602, 200)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":7},META}}"#, Complains),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"},META}}"#, Complains),
        about("notifications/initialized", None, br#"{"jsonrpc":"2.0","id":7,"method":"notifications/initialized","params":{META}}"#, Error(-32601, 404)),
        about("tools/drop", None, br#"{"jsonrpc":"2.0","id":7,"method":"tools/drop","params":{META}}"#, Error(-32601, 404)),
        about("tools/call", Some("__proto__"), br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"__proto__","arguments":{},META}}"#, Error(-32602, 200)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"garbage",META}}"#, Error(-32602, 200)),
        list(br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":7,META}}"#, Error(-32602, 200)),
        about("resources/read", Some("wire://none"), br#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"wire://none",META}}"#, Missing),
        about("resources/read", Some("no uri"), br#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"no uri",META}}"#, Missing),
    ])
    .await;
}

// hardening: H-107, H-108, H-133
#[tokio::test]
async fn a_response_or_a_notification_gets_no_answer() {
    play(vec![
        list(br#"{"jsonrpc":"2.0","id":12345,"result":{}}"#, Silent(400)),
        list(br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#, Silent(400)),
        list(br#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Silent(400)),
        about("notifications/unknown", None, br#"{"jsonrpc":"2.0","method":"notifications/unknown","params":{META}}"#, Silent(202)),
        about("notifications/cancelled", None, br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,META}}"#, Silent(202)),
        about("tools/call", Some("echo"), br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},META}}"#, Silent(202)),
    ])
    .await;
}

// hardening: H-99, H-101, H-102
#[tokio::test]
async fn an_ordinary_message_with_unknown_members_is_served() {
    play(vec![
        list(br#"{"jsonrpc":"2.0","id":7,"m\u0065thod":"tools/list","params":{META}}"#, Served(0)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","Name":"x","arguments":{"text":"a"},META}}"#, Served(1)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","x":1e999999},META}}"#, Served(1)),
        call(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},META}}"#, Served(1)),
        call(br#"{"jsonrpc":"2.0","id":7,"y":{},"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"z":[1],META}}"#, Served(1)),
        list(br#"{"jsonrpc":"2.0","id":7.0,"method":"tools/list","params":{META}}"#, Served(0)),
    ])
    .await;
}

// hardening: H-104, H-113
#[tokio::test]
async fn a_message_nests_to_its_depth_and_no_deeper() {
    play(vec![
        // 128 levels are read; the result is not a text.
        nested(125, Complains),
        nested(126, Refused(-32600, Id::Seven)),
        nested(5_000, Refused(-32600, Id::Seven)),
        nested(100_000, Refused(-32600, Id::Seven)),
    ])
    .await;
}

/// A call with this number of values in an unknown argument.
fn wide(values: usize, want: Want) -> Row {
    let items = "0,".repeat(values - 1);
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"a","x":[{items}0]}},META}}}}"#
    );
    call(text.as_bytes(), want)
}

// hardening: H-202
#[tokio::test]
async fn a_message_has_its_values_and_no_more() {
    let data = "0,".repeat(300_000);
    let error = format!(
        r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":1,"message":"m","data":[{data}0]}}}}"#
    );
    play(vec![
        // A few more values surround them.
        wide(99_980, Served(1)),
        wide(100_000, Refused(-32600, Id::Seven)),
        wide(1_000_000, Refused(-32600, Id::Seven)),
        about("", None, error.as_bytes(), Silent(400)),
    ])
    .await;
}

/// Sends every row over both transports, and checks that it has no other effect.
async fn play(rows: Vec<Row>) {
    for era in [Era::Legacy, Era::Modern] {
        let mut lines = Lines::connect(era).await;
        let posts = Posts::connect(era).await;
        for row in &rows {
            let text = era.fill(&row.text);
            let said = String::from_utf8_lossy(&text[..text.len().min(300)]).into_owned();
            let before = lines.server.runs.count();
            let came = lines.send(&text).await;
            let runs = lines.server.runs.count() - before;
            row.judge(&came, runs, era, &format!("{era:?}, lines: {said}"));

            let headers = posts.headers(row.method, row.name);
            let before = posts.server.runs.count();
            let came = posts.post(&headers, &text).await;
            let runs = posts.server.runs.count() - before;
            assert_eq!(
                came.status,
                row.status(era),
                "{era:?}, HTTP: {said} {came:?}"
            );
            row.judge(&came, runs, era, &format!("{era:?}, HTTP: {said}"));
        }
        posts.assert_served("all of it").await;
    }
}

impl Row {
    /// The expected status over HTTP.
    fn status(&self, era: Era) -> u16 {
        match (self.want, era) {
            (Refused(..) | Repeated, _) => 400,
            (Error(_, status) | Silent(status), Era::Modern) => status,
            (Disagrees(_), Era::Modern) => 400,
            (Silent(_), Era::Legacy) => 202,
            _ => 200,
        }
    }

    fn judge(&self, came: &Came, runs: usize, era: Era, said: &str) {
        let (code, id, expected_runs) = match self.want {
            Refused(code, id) => (Some(code), id, 0),
            Repeated if came.status == 0 => (Some(-32602), Id::Seven, 0),
            Repeated => (Some(-32600), Id::Seven, 0),
            Missing if era == Era::Legacy => (Some(-32002), Id::Seven, 0),
            Missing => (Some(-32602), Id::Seven, 0),
            Error(code, _) => (Some(code), Id::Seven, 0),
            Disagrees(_) if era == Era::Modern && came.status != 0 => (Some(-32020), Id::Seven, 0),
            Disagrees(code) => (Some(code), Id::Seven, 0),
            Complains => (None, Id::Seven, 0),
            Served(runs) => (None, Id::Seven, runs),
            Silent(400) if came.status == 400 => (Some(-32600), Id::None, 0),
            Silent(_) => {
                assert_eq!((&came.message, runs), (&Value::Null, 0), "{said}");
                return;
            }
        };
        assert_eq!(
            (came.code(), runs),
            (code, expected_runs),
            "{said} {came:?}"
        );
        let fails = came.message["result"]["isError"] == json!(true);
        assert_eq!(fails, matches!(self.want, Complains), "{said} {came:?}");
        match id {
            Id::Seven => assert_eq!(came.message["id"], json!(7), "{said} {came:?}"),
            Id::None => assert_eq!(came.message.get("id"), None, "{said} {came:?}"),
            Id::Any => {}
        }
    }
}
