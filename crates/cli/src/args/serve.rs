//! The arguments of `pintle serve`.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use pintle::StateUrl;

use super::filter::FilterArgs;
use super::server::ReachArgs;
use super::value;

/// The longest interval of a quota.
const MAX_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The shortest age of a process. Its successor is looked for once a second.
const MIN_AGE: Duration = Duration::from_secs(1);

/// Examples of `pintle serve`.
pub(crate) const HELP: &str = concat!(
    "  pintle serve                                   the showcase at http://127.0.0.1:8000/mcp\n",
    "  pintle serve --http 127.0.0.1:8000 -- npx -y some-server     a program, over HTTP\n",
    "  pintle serve https://example.com/mcp --stdio   a URL, for a host that starts its servers\n",
    "  pintle serve --stdio --only 'read_*' @files    some tools of a server\n",
    "  pintle serve --watch -- ./my-server            a program, replaced after each build"
);

/// The arguments of `pintle serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The server: a URL, or @NAME. Without one, the showcase: an example of every feature of a server
    #[arg(value_name = "SERVER", conflicts_with = "command")]
    pub(crate) server: Option<String>,

    /// A program to start as the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Serve on standard input and output, for a host that starts its servers
    #[arg(long, conflicts_with_all = ["http", "allow_insecure_bind"])]
    pub(crate) stdio: bool,

    /// Serve over HTTP on this address; port 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    pub(crate) http: SocketAddr,

    /// Serve at this Unix socket, for programs of this user; messages have the form of standard streams
    #[cfg(unix)]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["stdio", "http", "allow_insecure_bind", "auth_issuer", "health", "sse", "quota"])]
    pub(crate) unix: Option<PathBuf>,

    /// Serve without authentication on an address that is not loopback
    #[arg(long)]
    pub(crate) allow_insecure_bind: bool,

    /// Accept only requests with a token that this issuer has signed
    #[arg(long, value_name = "URL", requires = "audience", conflicts_with_all = ["stdio", "allow_insecure_bind"])]
    pub(crate) auth_issuer: Option<String>,

    /// URL of the server, as the audience of its tokens: https://api.example/mcp
    #[arg(long, value_name = "URL", requires = "auth_issuer")]
    pub(crate) audience: Option<String>,

    /// Require this scope of every request; the option can be repeated
    #[arg(long, value_name = "SCOPE", requires = "auth_issuer")]
    pub(crate) require_scope: Vec<String>,

    /// Answer /healthz and /readyz, without a token and for every host
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) health: bool,

    /// Also serve the transport of 2024-11-05 at /sse, for clients without another
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) sse: bool,

    /// Requests of each client in an interval; more are answered 429. Clients with one address are one, unless they have
    /// tokens. With --state the quota holds for all servers together
    #[arg(long, value_name = "REQUESTS", conflicts_with = "stdio")]
    pub(crate) quota: Option<NonZeroUsize>,

    /// The interval of the quota
    #[arg(long, value_name = "TIME", value_parser = interval, default_value = "60s", requires = "quota")]
    pub(crate) quota_interval: Duration,

    /// Append one line of JSON for each request to this file: who called which tool, and with which outcome
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,

    /// Serve metrics for Prometheus at /metrics on this address, and /healthz and /readyz beside them. It needs a
    /// build with the feature telemetry, as --otlp does
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,

    /// Export spans and metrics by OTLP to the collector at this URL. Default: the environment variable
    /// OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub(crate) otlp: Option<String>,

    /// Serve lists of the showcase in pages of this many entries, to test pagination of clients
    #[arg(long, value_name = "ENTRIES", conflicts_with_all = ["server", "command"])]
    pub(crate) page_size: Option<NonZeroUsize>,

    /// Share tasks and request states of the showcase with other servers: memory:, file:DIR, sqlite:FILE, or
    /// postgres://HOST/DATABASE. Default: the environment variable PINTLE_STATE. PINTLE_STATE_KEY has the keys
    /// that seal stored values
    #[arg(long, value_name = "URL", conflicts_with_all = ["server", "command"])]
    pub(crate) state: Option<StateUrl>,

    /// Share one process of the server with all hosts of this machine that have the same command line
    #[cfg(unix)]
    #[arg(long, requires = "stdio")]
    pub(crate) share: bool,

    /// How long a shared server runs without a host
    #[cfg(unix)]
    #[arg(long, value_name = "TIME", value_parser = value::duration, default_value = "60s", requires = "share")]
    pub(crate) idle: Duration,

    /// Replace the program after a change of this file or folder, or else of the files that its command line names.
    /// Hosts stay connected. The option can be repeated
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = any_path())]
    pub(crate) watch: Vec<PathBuf>,

    /// Replace a process of the program after this time, such as 6h. Hosts stay connected, and running calls have
    /// 5 more minutes on the earlier process. Default: no limit
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub(crate) max_age: Option<Duration>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Reads the interval of a quota.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = value::duration(text)?;
    match interval <= MAX_INTERVAL {
        true => Ok(interval),
        false => Err("the interval has to be a day (24h) or less".to_owned()),
    }
}

