//! Removes secrets from texts of a server.

use pintle_hosts::Target;
use pintle_tap::{is_secret_name, redact};

/// Shortest value that is removed, in bytes. A shorter one would occur by chance.
const SHORTEST: usize = 6;

/// The values of a definition that must not be shown.
#[derive(Default)]
pub(crate) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Collects the values of variables, headers, and options with the name of a secret.
    pub(crate) fn of(target: &Target) -> Self {
        let mut secrets = Self::default();
        match target {
            Target::Program(program) => {
                for (name, value) in &program.environment {
                    if is_secret_name(name) || !is_path(value) {
                        secrets.add(name, value);
                    }
                }
                secrets.add_arguments(&program.arguments);
            }
            Target::Url(endpoint) => {
                for (name, value) in &endpoint.headers {
                    secrets.add(name, value);
                    if let Some((_, token)) = value.split_once(' ') {
                        secrets.add(name, token);
                    }
                }
                if let Some((_, query)) = endpoint.url.split_once('?') {
                    secrets.add("query", query);
                    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
                        secrets.add(name, value);
                    }
                }
            }
        }
        // A longer value first, because a shorter one may be a part of it.
        secrets
            .0
            .sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        secrets
    }

    fn add_arguments(&mut self, arguments: &[String]) {
        let mut before: Option<&str> = None;
        for argument in arguments {
            let name = argument.trim_start_matches('-');
            match name.split_once('=') {
                Some((name, value)) if is_secret_name(name) => self.add(name, value),
                _ => {
                    if let Some(name) = before.filter(|name| is_secret_name(name)) {
                        self.add(name, argument);
                    }
                }
            }
            before = argument.starts_with('-').then_some(name);
        }
    }

    fn add(&mut self, name: &str, value: &str) {
        if value.len() >= SHORTEST {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Returns the text without the values, and without other words that look like secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), &format!("[value of {name}]"));
            }
        }
        redact(&text).into_owned()
    }
}

fn is_path(value: &str) -> bool {
    value.starts_with('/') || value.contains(":\\")
}

#[cfg(test)]
mod tests {
    use pintle_hosts::{Endpoint, Program};

    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn values_of_the_definition_are_hidden() {
        let program = Program {
            arguments: [
                "--api-key",
                "from-argument",
                "--token=inlined-one",
                "plain-word",
            ]
            .map(str::to_owned)
            .into(),
            environment: vec![
                pair("ANY", "value-of-any"),
                pair("DIR", "/home/me/x"),
                pair("A", "1"),
            ],
            ..Program::default()
        };
        let secrets = Secrets::of(&Target::Program(program));
        let shown = secrets.hide("value-of-any from-argument inlined-one plain-word /home/me/x 1");
        assert_eq!(
            shown,
            "[value of ANY] [value of api-key] [value of token] plain-word /home/me/x 1"
        );
        let endpoint = Endpoint {
            url: "https://a.example/mcp?id=in-the-query".to_owned(),
            headers: vec![pair("Authorization", "Bearer t0ken-of-mine")],
            is_sse: false,
        };
        let secrets = Secrets::of(&Target::Url(endpoint));
        let shown = secrets.hide("in-the-query and t0ken-of-mine and sk-abcdefghijklmnop");
        for secret in ["in-the-query", "t0ken-of-mine", "sk-abcdefghijklmnop"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
