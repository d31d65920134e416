//! The command line of a server that runs.

use std::ffi::OsString;

use crate::Result;

/// The arguments of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub(crate) transport: Transport,
    /// The URL of the state. It may have a password.
    pub(crate) state: Option<String>,
    /// Whether `/healthz` and `/readyz` are answered over HTTP.
    pub(crate) health: bool,
}

/// A transport that a command line names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http(String),
    Help,
}

impl CommandLine {
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut arguments = arguments.into_iter();
        let (mut transport, mut state, mut health) = (None, None, false);
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--stdio") if transport.is_none() => transport = Some(Transport::Stdio),
                Some("--http") if transport.is_none() => {
                    transport = Some(Transport::Http(address(arguments.next())?));
                }
                Some("--state") if state.is_none() => state = Some(url(arguments.next())?),
                Some("--health") if !health => health = true,
                Some("--help" | "-h") => {
                    transport = Some(Transport::Help);
                    break;
                }
                _ => return Err(usage(&argument)),
            }
        }
        let transport = transport.unwrap_or(Transport::Stdio);
        if health && transport == Transport::Stdio {
            return Err("--health requires --http".into());
        }
        Ok(Self {
            transport,
            state,
            health,
        })
    }
}

/// A host and a port; the host is looked up later.
fn address(argument: Option<OsString>) -> Result<String> {
    let argument = argument.and_then(|argument| argument.into_string().ok());
    let is_address = |address: &String| {
        let parts = address.rsplit_once(':');
        parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    };
    let address = argument.filter(is_address);
    address.ok_or_else(|| "--http requires an address, such as 127.0.0.1:8000".into())
}

/// A URL of a state; it is read later.
fn url(argument: Option<OsString>) -> Result<String> {
    let url = argument.and_then(|argument| argument.into_string().ok());
    url.ok_or_else(|| "--state requires a URL, such as sqlite:state.sqlite".into())
}

fn usage(argument: &OsString) -> crate::Error {
    let shown = argument.display().to_string();
    // A URL may have a password.
    let shown = shown
        .split_once("://")
        .map_or(&*shown, |(scheme, _)| scheme);
    format!("unknown argument {shown}; usage: [--stdio | --http ADDRESS [--health]] [--state URL] | --help")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<CommandLine> {
        CommandLine::parse(line.split_whitespace().map(OsString::from))
    }

    fn transport(line: &str) -> Transport {
        parsed(line).expect("a command line").transport
    }

    #[test]
    fn the_command_line_names_the_transport() {
        assert_eq!(transport(""), Transport::Stdio);
        assert_eq!(transport("--stdio"), Transport::Stdio);
        for address in ["127.0.0.1:8000", "localhost:8000", "[::1]:0"] {
            let named = transport(&format!("--http {address}"));
            assert_eq!(named, Transport::Http(address.to_owned()));
        }
        for line in ["--help", "-h", "--help more", "--stdio --help"] {
            assert_eq!(transport(line), Transport::Help, "{line}");
        }
    }

    #[test]
    fn an_invalid_command_line_is_an_error() {
        for line in [
            "--http",
            "--http here",
            "--http :80",
            "--http localhost:99999",
            "--other",
            "--stdio more",
            "--stdio --http localhost:80",
            "--state",
            "--state memory: --state memory:",
            "--health",
            "--stdio --health",
            "--http localhost:80 --health --health",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn checks_of_health_are_answered_over_http_only() {
        for (line, health) in [
            ("--http localhost:80", false),
            ("--http localhost:80 --health", true),
            ("--health --http localhost:80", true),
        ] {
            assert_eq!(parsed(line).expect("a command line").health, health);
        }
    }

    #[test]
    fn an_unknown_argument_is_shown_without_its_password() {
        let error = parsed("--store=redis://:s3cret@cache").expect_err("unknown");
        assert!(
            error
                .to_string()
                .starts_with("unknown argument --store=redis; usage"),
            "{error}"
        );
    }

    #[test]
    fn the_state_may_stand_on_either_side_of_the_transport() {
        let http = || Transport::Http("localhost:80".to_owned());
        for (line, expected) in [
            ("--state memory:", Transport::Stdio),
            ("--state memory: --http localhost:80", http()),
            ("--http localhost:80 --state memory:", http()),
        ] {
            let parsed = parsed(line).expect("a command line");
            assert_eq!(
                (parsed.transport, parsed.state.as_deref()),
                (expected, Some("memory:"))
            );
        }
    }
}
