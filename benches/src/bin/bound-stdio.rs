//! The least that the protocol asks of the measured rows on standard streams. It answers everything that one read brought,
//! then writes once, without a runtime. It has no limits, cancellation or other methods, and ends at an invalid message.
use std::borrow::Cow;
use std::io::{Read, Write};

use serde::Deserialize;
use serde_json::{json, value::RawValue};

type Error = Box<dyn std::error::Error>;
const MODERN: &str = "2026-07-28";
const OPENED: &str = r#""protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bound","version":"0.1.0"}}}"#;
const STAMPS: &str = r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bound","version":"0.1.0"}},"#;

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
#[derive(Deserialize)]
struct Message<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Text<'a>,
    #[serde(borrow, default)]
    params: Params<'a>,
}
#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta", default)]
    meta: Meta<'a>,
}
#[derive(Deserialize, Default)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<Text<'a>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}
#[derive(Deserialize)]
struct Arguments {
    text: String,
}
/// A server, and whether its client has shaken hands.
struct Server {
    tools: String,
    is_open: bool,
}
impl Server {
    /// Adds the response to the message of a line, if it is a request.
    fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let message: Message<'_> = serde_json::from_slice(line)?;
        let (Some(id), params) = (message.id, &message.params) else {
            return Ok(());
        };
        let id = id.get();
        let (revision, terms) = (params.meta.revision.as_ref(), params.meta.capabilities);
        let is_modern = revision.is_some_and(|revision| revision.0 == MODERN)
            && terms.is_some_and(|terms| terms.get().starts_with('{'));
        let is_id = id.starts_with('"') || id.parse::<i64>().is_ok();
        let is_opening = message.method.0 == "initialize";
        if message.jsonrpc != "2.0" || !is_id || !(is_modern || is_opening || self.is_open) {
            return Err("an invalid message".into());
        }
        let stamps = if is_modern { STAMPS } else { "" };
        put(
            out,
            &["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":{", stamps],
        );
        match (
            &*message.method.0,
            params.name.as_ref().map(|name| &*name.0),
        ) {
            ("initialize", _) => {
                self.is_open = true;
                put(out, &[OPENED]);
            }
            ("tools/list", _) => put(out, &[&self.tools]),
            ("tools/call", Some("echo")) => {
                let arguments = params.arguments.ok_or("no arguments")?;
                let arguments: Arguments = serde_json::from_str(arguments.get())?;
                put(out, &[r#""content":[{"type":"text","text":"#]);
                serde_json::to_writer(&mut *out, &arguments.text)?;
                put(out, &["}]}}"]);
            }
            _ => return Err("another method".into()),
        }
        out.push(b'\n');
        Ok(())
    }
}
fn put(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

fn main() -> Result<(), Error> {
    let text = "x".repeat(262);
    let schema = json!({"type": "object", "properties": {"key": {}, "limit": {}, "verbose": {}}});
    let tool = |at| json!({"name": format!("tool_{at:03}"), "title": text, "inputSchema": schema});
    let tools: Vec<_> = (0..100).map(tool).collect();
    let list = json!({"ttlMs": 0, "cacheScope": "public", "tools": tools}).to_string() + "}";
    let (tools, is_open) = (list.get(1..).unwrap_or_default().to_owned(), false);
    let mut server = Server { tools, is_open };
    let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut input, mut out, mut used) = (vec![0; 64 << 10], Vec::new(), 0);
    loop {
        if used == input.len() {
            input.resize(2 * used, 0);
        }
        used += match stdin.read(&mut input[used..])? {
            0 => return Ok(()),
            read => read,
        };
        let end = input[..used].iter().rposition(|byte| *byte == b'\n');
        let Some(end) = end else { continue };
        for line in input[..end].split(|byte| *byte == b'\n') {
            server.answer(line, &mut out)?;
        }
        input.copy_within(end + 1..used, 0);
        used -= end + 1;
        stdout.write_all(&out)?;
        stdout.flush()?;
        out.clear();
    }
}
