use pintle::model::{
    ContentBlock, Prompt, PromptMessage, Resource, ResourceContents, ResourceTemplate, Task, Tool,
};
use serde_json::{Value, json};

use super::*;
use crate::screen::{Graphics, Look};

const TERMINAL: Look = Look {
    is_terminal: true,
    has_color: false,
    columns: 60,
};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the model reads it")
}

fn everything() -> Offers {
    let tools: Vec<Tool> = read(json!([
        { "name": "add", "title": "Plus", "description": "Adds two numbers, whatever they are, and says what the sum of them is.\n\nMore about it.",
            "annotations": { "readOnlyHint": true, "idempotentHint": true },
            "inputSchema": { "type": "object", "required": ["a", "mode"], "properties": {
                "a": { "type": "integer" }, "b": { "type": ["string", "null"] },
                "mode": { "enum": ["fast", "slow"] }, "tags": { "type": "array", "items": { "type": "string" } }, "x": {} } } },
        { "name": "\u{1b}[2Jwipe", "annotations": { "destructiveHint": true }, "inputSchema": { "type": "object" } },
    ]));
    let resources: Vec<Resource> =
        read(json!([{ "uri": "file:///a", "name": "a", "mimeType": "text/plain", "size": 5 }]));
    let templates: Vec<ResourceTemplate> = read(
        json!([{ "uriTemplate": "file:///{path}", "name": "files", "description": "All of them." }]),
    );
    let prompts: Vec<Prompt> = read(
        json!([{ "name": "greet", "arguments": [{ "name": "who", "required": true }, { "name": "how" }] }]),
    );
    Offers {
        tools: Some(tools),
        resources: Some(resources),
        resource_templates: Some(templates),
        prompts: Some(prompts),
    }
}

#[test]
fn offers_are_listed_with_their_arguments() {
    let expected = "\
Tools  2
  add  Plus  (read-only, idempotent)
      Adds two numbers, whatever they are, and says what the
      sum of them is.
      a=INTEGER [b=STRING|NULL] mode=fast|slow
      [tags=LIST:STRING] [x=ANY]
  \\u{1b}[2Jwipe  (destructive)

Resources  1
  file:///a  a  (text/plain, 5 bytes)

Resource templates  1
  file:///{path}  files
      All of them.

Prompts  1
  greet
      who=TEXT [how=TEXT]
";
    assert_eq!(offers(&everything(), TERMINAL), expected);
}

#[test]
fn only_requested_lists_are_shown() {
    let some = Offers {
        tools: Some(Vec::new()),
        ..Offers::default()
    };
    assert_eq!(offers(&some, TERMINAL), "Tools  0\n");
    assert_eq!(json!(some), json!({ "tools": [] }));
}

#[test]
fn the_page_of_a_server_has_its_identity_and_capabilities() {
    let identity = read(
        json!({ "name": "calc", "title": "Calculator", "version": "1.2\u{7}", "description": "Counts.", "websiteUrl": "https://calc.example" }),
    );
    let capabilities = read(
        json!({ "tools": { "listChanged": true }, "logging": {}, "resources": { "subscribe": false } }),
    );
    let supported = ["2026-07-28".to_owned(), "2025-11-25".to_owned()];
    let described = Server {
        identity: Some(&identity),
        capabilities: &capabilities,
        instructions: Some("Be brief."),
        revision: "2026-07-28".to_owned(),
        supported: &supported,
        era: "modern",
    };
    let expected = "\
Calculator  1.2\\u{7}
  revision  2026-07-28 (modern)
  speaks    2026-07-28, 2025-11-25
  name      calc
  about     Counts.
  home      https://calc.example
  can       tools (listChanged), resources, logging

Instructions
  Be brief.

Prompts  0
";
    let offered = Offers {
        prompts: Some(Vec::new()),
        ..Offers::default()
    };
    assert_eq!(server(&described, &offered, TERMINAL), expected);
    assert_eq!(described.json(&offered)["server"]["name"], "calc");
}

fn text(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Media(media) => format!("{}\n", media.caption("here")),
    });
    texts.collect()
}

#[test]
fn every_kind_of_content_is_shown() {
    let all: Vec<ContentBlock> = read(json!([
        { "type": "text", "text": "one\u{1b}[2J\ntwo" },
        { "type": "image", "data": "AQID", "mimeType": "image/png" },
        { "type": "audio", "data": "%%%", "mimeType": "audio/wav\u{1b}" },
        { "type": "resource_link", "uri": "file:///a\n", "name": "a", "title": "A", "mimeType": "text/plain" },
        { "type": "resource", "resource": { "uri": "file:///a", "text": "inside" } },
        { "type": "resource", "resource": { "uri": "file:///b", "blob": "AQ==" } },
        { "type": "hologram", "depth": 3 },
    ]));
    let expected = "\
one\\u{1b}[2J
two
[image, image/png, 3 bytes: here]
[audio, audio/wav\\u{1b}: not base64]
A  file:///a  text/plain
inside
[resource, application/octet-stream, 1 bytes: here]
{
  \"type\": \"hologram\",
  \"depth\": 3
}
";
    assert_eq!(text(&blocks(&all, TERMINAL)), expected);
}