/// Reads the age of a process, which is not shorter than its start may take.
fn age(text: &str) -> Result<Duration, String> {
    let age = value::duration(text)?;
    match age >= MIN_AGE {
        true => Ok(age),
        false => Err("the age has to be 1s or more".to_owned()),
    }
}

/// Returns a parser of paths that accepts an empty one, which stands for an option without a path.
fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{Args, Command};
    use super::*;

    fn parsed(line: &str) -> Result<ServeArgs, clap::Error> {
        match Args::try_parse_from(line.split(' '))?.command {
            Command::Serve(serve) => Ok(*serve),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn http_on_loopback_is_the_default() {
        let serve = parsed("pintle serve").expect("serve");
        assert!(!serve.stdio && !serve.allow_insecure_bind);
        assert_eq!(serve.http.to_string(), "127.0.0.1:8000");
    }

    #[test]
    fn a_page_has_an_entry_at_least() {
        let serve = parsed("pintle serve --page-size 5").expect("serve");
        assert_eq!(serve.page_size, NonZeroUsize::new(5));
        assert!(parsed("pintle serve --page-size 0").is_err());
    }

    #[test]
    fn a_quota_has_requests_over_http_in_an_interval() {
        let serve = parsed("pintle serve --quota 600 @x").expect("serve");
        assert_eq!(serve.quota, NonZeroUsize::new(600));
        assert_eq!(serve.quota_interval, Duration::from_secs(60));
        let serve = parsed("pintle serve --quota 5 --quota-interval 1s").expect("serve");
        assert_eq!(serve.quota_interval, Duration::from_secs(1));
        for line in [
            "--quota 0",
            "--quota-interval 1s",
            "--quota 5 --stdio",
            "--quota 5 --quota-interval 25h",
        ] {
            assert!(parsed(&format!("pintle serve {line}")).is_err(), "{line}");
        }
    }

    #[test]
    fn a_rejected_command_line_shows_no_password_of_the_state() {
        let serve = parsed("pintle serve --state mysql://u:s3cret@db").expect("it is read later");
        assert!(!format!("{serve:?}").contains("s3cret"));
        let error = parsed("pintle serve --state mysql://u:s3cret@db --page-size 0");
        assert!(!error.expect_err("no page").to_string().contains("s3cret"));
    }

    #[test]
    fn one_transport_at_a_time() {
        assert!(parsed("pintle serve --stdio").expect("stdio").stdio);
        assert!(parsed("pintle serve --stdio --http 127.0.0.1:1").is_err());
        assert!(parsed("pintle serve --http nowhere").is_err());
        assert!(parsed("pintle").is_err());
    }

    #[test]
    fn a_server_and_the_options_of_the_showcase_exclude_each_other() {
        let served = parsed("pintle serve @x --stdio").expect("serve");
        assert_eq!(served.server.as_deref(), Some("@x"));
        let served = parsed("pintle serve --env A=b -- npx -y x --stdio").expect("serve");
        assert_eq!(served.command, ["npx", "-y", "x", "--stdio"]);
        assert!(!served.stdio);
        assert!(parsed("pintle serve @x -- npx").is_err());
        assert!(parsed("pintle serve @x --page-size 5").is_err());
        assert!(parsed("pintle serve --state memory: -- npx").is_err());
    }

    #[test]
    fn a_process_has_an_age_of_a_second_or_more() {
        let serve = parsed("pintle serve --max-age 6h -- npx").expect("serve");
        assert_eq!(serve.max_age, Some(Duration::from_secs(6 * 60 * 60)));
        assert!(parsed("pintle serve --max-age 500ms -- npx").is_err());
    }

    #[test]
    fn a_watch_has_a_path_behind_an_equals_sign_or_none() {
        let serve = parsed("pintle serve --watch -- npx").expect("serve");
        assert_eq!(serve.watch, [PathBuf::new()]);
        let serve = parsed("pintle serve --watch=a --watch=b -- npx").expect("serve");
        assert_eq!(serve.watch, [PathBuf::from("a"), PathBuf::from("b")]);
        assert!(
            parsed("pintle serve -- npx")
                .expect("serve")
                .watch
                .is_empty()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_shared_server_is_served_on_standard_streams() {
        let serve = parsed("pintle serve --stdio --share @x").expect("serve");
        assert!(serve.share);
        assert_eq!(serve.idle, Duration::from_secs(60));
        assert!(parsed("pintle serve --share @x").is_err());
        assert!(parsed("pintle serve --stdio --idle 5s @x").is_err());
    }
}
