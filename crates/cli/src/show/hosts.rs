//! The servers in the configuration files of hosts.

use serde_json::{Value, json};

use crate::page::{Page, Row};
use crate::screen::Look;
use pintle_hosts::without_query;
use pintle_hosts::{ConfigOwner, Listed, ServerRegistry, UnexpandedTarget};

/// Lists the servers of each file, without the values of variables and headers.
pub(crate) fn hosts(registry: &ServerRegistry, look: Look) -> String {
    let mut page = Page::new(look);
    for servers in registry.servers.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = servers.first() else {
            continue;
        };
        page.heading(first.host.name, &first.file.display().to_string());
        let rows: Vec<_> = servers.iter().map(row).collect();
        page.rows(2, &rows);
    }
    if page.is_empty() {
        page.line("No host on this machine has a server in a file that is known here.");
    } else {
        page.gap();
        page.line("@NAME is the server of that name; @HOST/NAME, if there are several:");
        page.line(&format!("  {}", crate::text::line(&example(registry))));
    }
    page.into_text()
}

/// Returns the same servers as JSON.
pub(crate) fn hosts_json(registry: &ServerRegistry) -> Value {
    let servers = registry.servers.iter().map(|listed| {
        json!({
            "address": listed.address(),
            "name": listed.server.name,
            "host": listed.host.id,
            "file": listed.file.display().to_string(),
            "origin": match listed.origin {
                ConfigOwner::Project => "project",
                ConfigOwner::Named => "file",
                ConfigOwner::User => "user",
            },
            "enabled": listed.server.is_enabled,
            "reach": target(listed),
        })
    });
    let errors = registry.errors.iter().map(ToString::to_string);
    json!({ "servers": servers.collect::<Vec<_>>(), "faults": errors.collect::<Vec<_>>() })
}

fn example(registry: &ServerRegistry) -> String {
    let first = registry.servers.first();
    first.map_or_else(String::new, |listed| {
        format!("pintle list {}", listed.address())
    })
}

fn row(listed: &Listed) -> Row {
    let mut text = match &listed.server.target {
        Ok(UnexpandedTarget::Program {
            command, arguments, ..
        }) => {
            let words = std::iter::once(command).chain(arguments);
            words.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        Ok(UnexpandedTarget::Url { url, .. }) => without_query(url).to_owned(),
        Err(_) => "(neither a command nor a URL)".to_owned(),
    };
    if !listed.server.is_enabled {
        text.push_str("  (switched off)");
    }
    Row::new(&listed.server.name, text)
}

fn target(listed: &Listed) -> Value {
    match &listed.server.target {
        Ok(UnexpandedTarget::Program {
            command, arguments, ..
        }) => {
            json!({ "command": command, "args": arguments })
        }
        Ok(UnexpandedTarget::Url { url, .. }) => json!({ "url": without_query(url) }),
        Err(_) => Value::Null,
    }
}
