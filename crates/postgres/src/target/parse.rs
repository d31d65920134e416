//! Reading a URL.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use super::{Target, TlsFiles, TlsMode, is_local};
use crate::connect_error::ConnectError;

/// Default of `prefix`.
const SCHEMA: &str = "pintle";

/// Default and maximum of `connections`.
const CONNECTIONS: usize = 8;
const MAX_CONNECTIONS: usize = 100;

/// Default of `operation_timeout`, in milliseconds, and its bounds.
const OPERATION_TIMEOUT: u64 = 5_000;
const OPERATION_TIMEOUTS: std::ops::RangeInclusive<u64> = 10..=600_000;

/// Default of `connect_timeout`.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A silent server is probed after this time, three times in half a minute.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Parameters that the PostgreSQL client reads.
const CLIENT_PARAMETERS: [&str; 15] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "port",
    "tcp_user_timeout",
    "user",
];

/// Parameters of this crate.
#[derive(Default)]
struct Parameters {
    prefix: Option<String>,
    connections: Option<String>,
    operation_timeout: Option<String>,
    listen: Option<String>,
    sslmode: Option<String>,
    files: TlsFiles,
    password: Option<String>,
    /// The URL without the parameters above.
    rest: String,
}

impl FromStr for Target {
    type Err = ConnectError;

    fn from_str(url: &str) -> Result<Self, ConnectError> {
        let found = Parameters::read(url)?;
        let config = config(&found.rest, found.password.as_deref())?;
        let listen = match &found.listen {
            Some(direct) => direct_config(direct)?,
            None => config.clone(),
        };
        let tls = tls_mode(
            found.sslmode.as_deref(),
            is_local(&config) && is_local(&listen),
        )?;
        let (config, listen) = (with_tls(config, tls), with_tls(listen, tls));
        Ok(Self {
            connect_timeout: config
                .get_connect_timeout()
                .copied()
                .unwrap_or(CONNECT_TIMEOUT),
            is_pooled: found.listen.is_some(),
            schema: schema(found.prefix)?,
            connections: connections(found.connections.as_deref())?,
            operation_timeout: operation_timeout(found.operation_timeout.as_deref())?,
            files: found.files,
            config,
            listen,
            tls,
        })
    }
}

fn invalid(reason: impl Into<String>) -> ConnectError {
    let reason = reason.into();
    ConnectError::Url { reason }
}

impl Parameters {
    fn read(url: &str) -> Result<Self, ConnectError> {
        let is_scheme = url.starts_with("postgres://") || url.starts_with("postgresql://");
        if !is_scheme {
            return Err(invalid("it does not begin with `postgres://`"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        if query.contains('@') {
            return Err(invalid(
                "its parameters have an `@`; write `?` in a password as `%3F`",
            ));
        }
        let mut found = Self::default();
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !found.take(name, decode(value)?)? {
                kept.push(pair);
            }
        }
        found.rest = format!("{base}?{}", kept.join("&"));
        Ok(found)
    }

    /// Takes one parameter. Returns false for a parameter of the client.
    fn take(&mut self, name: &str, value: String) -> Result<bool, ConnectError> {
        let place = match name {
            "prefix" => &mut self.prefix,
            "connections" => &mut self.connections,
            "operation_timeout" => &mut self.operation_timeout,
            "listen" => &mut self.listen,
            "sslmode" => &mut self.sslmode,
            "password" => &mut self.password,
            "ca" => return Ok(replace(&mut self.files.ca, value)),
            "cert" => return Ok(replace(&mut self.files.cert, value)),
            "key" => return Ok(replace(&mut self.files.key, value)),
            name if CLIENT_PARAMETERS.contains(&name) => return Ok(false),
            name => return Err(invalid(format!("the parameter `{name}` does not exist"))),
        };
        *place = Some(value);
        Ok(true)
    }
}

fn replace(file: &mut Option<PathBuf>, value: String) -> bool {
    *file = Some(value.into());
    true
}

fn decode(value: &str) -> Result<String, ConnectError> {
    let decoded = percent_decode_str(value).decode_utf8();
    let decoded = decoded.map_err(|_| invalid("a parameter is not UTF-8"))?;
    Ok(decoded.into_owned())
}

fn config(url: &str, password: Option<&str>) -> Result<Config, ConnectError> {
    let mut config = Config::from_str(url).map_err(|error| invalid(reason(&error)))?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(invalid("it has no host"));
    }
    if let Some(password) = password {
        config.password(password);
    }
    if config.get_application_name().is_none() {
        config.application_name("pintle");
    }
    if !url.contains("keepalives") {
        config
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE / 3)
            .keepalives_retries(3);
    }
    // A standby accepts no writes. With several hosts the client looks for the primary server.
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    Ok(config)
}

