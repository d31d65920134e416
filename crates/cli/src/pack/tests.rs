use std::fs;
use std::io::{Cursor, Read as _};
use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// A project in a directory that is removed afterwards.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let name = format!("pintle-pack-{name}-{}", std::process::id());
        let directory = Self(std::env::temp_dir().join(name));
        for (file, text) in files {
            let file = directory.0.join(file);
            fs::create_dir_all(file.parent().expect("in the directory")).expect("made");
            fs::write(file, text).expect("written");
        }
        directory
    }

    fn facts(&self, reported: &str, options: &PackOptions) -> Result<Facts, PackError> {
        let offered = Offered {
            version: Some(reported.to_owned()),
            title: Some("Weather".to_owned()),
            tools: vec![("forecast".to_owned(), Some("Forecasts".to_owned()))],
            prompts: Vec::new(),
        };
        Facts::new(Project::read(&self.0)?, offered, options)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const CARGO: &str = r#"
[package]
name = "weather"
version = "1.2.3"
description = "Forecasts of the weather"
authors = ["Ann Example <ann@a.example>"]
license = "MIT"
repository = "https://github.com/ann/weather-mcp.git"
keywords = ["weather"]
"#;

fn options() -> PackOptions {
    PackOptions {
        settings: vec!["API_KEY".to_owned(), "CITY".to_owned()],
        arguments: vec!["--stdio".to_owned()],
        ..PackOptions::default()
    }
}

fn server_json(package: &Package) -> Value {
    serde_json::from_slice(&package.files["server.json"]).expect("JSON")
}

fn entries(archive: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).expect("an archive");
    let positions = 0..archive.len();
    let entries = positions.map(|position| {
        let mut entry = archive.by_index(position).expect("an entry");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("read");
        assert_eq!(entry.last_modified(), Some(zip::DateTime::DEFAULT));
        (
            entry.name().expect("text").into_owned(),
            entry.unix_mode().unwrap_or_default(),
            bytes,
        )
    });
    entries.collect()
}

#[test]
fn a_bundle_has_a_manifest_and_the_program() {
    let directory = Directory::new("bundle", &[("Cargo.toml", CARGO), ("program", "bytes")]);
    let program = directory.0.join("program");
    let options = PackOptions {
        binaries: vec![
            ("x86_64-unknown-linux-musl".to_owned(), program.clone()),
            ("x86_64-pc-windows-msvc".to_owned(), program),
        ],
        ..options()
    };
    let facts = directory.facts("1.2.3", &options).expect("they agree");
    let package = Package::new(&facts, &options).expect("packed");
    let name = "weather-1.2.3-x86_64-unknown-linux-musl.mcpb";
    let entries = entries(&package.files[name]);
    assert_eq!(entries.len(), 2);
    assert_eq!(
        (entries[0].0.as_str(), entries[0].1 & 0o777),
        ("manifest.json", 0o644)
    );
    let program = ("server/weather", 0o755, b"bytes".as_slice());
    assert_eq!(
        (
            entries[1].0.as_str(),
            entries[1].1 & 0o777,
            entries[1].2.as_slice()
        ),
        program
    );
    let manifest: Value = serde_json::from_slice(&entries[0].2).expect("JSON");
    assert_eq!(
        manifest,
        json!({
            "manifest_version": "0.3",
            "name": "weather",
            "version": "1.2.3",
            "description": "Forecasts of the weather",
            "author": { "name": "Ann Example", "email": "ann@a.example" },
            "server": {
                "type": "binary",
                "entry_point": "server/weather",
                "mcp_config": {
                    "command": "${__dirname}/server/weather",
                    "args": ["--stdio"],
                    "env": { "API_KEY": "${user_config.api_key}", "CITY": "${user_config.city}" },
                },
            },
            "compatibility": { "platforms": ["linux"] },
            "display_name": "Weather",
            "repository": { "type": "git", "url": "https://github.com/ann/weather-mcp" },
            "license": "MIT",
            "keywords": ["weather"],
            "tools": [{ "name": "forecast", "description": "Forecasts" }],
            "user_config": {
                "api_key": { "type": "string", "title": "API_KEY", "description": "The variable API_KEY of the server",
                    "sensitive": true, "required": true },
                "city": { "type": "string", "title": "CITY", "description": "The variable CITY of the server",
                    "sensitive": false, "required": true },
            },
        })
    );

    let server = server_json(&package);
    assert_eq!(
        (&server["name"], &server["version"]),
        (&json!("io.github.ann/weather-mcp"), &json!("1.2.3"))
    );
    let packages = server["packages"].as_array().expect("a list");
    assert_eq!(packages.len(), 2);
    assert_eq!(
        packages[1],
        json!({
            "registryType": "mcpb",
            "identifier": format!("https://github.com/ann/weather-mcp/releases/download/v1.2.3/{name}"),
            "version": "1.2.3",
            "fileSha256": sha256(&package.files[name]),
            "transport": { "type": "stdio" },
            "environmentVariables": [
                { "name": "API_KEY", "isRequired": true, "isSecret": true },
                { "name": "CITY", "isRequired": true, "isSecret": false },
            ],
        })
    );
    let windows = &package.files["weather-1.2.3-x86_64-pc-windows-msvc.mcpb"];
    assert_eq!(self::entries(windows)[1].0, "server/weather.exe");
    // A second package has the same bytes.
    assert_eq!(
        Package::new(&facts, &options).expect("packed").files,
        package.files
    );
}

