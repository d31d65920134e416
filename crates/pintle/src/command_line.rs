//! The command line of a server that runs.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::Result;

/// The arguments of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub(crate) transport: Transport,
    /// The URL of the state. It may have a password.
    pub(crate) state: Option<String>,
    pub(crate) http: HttpSettings,
}

/// Settings of HTTP that a command line has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HttpSettings {
    /// Whether `/healthz` and `/readyz` are answered.
    pub(crate) health: bool,
    /// Time in which requests are accepted after the signal to end.
    pub(crate) shutdown_delay: Option<Duration>,
    /// Requests of one client in each interval.
    pub(crate) quota: Option<NonZeroUsize>,
    pub(crate) quota_interval: Option<Duration>,
}

/// The longest delay of a shutdown in seconds.
const MAX_SHUTDOWN_DELAY: u64 = 3_600;
/// The longest interval of a quota in seconds: a day.
const MAX_QUOTA_INTERVAL: u64 = 86_400;

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
        let (mut transport, mut state) = (None, None);
        let mut http = HttpSettings::default();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--stdio") if transport.is_none() => transport = Some(Transport::Stdio),
                Some("--http") if transport.is_none() => {
                    transport = Some(Transport::Http(address(arguments.next())?));
                }
                Some("--state") if state.is_none() => state = Some(url(arguments.next())?),
                Some("--health") if !http.health => http.health = true,
                Some("--shutdown-delay") if http.shutdown_delay.is_none() => {
                    let delay = seconds("--shutdown-delay", 0..=MAX_SHUTDOWN_DELAY);
                    http.shutdown_delay = Some(delay(arguments.next())?);
                }
                Some("--quota") if http.quota.is_none() => {
                    http.quota = Some(requests(arguments.next())?);
                }
                Some("--quota-interval") if http.quota_interval.is_none() => {
                    let interval = seconds("--quota-interval", 1..=MAX_QUOTA_INTERVAL);
                    http.quota_interval = Some(interval(arguments.next())?);
                }
                Some("--help" | "-h") => {
                    transport = Some(Transport::Help);
                    break;
                }
                _ => return Err(usage(&argument)),
            }
        }
        let transport = transport.unwrap_or(Transport::Stdio);
        if http != HttpSettings::default() && transport == Transport::Stdio {
            return Err("--health, --shutdown-delay and --quota require --http".into());
        }
        if http.quota.is_none() && http.quota_interval.is_some() {
            return Err("--quota-interval requires --quota".into());
        }
        Ok(Self {
            transport,
            state,
            http,
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

/// Reads a time in whole seconds.
fn seconds(
    flag: &str,
    valid: RangeInclusive<u64>,
) -> impl Fn(Option<OsString>) -> Result<Duration> + use<'_> {
    move |argument| {
        let seconds = number(argument).filter(|seconds| valid.contains(seconds));
        let missing = || format!("{flag} requires seconds, at most {}", valid.end());
        Ok(Duration::from_secs(seconds.ok_or_else(missing)?))
    }
}

fn requests(argument: Option<OsString>) -> Result<NonZeroUsize> {
    number(argument).ok_or_else(|| "--quota requires a number of requests".into())
}

fn number<T: FromStr>(argument: Option<OsString>) -> Option<T> {
    argument?.into_string().ok()?.parse().ok()
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
    format!(
        "unknown argument {shown}; usage: [--stdio | --http ADDRESS [--health] [--shutdown-delay SECONDS] \
         [--quota REQUESTS [--quota-interval SECONDS]]] [--state URL] | --help"
    )
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
            "--http localhost:80 --shutdown-delay",
            "--http localhost:80 --shutdown-delay 3601",
            "--http localhost:80 --shutdown-delay -1",
            "--shutdown-delay 2",
            "--quota 5",
            "--http localhost:80 --quota",
            "--http localhost:80 --quota 0",
            "--http localhost:80 --quota 5 --quota 5",
            "--http localhost:80 --quota-interval 60",
            "--http localhost:80 --quota 5 --quota-interval 0",
            "--http localhost:80 --quota 5 --quota-interval 86401",
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
            assert_eq!(parsed(line).expect("a command line").http.health, health);
        }
    }

    #[test]
    fn the_delay_of_a_shutdown_has_seconds() {
        let delay = |line| parsed(line).expect("a command line").http.shutdown_delay;
        assert_eq!(delay("--http localhost:80"), None);
        let line = "--http localhost:80 --shutdown-delay 2";
        assert_eq!(delay(line), Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_quota_has_requests_and_perhaps_an_interval() {
        let quota = |line| {
            let http = parsed(line).expect("a command line").http;
            (http.quota.map(NonZeroUsize::get), http.quota_interval)
        };
        assert_eq!(quota("--http localhost:80"), (None, None));
        assert_eq!(quota("--http localhost:80 --quota 600"), (Some(600), None));
        let line = "--quota-interval 10 --http localhost:80 --quota 600";
        assert_eq!(quota(line), (Some(600), Some(Duration::from_secs(10))));
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