/// Returns a reason that repeats nothing of the URL, because a part of it may be a password.
fn reason(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    match cause {
        Some(cause) if cause.starts_with("invalid value for option") => cause,
        _ => "the form is postgres://USER:PASSWORD@HOST:PORT/DATABASE".to_owned(),
    }
}

/// Reads the URL of the server behind a pooler.
fn direct_config(url: &str) -> Result<Config, ConnectError> {
    let found = Parameters::read(url)?;
    config(&found.rest, found.password.as_deref()).map_err(|_| {
        invalid(
            "the URL in `listen` has another form than postgres://USER:PASSWORD@HOST:PORT/DATABASE",
        )
    })
}

fn with_tls(mut config: Config, tls: TlsMode) -> Config {
    config.ssl_mode(match tls {
        TlsMode::Disable => SslMode::Disable,
        _ => SslMode::Require,
    });
    config
}

fn tls_mode(mode: Option<&str>, is_local: bool) -> Result<TlsMode, ConnectError> {
    Ok(match mode {
        None if is_local => TlsMode::Disable,
        None | Some("verify-full") => TlsMode::VerifyFull,
        Some("disable") => TlsMode::Disable,
        Some("require") => TlsMode::Require,
        Some("verify-ca") => TlsMode::VerifyAuthority,
        Some("prefer" | "allow") => {
            let reason = "`sslmode` is `prefer` or `allow`, which an attacker can turn off; use `verify-full`";
            return Err(invalid(reason));
        }
        Some(_) => {
            let reason = "`sslmode` is not `disable`, `require`, `verify-ca` or `verify-full`";
            return Err(invalid(reason));
        }
    })
}

fn schema(prefix: Option<String>) -> Result<String, ConnectError> {
    let schema = prefix.unwrap_or_else(|| SCHEMA.to_owned());
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    let is_name = (1..=63).contains(&schema.len()) && schema.bytes().all(is_allowed);
    if !is_name || schema.starts_with("pg_") {
        return Err(invalid(
            "`prefix` is not 1 to 63 of a-z, 0-9, `_` and `-`, or begins with `pg_`",
        ));
    }
    Ok(schema)
}

fn connections(text: Option<&str>) -> Result<usize, ConnectError> {
    let number = text.map_or(Ok(CONNECTIONS), str::parse).ok();
    number
        .filter(|it| (1..=MAX_CONNECTIONS).contains(it))
        .ok_or_else(|| {
            invalid(format!(
                "`connections` is not a number from 1 to {MAX_CONNECTIONS}"
            ))
        })
}