#[test]
fn versions_that_differ_are_listed_with_their_places() {
    let server = r#"{"name": "io.github.ann/weather-mcp", "version": "1.2.2",
        "packages": [{"registryType": "npm", "identifier": "w", "version": "1.2.1"}]}"#;
    let files = [
        ("Cargo.toml", CARGO),
        ("package.json", r#"{"version": "1.2.3"}"#),
        ("server.json", server),
    ];
    let directory = Directory::new("drift", &files);
    let error = directory
        .facts("1.2.4", &options())
        .expect_err("they differ");
    assert_eq!(
        error.to_string(),
        "the versions differ: Cargo.toml has 1.2.3, package.json has 1.2.3, server.json has 1.2.2, \
         npm in server.json has 1.2.1, the running server has 1.2.4"
    );
    let directory = Directory::new("same", &files[..2]);
    assert!(directory.facts("1.2.3", &options()).is_ok());
    assert!(matches!(
        directory.facts("1.2.4", &options()),
        Err(PackError::Drift(_))
    ));
}

#[test]
fn a_cargo_package_inherits_from_its_workspace() {
    let member = "[package]\nname = \"weather\"\nversion.workspace = true\ndescription = \"d\"\nauthors = { workspace = true }\n";
    let root = "[workspace]\nmembers = [\"a\"]\n[workspace.package]\nversion = \"2.0.0\"\nauthors = [\"Ann\"]\n";
    let directory = Directory::new("inherit", &[("Cargo.toml", root), ("a/Cargo.toml", member)]);
    let project = Project::read(&directory.0.join("a")).expect("read");
    assert_eq!(project.versions[0].version, "2.0.0");
    assert_eq!(project.author.as_deref(), Some("Ann"));
    // A workspace without a package is not a server.
    assert!(matches!(
        Project::read(&directory.0),
        Err(PackError::NoProject(_))
    ));
}

