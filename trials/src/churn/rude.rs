//! Peers that speak HTTP up to a point, and break off there.

use std::io;
use std::time::Duration;

use pintle_testkit::Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::{Places, Tally};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"rude","version":"1"}}}"#;
const SLOW: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"text":"t","millis":60000},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"rude","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const SLOW_HEAD: &str =
    "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: slow\r\n";

/// Connects over HTTP, sends something, and breaks off: in the middle, without reading the answer,
/// or without using the new session.
pub async fn be_rude(places: &Places, rng: &mut Rng, tally: &Tally) {
    // A server that has closed such a connection first is within its rights; one that is gone is not.
    if let Err(error) = break_off(places, rng).await
        && error.kind() == io::ErrorKind::ConnectionRefused
    {
        tally.fault("the server is gone");
    }
    tally.broke_off();
}

async fn break_off(places: &Places, rng: &mut Rng) -> io::Result<()> {
    let mut stream = TcpStream::connect(places.http).await?;
    let whole = match rng.below(3) {
        0 => post("", INITIALIZE),
        1 => post(SLOW_HEAD, SLOW),
        _ => "\u{16}\u{3}\u{1} no HTTP at all\r\n\r\n".to_owned(),
    };
    let end = match rng.once_in(2) {
        true => whole.len(),
        false => rng.below(whole.len()),
    };
    stream.write_all(&whole.as_bytes()[..end]).await?;
    let pause = rng.up_to(Duration::from_millis(50));
    match rng.below(3) {
        0 => {}
        1 => sleep(pause).await,
        _ => {
            let mut some = [0; 64];
            // The answer, if any, is ignored.
            let _ = timeout(pause, stream.read(&mut some)).await;
        }
    }
    Ok(())
}

fn post(head: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: \
         application/json, text/event-stream\r\n{head}content-length: {length}\r\n\r\n{body}"
    )
}