fn operation_timeout(text: Option<&str>) -> Result<Duration, ConnectError> {
    let millis = text.map_or(Ok(OPERATION_TIMEOUT), str::parse).ok();
    let millis = millis.filter(|it| OPERATION_TIMEOUTS.contains(it));
    let millis = millis.ok_or_else(|| {
        invalid("`operation_timeout` is not a number of milliseconds from 10 to 600000")
    })?;
    Ok(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Target {
        url.parse().expect("a URL")
    }

    #[test]
    fn parameters_have_defaults() {
        let target = read("postgres://me:secret@db.example/state");
        assert_eq!((target.schema.as_str(), target.connections), ("pintle", 8));
        assert_eq!(target.operation_timeout, Duration::from_secs(5));
        assert_eq!(target.connect_timeout, Duration::from_secs(10));
        assert_eq!(target.host(), "db.example:5432");
    }

    #[test]
    fn a_url_sets_each_parameter() {
        let target = read(
            "postgresql://me@a:1,b:2/state?prefix=harbour-1&connections=3&operation_timeout=250&connect_timeout=4\
            &sslmode=verify-ca&ca=%2Fetc%2Fca.pem&listen=postgres%3A%2F%2Fme%3Ap%2540%40direct%2Fstate",
        );
        assert_eq!(
            (target.schema.as_str(), target.connections),
            ("harbour-1", 3)
        );
        assert_eq!(target.operation_timeout, Duration::from_millis(250));
        assert_eq!(target.connect_timeout, Duration::from_secs(4));
        assert_eq!(
            (target.tls, target.is_pooled),
            (TlsMode::VerifyAuthority, true)
        );
        assert_eq!(target.files.ca, Some("/etc/ca.pem".into()));
        assert_eq!(target.host(), "a:1,b:2");
        assert_eq!(target.listen.get_password(), Some(&b"p@"[..]));
    }

    #[test]
    fn hosts_beyond_loopback_need_verified_tls_by_default() {
        for (url, expected) in [
            ("postgres://localhost/a", TlsMode::Disable),
            ("postgres://127.0.0.2:1/a", TlsMode::Disable),
            ("postgres://[::1]/a", TlsMode::Disable),
            ("postgres://%2Frun%2Fpostgresql/a", TlsMode::Disable),
            ("postgres://10.0.0.1/a", TlsMode::VerifyFull),
            ("postgres://localhost,db.example/a", TlsMode::VerifyFull),
            (
                "postgres://localhost/a?hostaddr=10.0.0.1",
                TlsMode::VerifyFull,
            ),
            (
                "postgres://localhost/a?listen=postgres://db.example/a",
                TlsMode::VerifyFull,
            ),
            ("postgres://db.example/a?sslmode=require", TlsMode::Require),
            ("postgres://db.example/a?sslmode=disable", TlsMode::Disable),
        ] {
            assert_eq!(read(url).tls, expected, "{url}");
        }
    }

    #[test]
    fn an_invalid_url_is_refused_without_its_password() {
        for url in [
            "mysql://me:secret@db.example/a",
            "postgres://me:se?cret@db.example/a",
            "postgres://me:secret@db.example:port/a",
            "postgres:///a?password=secret",
            "postgres://me:secret@db.example/a?sslmode=prefer",
            "postgres://me:secret@db.example/a?sslmode=allow",
            "postgres://me:secret@db.example/a?sslmode=on",
            "postgres://me:secret@db.example/a?prefix=A",
            "postgres://me:secret@db.example/a?prefix=pg_a",
            "postgres://me:secret@db.example/a?prefix=",
            "postgres://me:secret@db.example/a?connections=0",
            "postgres://me:secret@db.example/a?connections=101",
            "postgres://me:secret@db.example/a?operation_timeout=9",
            "postgres://me:secret@db.example/a?keepalives=x",
            "postgres://me:secret@db.example/a?sslrootcert=x",
            "postgres://me:secret@db.example/a?listen=postgres%3A%2F%2Fme%3Asecret",
        ] {
            let error = Target::from_str(url).expect_err(url);
            let text = format!("{error} {error:?}");
            assert!(matches!(error, ConnectError::Url { .. }), "{url}: {text}");
            assert!(!text.contains("cret"), "{text}");
        }
    }

    #[test]
    fn debug_output_of_a_target_hides_the_password() {
        let target = read("postgres://me:secret@db.example/state?password=secret");
        assert_eq!(
            format!("{target:?}"),
            r#"Target { host: "db.example:5432", schema: "pintle", .. }"#
        );
    }
}