#[test]
fn packages_of_npm_and_python_name_their_registries() {
    let npm = r#"{"name": "@ann/weather", "version": "1.0.0", "description": "d", "author": {"name": "Ann"},
        "mcpName": "io.github.ann/weather", "repository": {"url": "git+https://github.com/ann/weather.git"}}"#;
    let python = "[project]\nname = \"weather\"\nversion = \"1.0.0\"\ndescription = \"d\"\n\
                  [project.urls]\nRepository = \"https://gitlab.com/ann/weather\"\n";
    for (name, file, text, package) in [
        (
            "npm",
            "package.json",
            npm,
            json!({ "registryType": "npm", "identifier": "@ann/weather",
            "version": "1.0.0", "runtimeHint": "npx", "transport": { "type": "stdio" } }),
        ),
        (
            "pypi",
            "pyproject.toml",
            python,
            json!({ "registryType": "pypi", "identifier": "weather",
            "version": "1.0.0", "runtimeHint": "uvx", "transport": { "type": "stdio" } }),
        ),
    ] {
        let directory = Directory::new(name, &[(file, text)]);
        let options = PackOptions {
            name: Some("io.github.ann/weather".to_owned()),
            remotes: vec!["https://a.example/mcp".to_owned()],
            ..PackOptions::default()
        };
        let facts = directory.facts("1.0.0", &options).expect("they agree");
        let server = server_json(&Package::new(&facts, &options).expect("packed"));
        assert_eq!(server["packages"], json!([package]));
        assert_eq!(
            server["remotes"],
            json!([{ "type": "streamable-http", "url": "https://a.example/mcp" }])
        );
    }
}

#[test]
fn a_hosted_server_has_a_card() {
    let stored = r#"{"name": "com.a/weather", "websiteUrl": "https://a.example", "_meta": {"x": 1},
        "packages": [{"registryType": "oci", "identifier": "a/w:1.2.3", "transport": {"type": "stdio"}}]}"#;
    let directory = Directory::new("card", &[("Cargo.toml", CARGO), ("server.json", stored)]);
    let mut options = options();
    options.remotes = vec!["https://a.example/mcp".to_owned()];
    let facts = directory.facts("1.2.3", &options).expect("they agree");
    let package = Package::new(&facts, &options).expect("packed");
    let card: Value = serde_json::from_slice(&package.files["server-card.json"]).expect("JSON");
    let server = server_json(&package);
    let expected = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": "com.a/weather", "version": "1.2.3", "description": server["description"],
        "title": "Weather", "websiteUrl": "https://a.example", "repository": server["repository"],
        "remotes": [{ "type": "streamable-http", "url": "https://a.example/mcp" }],
    });
    assert_eq!(card, expected);
    options.remotes.clear();
    let package = Package::new(&facts, &options).expect("packed");
    assert!(!package.files.contains_key("server-card.json"));
}

#[test]
fn members_of_a_stored_server_json_stay() {
    let stored = r#"{"name": "com.a/weather", "description": "kept", "version": "1.2.3", "title": "Weather",
        "packages": [{"registryType": "oci", "identifier": "a/w:1.2.3", "transport": {"type": "stdio"}},
            {"registryType": "mcpb", "identifier": "old"}], "_meta": {"x": 1}}"#;
    let directory = Directory::new("stored", &[("Cargo.toml", CARGO), ("server.json", stored)]);
    let facts = directory.facts("1.2.3", &options()).expect("they agree");
    let server = server_json(&Package::new(&facts, &options()).expect("packed"));
    assert_eq!(
        (&server["title"], &server["_meta"]),
        (&json!("Weather"), &json!({ "x": 1 }))
    );
    assert_eq!(
        (&server["name"], &server["description"]),
        (&json!("com.a/weather"), &json!("kept"))
    );
    let kinds: Vec<_> = server["packages"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|package| &package["registryType"])
        .collect();
    assert_eq!(kinds, ["oci"]);
    let other = PackOptions {
        name: Some("com.b/weather".to_owned()),
        ..options()
    };
    let error = directory
        .facts("1.2.3", &other)
        .expect_err("the names differ");
    assert!(matches!(error, PackError::NameDrift { .. }), "{error}");
}

