//! Packages of a user's server.

use std::fs;
use std::io::{Cursor, Read as _};

use serde_json::{Value, json};

use crate::talk::home::Home;
use crate::talk::program::Pintle;

/// Returns the home directory with the project of a server that is the showcase.
fn project(version: &str) -> Home {
    let home = Home::new();
    let file = format!(
        "[package]\nname = \"weather\"\nversion = \"{version}\"\ndescription = \"Forecasts\"\n\
         authors = [\"Ann\"]\nrepository = \"https://github.com/ann/weather\"\n"
    );
    fs::write(home.path().join("Cargo.toml"), file).expect("written");
    fs::write(home.path().join("program"), "bytes").expect("written");
    home
}

fn pack(home: &Home, options: &str) -> Pintle {
    let program = env!("CARGO_BIN_EXE_pintle");
    let pack = home.pintle("pack").words(options).words("--").word(program);
    pack.words("serve --stdio")
}

const BINARY: &str = "--binary x86_64-unknown-linux-musl=program";

#[tokio::test]
async fn a_package_has_the_tools_of_the_running_server() {
    let home = project(env!("CARGO_PKG_VERSION"));
    let data = pack(&home, &format!("{BINARY} --setting API_KEY --json"))
        .json()
        .await;
    let files = data["files"].as_array().expect("a list");
    assert_eq!(files.len(), 2, "{data}");
    let file = home.path().join(files[1]["file"].as_str().expect("text"));
    let bundle = fs::read(file).expect("there");
    assert_eq!(files[1]["bytes"], bundle.len());
    let mut archive = zip::ZipArchive::new(Cursor::new(&bundle)).expect("an archive");
    let mut manifest = String::new();
    let mut entry = archive.by_name("manifest.json").expect("there");
    entry.read_to_string(&mut manifest).expect("text");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let tools = manifest["tools"].as_array().expect("a list");
    let is_there = tools.iter().any(|tool| tool["name"] == "vessels");
    assert!(is_there, "{manifest}");
    // Prompts of the showcase reject placeholders.
    assert_eq!(manifest["prompts_generated"], true, "{manifest}");
    let server = fs::read_to_string(home.path().join("dist/server.json")).expect("there");
    let server: Value = serde_json::from_str(&server).expect("JSON");
    assert_eq!(server["packages"][0]["fileSha256"], files[1]["sha256"]);
    // Neither the server nor the time changes the bytes.
    let again = pack(&home, &format!("{BINARY} --setting API_KEY --json"))
        .json()
        .await;
    assert_eq!(again, data);
}

/// A server with two prompts. It rejects the second one.
const PROMPTS: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
  case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"w","version":"1.0.0"}}';;
    *'"prompts/list"'*) answer='"result":{"prompts":[{"name":"brief","arguments":[{"name":"city"}]},{"name":"odd"}]}';;
    *'"city":"${arguments.city}"'*) answer='"result":{"messages":[{"role":"user","content":{"type":"text","text":"In ${arguments.city}"}}]}';;
    *'"id"'*) answer='"error":{"code":-32602,"message":"no"}';;
    *) continue;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done"#;

#[tokio::test]
async fn a_prompt_in_a_bundle_has_placeholders() {
    let home = project("1.0.0");
    let pack = home.pintle("pack --revision 2025-11-25").words(BINARY);
    let pack = pack.words("-- sh -c").word(PROMPTS);
    pack.prints().await;
    let bundle = "dist/weather-1.0.0-x86_64-unknown-linux-musl.mcpb";
    let bundle = fs::read(home.path().join(bundle)).expect("there");
    let mut archive = zip::ZipArchive::new(Cursor::new(&bundle)).expect("an archive");
    let entry = archive.by_name("manifest.json").expect("there");
    let manifest: Value = serde_json::from_reader(entry).expect("JSON");
    let prompts =
        json!([{ "name": "brief", "text": "In ${arguments.city}", "arguments": ["city"] }]);
    assert_eq!(manifest["prompts"], prompts);
    assert_eq!(manifest["prompts_generated"], true);
}

#[tokio::test]
async fn a_version_that_differs_from_the_running_server_is_an_error() {
    let home = project("9.9.9");
    let error = pack(&home, BINARY).fails(5).await;
    let reported = format!("the running server has {}", env!("CARGO_PKG_VERSION"));
    assert!(
        error.contains("Cargo.toml has 9.9.9") && error.contains(&reported),
        "{error}"
    );
    assert!(!home.path().join("dist").exists());
}

#[tokio::test]
async fn a_check_writes_nothing() {
    let home = project(env!("CARGO_PKG_VERSION"));
    let lines = pack(&home, &format!("{BINARY} --check")).prints().await;
    assert!(
        lines.contains("weather-") && lines.contains("sha256"),
        "{lines}"
    );
    assert!(!home.path().join("dist").exists());
}

#[tokio::test]
async fn options_of_a_package_are_checked() {
    let home = project(env!("CARGO_PKG_VERSION"));
    let error = home.pintle("pack @server").fails(1).await;
    assert!(error.contains("which program is the server?"), "{error}");
    for (options, part) in [
        ("--setting 1A", "the NAME of a variable"),
        ("--remote ftp://a.example", "an http or https URL"),
        ("--binary program", "NAME=VALUE"),
        ("--binary linux=program", "not a target"),
        ("--project nothing", "no Cargo.toml"),
    ] {
        let error = pack(&home, options).fails(1).await;
        assert!(error.contains(part), "{options}: {error}");
    }
}