#[test]
fn a_file_gets_text_as_it_is() {
    let contents = [ResourceContents::text("file:///a", "one\u{1b}[2J\r\n")];
    assert_eq!(
        text(&super::contents(&contents, Look::PLAIN)),
        "one\u{1b}[2J\r\n"
    );
}

#[test]
fn messages_are_shown_below_their_roles() {
    let all = [PromptMessage::user("hi"), PromptMessage::assistant("ho")];
    assert_eq!(
        text(&messages(&all, TERMINAL)),
        "user\nhi\n\nassistant\nho\n"
    );
    let odd: PromptMessage =
        read(json!({ "role": "narrator\u{1b}", "content": { "type": "text", "text": "x" } }));
    assert_eq!(text(&messages(&[odd], TERMINAL)), "narrator\\u{1b}\nx\n");
}

fn picture(bytes: &[u8], mime: &str) -> Media {
    Media {
        kind: "image",
        mime: mime.to_owned(),
        bytes: bytes.to_vec(),
    }
}

#[test]
fn pictures_are_drawn_by_terminals_that_can() {
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 4000]].concat();
    let media = picture(&png, "image/png");
    let kitty = drawn(&media, Graphics::Kitty).expect("kitty takes PNG");
    assert!(
        kitty.starts_with("\u{1b}_Ga=T,f=100,m=1;iVBOR"),
        "{kitty:.40}"
    );
    assert!(kitty.ends_with("\u{1b}\\\n") && kitty.contains("\u{1b}\\\u{1b}_Gm=0;"));
    let iterm = drawn(&media, Graphics::Iterm).expect("iTerm2 takes PNG");
    assert!(iterm.starts_with("\u{1b}]1337;File=inline=1;size=4008:iVBOR"));

    let jpeg = picture(b"\xff\xd8\xff\xe0", "image/jpeg");
    assert_eq!(drawn(&jpeg, Graphics::Kitty), None);
    assert!(drawn(&jpeg, Graphics::Iterm).is_some());
    let lie = picture(b"\x1b]0;x\x07", "image/png");
    assert_eq!(drawn(&lie, Graphics::Kitty), None);
    assert_eq!(drawn(&lie, Graphics::Iterm), None);
}

#[test]
fn file_names_cannot_name_another_directory() {
    let png = picture(&[], "image/png");
    assert_eq!(file_name("tide_curve", 1, &png), "tide_curve-1.png");
    assert_eq!(file_name("../../etc/passwd\0", 2, &png), "etcpasswd-2.png");
    assert_eq!(
        file_name("", 3, &picture(&[], "text/x; a=../b")),
        "pintle-3.bin"
    );
    assert_eq!(
        file_name(&"a".repeat(99), 1, &png).len(),
        40 + "-1.png".len()
    );
}

#[test]
fn tasks_are_listed_with_how_far_they_are() {
    let all: Vec<Task> = read(json!([
        { "taskId": "a", "status": "working", "statusMessage": "half\ndone", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null },
        { "taskId": "bcd", "status": "paused", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null },
    ]));
    assert_eq!(
        tasks(&all, TERMINAL),
        "a    working: half done\nbcd  paused\n"
    );
}

#[test]
fn a_long_description_is_cut() {
    let long = "x".repeat(1024 * 1024);
    let tools = json!([{ "name": "a", "description": long, "inputSchema": { "type": "object" } }]);
    let offered = Offers {
        tools: Some(read(tools)),
        ..Offers::default()
    };
    let page = offers(&offered, TERMINAL);
    assert!(page.len() < 6 * 1024, "{}", page.len());
    assert!(page.contains("more bytes"), "{page}");
}

#[test]
fn long_instructions_are_cut() {
    let described = Server {
        identity: None,
        capabilities: &read(json!({})),
        instructions: Some(&"x".repeat(1024 * 1024)),
        revision: "2026-07-28".to_owned(),
        supported: &[],
        era: "modern",
    };
    let page = server(&described, &Offers::default(), TERMINAL);
    assert!(page.len() < 24 * 1024, "{}", page.len());
    assert!(page.contains("more bytes"), "{page}");
}
