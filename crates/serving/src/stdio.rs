//! Standard streams whose first message is read before there is a server.

use std::io;

use pintle::model::ClientCapabilities;
use pintle::runtime::{StandardInput, StandardOutput, standard_streams};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Largest first message that is read ahead. The capabilities of a longer one count as unknown.
const AHEAD_BYTES: usize = 64 << 10;

/// Standard input and output. A server that needs the client's capabilities to start reads them here.
pub struct Stdio {
    input: StandardInput,
    output: StandardOutput,
}

impl Stdio {
    /// Takes standard input and output, as [`standard_streams`].
    ///
    /// # Errors
    ///
    /// Those of the system.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O enabled.
    pub fn take() -> io::Result<Self> {
        let (input, output) = standard_streams()?;
        Ok(Self { input, output })
    }

    /// Waits for the first message of the client, and returns the capabilities that it states. The server
    /// receives the message as well. Returns no capabilities for a message that states none or has more than
    /// 64 KiB, and at the end of input.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub async fn first_client(&mut self) -> io::Result<ClientCapabilities> {
        let read = read_line(&mut self.input).await?;
        let capabilities = capabilities(&read).unwrap_or_default();
        let rest = std::mem::replace(&mut self.input, Box::pin(tokio::io::empty()));
        self.input = Box::pin(io::Cursor::new(read).chain(rest));
        Ok(capabilities)
    }

    pub(crate) fn into_streams(self) -> (StandardInput, StandardOutput) {
        (self.input, self.output)
    }
}

/// Reads until the end of the first line that is not blank, at most [`AHEAD_BYTES`], and the bytes that arrive with it.
async fn read_line(input: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    while first_line(&read).is_none() && read.len() < AHEAD_BYTES {
        let room = AHEAD_BYTES - read.len();
        if input.take(room as u64).read_buf(&mut read).await? == 0 {
            break;
        }
    }
    Ok(read)
}

/// Returns the first line that is not blank, if it is complete.
fn first_line(read: &[u8]) -> Option<&[u8]> {
    let lines = read.split_inclusive(|byte| *byte == b'\n');
    let mut complete = lines.filter(|line| line.ends_with(b"\n"));
    complete.find(|line| !line.trim_ascii().is_empty())
}

#[derive(Deserialize)]
struct First {
    params: Params,
}

/// `initialize` states the capabilities as a member, and a request since 2026-07-28 in `_meta`.
#[derive(Deserialize)]
struct Params {
    capabilities: Option<ClientCapabilities>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<ClientCapabilities>,
}

fn capabilities(read: &[u8]) -> Option<ClientCapabilities> {
    let First { params } = serde_json::from_slice(first_line(read)?).ok()?;
    let in_meta = params.meta.and_then(|meta| meta.capabilities);
    params.capabilities.or(in_meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads ahead of a stream. Returns the capabilities, and all that the server reads.
    async fn ahead(bytes: &'static [u8]) -> (ClientCapabilities, Vec<u8>) {
        let mut stdio = Stdio {
            input: Box::pin(bytes),
            output: Box::pin(tokio::io::sink()),
        };
        let first = stdio.first_client().await.expect("bytes");
        let mut all = Vec::new();
        stdio.input.read_to_end(&mut all).await.expect("bytes");
        (first, all)
    }

    #[tokio::test]
    async fn the_first_message_states_the_capabilities_of_the_client() {
        let messages: [&[u8]; 2] = [
            br#"
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"roots":{}}}}
{"rest":1}
"#,
            br#"{"id":1,"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}
"#,
        ];
        for message in messages {
            let (first, all) = ahead(message).await;
            assert!(first.roots.is_some());
            assert_eq!(all, message);
        }
    }

    #[tokio::test]
    async fn a_message_without_capabilities_reaches_the_server() {
        for message in [&b"not JSON\n"[..], b"{\"params\":{}}\n", b"no end", b""] {
            let (first, all) = ahead(message).await;
            assert_eq!(first, ClientCapabilities::default());
            assert_eq!(all, message);
        }
    }

    #[tokio::test]
    async fn a_message_above_the_limit_is_not_read_ahead() {
        let long: &'static [u8] = vec![b' '; 2 * AHEAD_BYTES].leak();
        let (first, all) = ahead(long).await;
        assert_eq!(first, ClientCapabilities::default());
        assert_eq!(all.len(), long.len());
    }
}