#[test]
fn values_that_registries_reject_are_rejected_before() {
    let directory = Directory::new("rejected", &[("Cargo.toml", CARGO)]);
    let with = |change: fn(&mut PackOptions)| {
        let mut options = options();
        change(&mut options);
        let facts = directory.facts("1.2.3", &options);
        facts
            .and_then(|facts| Package::new(&facts, &options))
            .map(|_| ())
    };
    for (change, part) in [
        (
            (|options| options.name = Some("weather".to_owned())) as fn(&mut PackOptions),
            "io.github.USER",
        ),
        (
            |options| options.name = Some("a b/c".to_owned()),
            "io.github.USER",
        ),
        (
            |options| options.name = Some(format!("a/{}", "x".repeat(199))),
            "io.github.USER",
        ),
        (
            |options| options.description = Some("x".repeat(101)),
            "101 characters",
        ),
        (
            |options| options.description = Some(String::new()),
            "0 characters",
        ),
        (
            |options| options.binaries = vec![("linux".to_owned(), PathBuf::new())],
            "not a target",
        ),
        (
            |options| options.binaries = vec![("a-linux-../x".to_owned(), PathBuf::new())],
            "not a target",
        ),
        (
            |options| {
                options.binaries = vec![("aarch64-apple-darwin".to_owned(), "/nothing/here".into())]
            },
            "cannot read",
        ),
        (
            |options| options.binaries = vec![("aarch64-apple-darwin".to_owned(), "/".into())],
            "cannot read",
        ),
    ] {
        let error = with(change).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(with(|options| options.description = Some("x".repeat(100))).is_ok());
}

#[test]
fn missing_values_name_the_option_that_sets_them() {
    let bare = "[package]\nname = \"weather\"\nversion = \"1.0.0\"\n";
    let directory = Directory::new("missing", &[("Cargo.toml", bare), ("program", "bytes")]);
    let mut options = PackOptions {
        binaries: vec![(
            "x86_64-unknown-linux-gnu".to_owned(),
            directory.0.join("program"),
        )],
        ..PackOptions::default()
    };
    let text = |value: &str| Some(value.to_owned());
    let made = |options: &PackOptions| {
        let facts = directory.facts("1.0.0", options)?;
        Package::new(&facts, options)
    };
    let missing = |options: &PackOptions| {
        made(options)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(missing(&options).contains("--name"));
    options.name = text("io.github.ann/weather");
    assert!(missing(&options).contains("--description"));
    options.description = text("d");
    assert!(missing(&options).contains("--author"));
    options.author = text("Ann");
    assert!(missing(&options).contains("--download"));
    options.download = text("https://a.example/files/");
    let server = server_json(&made(&options).expect("packed"));
    let url = "https://a.example/files/weather-1.0.0-x86_64-unknown-linux-gnu.mcpb";
    assert_eq!(server["packages"][0]["identifier"], url);
}

#[test]
fn prompts_without_a_fixed_text_are_generated() {
    let directory = Directory::new("prompts", &[("Cargo.toml", CARGO)]);
    let mut facts = directory.facts("1.2.3", &options()).expect("they agree");
    let prompt = |name: &str, text: Option<&str>| OfferedPrompt {
        name: name.to_owned(),
        description: None,
        arguments: vec!["city".to_owned()],
        text: text.map(str::to_owned),
    };
    let target = target::Target::parse("aarch64-apple-darwin").expect("a target");
    facts.offered.prompts = vec![prompt("a", Some("In ${arguments.city}"))];
    let manifest = manifest::manifest(&facts, &options(), &target).expect("made");
    let fixed = json!([{ "name": "a", "text": "In ${arguments.city}", "arguments": ["city"] }]);
    assert_eq!(
        (&manifest["prompts"], &manifest["prompts_generated"]),
        (&fixed, &Value::Null)
    );
    facts.offered.prompts.push(prompt("b", None));
    let manifest = manifest::manifest(&facts, &options(), &target).expect("made");
    assert_eq!(
        (&manifest["prompts"], &manifest["prompts_generated"]),
        (&fixed, &json!(true))
    );
}

#[test]
fn files_of_the_project_are_bounded_and_checked() {
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(1024 * 1024));
    for (name, text, part) in [
        ("large", large.as_str(), "cannot read"),
        ("broken", "{", "package.json: "),
    ] {
        let directory = Directory::new(name, &[("package.json", text)]);
        let error = Project::read(&directory.0).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = Project::read(Path::new("/nothing/here")).expect_err("no project");
    assert!(matches!(error, PackError::NoProject(_)), "{error}");
}
