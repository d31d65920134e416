//! Rules for the text of a definition.

use super::Findings;
use crate::rule;

/// The values of `type` that mean a program, in any host.
const PROGRAMS: [&str; 2] = ["stdio", "local"];
/// The values of `type` that mean a URL, in any host.
const URLS: [&str; 7] = [
    "http",
    "sse",
    "streamable-http",
    "streamableHttp",
    "streamable_http",
    "remote",
    "ws",
];

impl Findings<'_> {
    /// Checks the definition, without its use.
    pub(super) fn check_definition(&mut self) {
        let definition = &self.facts.definition;
        if let Some((line, reason)) = &definition.fault {
            let remedy = "change the member to the form that the host documents".to_owned();
            self.add_at(rule::DEFINITION, *line, reason.clone(), remedy);
        }
        if let (Some(command), Some(url)) = (&definition.command_key, &definition.url_key) {
            self.add(
                rule::URL_AND_COMMAND,
                Some(command),
                format!(
                    "the definition has `{command}` and `{url}`; hosts differ in which one they use"
                ),
                format!("delete `{command}` or `{url}`"),
            );
        }
        self.check_type();
        self.check_url();
        if let Some((key, text)) = &definition.unknown_variable {
            let host = self.facts.place.host;
            self.add(
                rule::UNEXPANDED,
                Some(key),
                format!("{host} does not expand `{text}`, so the server gets these characters"),
                "write the value, or the variable in the syntax of this host".to_owned(),
            );
        }
        if let Some((file, line)) = &definition.other {
            let server = &self.facts.place.server;
            self.add(
                rule::DUPLICATE_SERVER,
                None,
                format!(
                    "`{server}` is defined differently in {}:{line}",
                    file.display()
                ),
                "rename one of the servers, or delete one".to_owned(),
            );
        }
    }

    fn check_type(&mut self) {
        let definition = &self.facts.definition;
        let rules = self.facts.place.rules;
        let is_url = definition.url_key.is_some();
        let known: Vec<&str> = match is_url {
            true => rules
                .url_type
                .into_iter()
                .chain(rules.has_sse.then_some("sse"))
                .collect(),
            false => rules.program_type.into_iter().collect(),
        };
        let expected = known
            .first()
            .copied()
            .unwrap_or(if is_url { "http" } else { "stdio" });
        let Some(declared) = definition.declared.as_deref() else {
            if is_url && rules.needs_type {
                self.add(
                    rule::MISSING_TYPE,
                    self.url_key(),
                    format!(
                        "{} reads a URL without `type` as a program",
                        self.facts.place.host
                    ),
                    format!("add `\"type\": \"{expected}\"`"),
                );
            }
            return;
        };
        let contradicts = match is_url {
            true => PROGRAMS.contains(&declared),
            false => definition.command_key.is_some() && URLS.contains(&declared),
        };
        let is_unknown =
            is_url && URLS.contains(&declared) && !known.is_empty() && !known.contains(&declared);
        if contradicts || is_unknown {
            let message = match (contradicts, is_url) {
                (true, true) => format!("`type` is `{declared}`, and the server has a URL"),
                (true, false) => format!("`type` is `{declared}`, and the server is a program"),
                _ => format!(
                    "{} does not know the type `{declared}`",
                    self.facts.place.host
                ),
            };
            let remedy = format!("change `type` to `{expected}`");
            self.add(rule::WRONG_TYPE, Some("type"), message, remedy);
        }
    }

    fn check_url(&mut self) {
        let Some(url) = &self.facts.definition.url else {
            return;
        };
        let place = &self.facts.place;
        if !place.rules.has_urls {
            self.add(
                rule::NO_URLS,
                self.url_key(),
                format!("the file of {} can have programs only", place.host),
                "add the server in the settings of the host, or start `pintle serve --stdio URL`"
                    .to_owned(),
            );
        }
        let lower = url.to_ascii_lowercase();
        if let Some(rest) = lower.strip_prefix("http://")
            && !is_local(host_of(rest))
        {
            self.add(
                rule::PLAIN_HTTP,
                self.url_key(),
                format!("{url} is not encrypted, so tokens can be read on the way"),
                "change http to https".to_owned(),
            );
        }
    }
}

fn host_of(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(host) => host.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Whether a host is this machine, or a name that a variable stands for.
fn is_local(host: &str) -> bool {
    let is_name = host == "localhost" || host.ends_with(".localhost") || host.contains(['$', '{']);
    let address = host.parse::<std::net::IpAddr>();
    is_name || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_hosts_need_no_encryption() {
        for local in [
            "localhost:80/mcp",
            "127.0.0.1",
            "[::1]:9/x",
            "a.localhost",
            "${host}/mcp",
        ] {
            assert!(is_local(host_of(local)), "{local}");
        }
        for other in ["a.example/mcp", "user@10.0.0.1:80", "[2001:db8::1]"] {
            assert!(!is_local(host_of(other)), "{other}");
        }
    }
}
