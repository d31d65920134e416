//! Where a server is, or how it is started.

use std::fmt;
use std::path::PathBuf;

/// A server to talk to. What may be secret is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub enum Target {
    /// A program to start, without a shell.
    Program(Program),
    /// An endpoint to connect to.
    Url(Endpoint),
}

/// A program with its arguments, environment and directory.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The program to start, without its arguments.
    pub command: String,
    /// Its arguments, as they are.
    pub arguments: Vec<String>,
    /// Variables to add to the environment of the program.
    pub environment: Vec<(String, String)>,
    /// The working directory of the program; the current directory if `None`.
    pub directory: Option<PathBuf>,
}

/// A URL with the headers of its requests.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Endpoint {
    /// The URL of the endpoint.
    pub url: String,
    /// Headers of every request to it.
    pub headers: Vec<(String, String)>,
    /// Whether the endpoint is known to support only the HTTP+SSE transport of 2024.
    pub is_sse: bool,
}

impl Endpoint {
    /// Returns true if a header authorizes the requests; then no sign-in is requested.
    pub fn is_authorized(&self) -> bool {
        self.headers.iter().any(|(name, _)| is_authorization(name))
    }

    /// Returns the endpoint without its `Authorization` headers.
    pub fn unauthorized(mut self) -> Self {
        self.headers.retain(|(name, _)| !is_authorization(name));
        self
    }

    /// Adds a bearer token to every request, in place of other authorization.
    pub fn authorize(&mut self, token: &str) {
        self.headers.retain(|(name, _)| !is_authorization(name));
        let line = format!("Bearer {token}");
        self.headers.push(("authorization".to_owned(), line));
    }
}

fn is_authorization(name: &str) -> bool {
    name.eq_ignore_ascii_case("authorization")
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(program) => program.fmt(f),
            Self::Url(endpoint) => endpoint.fmt(f),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("arguments", &self.arguments.len())
            .field("environment", &names(&self.environment))
            .field("directory", &self.directory)
            .finish()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &without_query(&self.url))
            .field("headers", &names(&self.headers))
            .field("is_sse", &self.is_sse)
            .finish()
    }
}

fn names(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().map(|(name, _)| name.as_str()).collect()
}

/// An address without the part in which keys are found.
pub fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let secret = || vec![("NAME".to_owned(), "s3cret".to_owned())];
        let program = Target::Program(Program {
            command: "x".to_owned(),
            arguments: vec!["--key=s3cret".to_owned()],
            environment: secret(),
            directory: None,
        });
        let url = Target::Url(Endpoint {
            url: "https://a.example/mcp?key=s3cret".to_owned(),
            headers: secret(),
            is_sse: false,
        });
        let shown = format!("{program:?} {url:?}");
        assert!(
            !shown.contains("s3cret") && shown.contains("NAME"),
            "{shown}"
        );
    }
}
