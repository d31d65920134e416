//! `server.json`, the form in which registries describe servers.

use std::collections::BTreeMap;

use pintle::model::JsonObject;
use serde_json::{Value, json};

use super::error::PackError;
use super::facts::Facts;
use super::project::Kind;
use super::{PackOptions, is_secret, sha256};

/// The schema of the file.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Returns the content of server.json. Members of the project's server.json stay, except those that are computed here.
///
/// # Errors
///
/// [`PackError::Missing`] if bundles have no URL for their download.
pub(super) fn server_json(
    facts: &Facts,
    options: &PackOptions,
    bundles: &BTreeMap<String, Vec<u8>>,
) -> Result<JsonObject, PackError> {
    let mut file = facts.server_json.clone();
    let mut set = |key: &str, value: Value| file.insert(key.to_owned(), value);
    set("$schema", json!(SCHEMA));
    set("name", json!(facts.name));
    set("description", json!(facts.description));
    set("version", json!(facts.version));
    if let Some(url) = &facts.repository
        && let Some(source) = source(url)
    {
        let mut repository = facts.server_json.get("repository").cloned();
        let repository = repository.get_or_insert_with(|| json!({}));
        repository["url"] = json!(url);
        repository["source"] = json!(source);
        set("repository", repository.clone());
    }
    let packages = packages(facts, options, bundles)?;
    if !packages.is_empty() {
        set("packages", Value::Array(packages));
    }
    if !options.remotes.is_empty() {
        let remotes = options.remotes.iter();
        let remotes = remotes.map(|url| json!({ "type": "streamable-http", "url": url }));
        set("remotes", remotes.collect());
    }
    Ok(file)
}

fn source(url: &str) -> Option<&'static str> {
    let hosts = [
        ("https://github.com/", "github"),
        ("https://gitlab.com/", "gitlab"),
    ];
    let mut hosts = hosts.into_iter();
    hosts.find_map(|(host, source)| url.starts_with(host).then_some(source))
}

/// Returns the packages of the project's file without its bundles, and those of this package.
fn packages(
    facts: &Facts,
    options: &PackOptions,
    bundles: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<Value>, PackError> {
    let stored = facts.server_json.get("packages").and_then(Value::as_array);
    let mut packages: Vec<Value> = stored.cloned().unwrap_or_default();
    packages.retain(|package| package["registryType"] != "mcpb");
    if let Some(package) = registry_package(facts, options)
        && !packages
            .iter()
            .any(|other| other["registryType"] == package["registryType"])
    {
        packages.push(package);
    }
    for (name, bytes) in bundles {
        let mut package = json!({
            "registryType": "mcpb",
            "identifier": format!("{}/{name}", download(facts, options)?),
            "version": facts.version,
            "fileSha256": sha256(bytes),
            "transport": { "type": "stdio" },
        });
        add_settings(&mut package, options);
        packages.push(package);
    }
    Ok(packages)
}

/// Returns the package at the registry of the ecosystem. Registries of servers have none for Cargo.
fn registry_package(facts: &Facts, options: &PackOptions) -> Option<Value> {
    let (registry, runner) = match facts.kind {
        Kind::Cargo => return None,
        Kind::Npm => ("npm", "npx"),
        Kind::Python => ("pypi", "uvx"),
    };
    let mut package = json!({
        "registryType": registry,
        "identifier": facts.package,
        "version": facts.version,
        "runtimeHint": runner,
        "transport": { "type": "stdio" },
    });
    add_settings(&mut package, options);
    Some(package)
}

fn add_settings(package: &mut Value, options: &PackOptions) {
    let settings = options
        .settings
        .iter()
        .map(|name| json!({ "name": name, "isRequired": true, "isSecret": is_secret(name) }));
    let settings: Vec<_> = settings.collect();
    if !settings.is_empty() {
        package["environmentVariables"] = json!(settings);
    }
}

/// Returns the URL of the directory with the bundles: of the option, or the release at GitHub.
fn download(facts: &Facts, options: &PackOptions) -> Result<String, PackError> {
    if let Some(url) = &options.download {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    let repository = facts.repository.as_deref();
    let at_github = repository.filter(|url| url.starts_with("https://github.com/"));
    let release = at_github.map(|url| format!("{url}/releases/download/v{}", facts.version));
    release.ok_or(PackError::Missing {
        what: "URL of its bundles",
        option: "--download",
    })
}
