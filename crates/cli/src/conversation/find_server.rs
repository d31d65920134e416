//! Finds the server of the command line, and prepares the connection to it.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use pintle::client::Tcp;
use pintle::http::client::{EndpointUrl, HttpClientOptions, HttpConnect};
use pintle::process::{ChildOptions, Command};
use pintle::runtime::BoxConnect;

use super::stderr;
use crate::access::{RecordingAuthorizer, RejectionReporter, is_http};
use crate::args::{ServerSpec, Settings, UsageError};
use crate::ask::Prompter;
use crate::consent;
use crate::exit::CliError;
use crate::live::Live;
use pintle_hosts::{ConfigError, Environment, LocalFiles, Named, Platform, ServerRegistry};
use pintle_hosts::{Endpoint, Program, Target};

/// Returns the server of the command line, with the settings of the command line.
///
/// # Errors
///
/// [`ConfigError`] if no configuration file defines the name; [`UsageError`] without a program after `--`.
pub(crate) fn target(
    server: &ServerSpec,
    settings: &Settings,
    prompter: &Prompter,
) -> Result<Target, CliError> {
    let target = match server {
        ServerSpec::Url(url) => Target::Url(Endpoint {
            url: url.clone(),
            ..Endpoint::default()
        }),
        ServerSpec::Program(words) => {
            let (command, arguments) = words.split_first().ok_or_else(nothing_to_start)?;
            Target::Program(Program {
                command: command.clone(),
                arguments: arguments.to_vec(),
                ..Program::default()
            })
        }
        ServerSpec::Named(name) => named(name, settings, prompter)?,
    };
    Ok(with_settings(target, settings))
}

/// Names the authorization options in an error.
const AUTHORIZATION: &str = "an authorization option";

fn nothing_to_start() -> CliError {
    UsageError("no program to start behind `--`".to_owned()).into()
}

/// Returns the file of a host that defines the server, if it is found by its name.
pub(crate) fn config_file(server: &ServerSpec, settings: &Settings) -> Option<PathBuf> {
    let ServerSpec::Named(name) = server else {
        return None;
    };
    let here = env::current_dir().ok()?;
    let var = |name: &str| env::var(name).ok();
    let environment = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let registry = match &settings.config {
        Some(file) => ServerRegistry::of_file(&environment, file).ok()?,
        None => ServerRegistry::open(&environment),
    };
    let found = registry.find(Named::from(&**name)).ok()?;
    Some(found.file.clone())
}

fn named(name: &str, settings: &Settings, prompter: &Prompter) -> Result<Target, CliError> {
    let here = env::current_dir()?;
    let var = |name: &str| env::var(name).ok();
    let environment = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let registry = match &settings.config {
        Some(file) => ServerRegistry::of_file(&environment, file)?,
        None => ServerRegistry::open(&environment),
    };
    let found = registry.find(Named::from(name)).inspect_err(|error| {
        // An unreadable file may define the name.
        if matches!(error, ConfigError::Unknown { .. }) {
            registry
                .errors
                .iter()
                .for_each(|fault| prompter.warn(fault));
        }
    })?;
    // Nothing of the definition is expanded before consent: no variable and no file is read.
    consent::require(found, &environment, settings.is_trusted, prompter)?;
    Ok(found.target(&environment, &mut |input| prompter.input(input))?)
}

/// Applies the settings of the command line. They replace those of a configuration file.
fn with_settings(target: Target, settings: &Settings) -> Target {
    match target {
        Target::Program(mut program) => {
            program.environment.extend(settings.env.iter().cloned());
            if let Some(directory) = &settings.cwd {
                program.directory = Some(directory.clone());
            }
            Target::Program(program)
        }
        Target::Url(mut endpoint) => {
            let is_given = |name: &str| {
                let mut given = settings.headers.iter();
                given.any(|(given, _)| given.eq_ignore_ascii_case(name))
            };
            endpoint.headers.retain(|(name, _)| !is_given(name));
            let given = settings.headers.iter();
            let given = given.map(|(name, value)| (name.clone(), value.reveal().clone()));
            endpoint.headers.extend(given);
            if let Some(token) = &settings.access.bearer {
                endpoint.authorize(token.reveal());
            }
            Target::Url(endpoint)
        }
    }
}

/// Prepares the connection to a server.
///
/// # Errors
///
/// [`UsageError`] for an invalid URL or header, and for a setting that does not apply to the server.
pub(super) fn connect(
    target: Target,
    settings: &Settings,
    live: &Arc<Live>,
    authorizer: Option<RecordingAuthorizer>,
) -> Result<BoxConnect, CliError> {
    match target {
        Target::Program(program) => {
            refuse(settings.headers.is_empty(), "--header", "a URL")?;
            refuse(settings.access.is_empty(), AUTHORIZATION, "a URL")?;
            let command = command(program, settings);
            Ok(BoxConnect::new(match settings.shows_stderr {
                true => stderr::shown(command, live),
                false => stderr::hidden(command, live),
            }))
        }
        Target::Url(endpoint) => {
            refuse(settings.env.is_empty(), "--env", "a program")?;
            refuse(settings.max_memory.is_none(), "--max-memory", "a program")?;
            if endpoint.is_sse {
                live.note("the configuration names the transport of 2024 (SSE) for this server");
            }
            over_network(&endpoint, settings, authorizer)
        }
    }
}

pub(super) fn refuse(is_absent: bool, flag: &str, what: &str) -> Result<(), CliError> {
    match is_absent {
        true => Ok(()),
        false => Err(UsageError(format!("{flag} requires {what} as the server")).into()),
    }
}

pub(super) fn command(program: Program, settings: &Settings) -> Command {
    let mut options = ChildOptions::default();
    options.max_memory_bytes = settings.max_memory;
    let command = Command::new(program.command)
        .options(options)
        .args(program.arguments)
        .envs(program.environment);
    match program.directory {
        Some(directory) => command.current_dir(directory),
        None => command,
    }
}

fn over_network(
    endpoint: &Endpoint,
    settings: &Settings,
    authorizer: Option<RecordingAuthorizer>,
) -> Result<BoxConnect, CliError> {
    refuse(
        is_http(&endpoint.url) || settings.access.is_empty(),
        AUTHORIZATION,
        "an http or https URL",
    )?;
    if let Some(address) = endpoint.url.strip_prefix("tcp://") {
        return Ok(BoxConnect::new(Tcp::new(address)));
    }
    #[cfg(unix)]
    if let Some(path) = endpoint.url.strip_prefix("unix://") {
        return Ok(BoxConnect::new(pintle::client::Unix::new(path)));
    }
    let url = EndpointUrl::parse(&endpoint.url).map_err(usage_error)?;
    let options = http_options(endpoint)?;
    let options = match authorizer {
        Some(authorizer) => options.authorizer(authorizer),
        None => options.authorizer(RejectionReporter),
    };
    let connect = HttpConnect::new(url, &options).map_err(usage_error)?;
    Ok(BoxConnect::new(connect))
}

/// Returns the options of a client with the headers of an endpoint.
///
/// # Errors
///
/// [`UsageError`] for an invalid header.
pub(super) fn http_options(endpoint: &Endpoint) -> Result<HttpClientOptions, CliError> {
    let mut options = HttpClientOptions::default();
    for (name, value) in &endpoint.headers {
        let parsed = HeaderName::try_from(name).map_err(usage_error)?;
        let wrong = |_| {
            UsageError(format!(
                "the header {name} has a value that is not allowed in a header"
            ))
        };
        let value = HeaderValue::try_from(value).map_err(wrong)?;
        options = options.header(parsed, value).map_err(usage_error)?;
    }
    Ok(options)
}

pub(super) fn usage_error(error: impl std::fmt::Display) -> CliError {
    UsageError(error.to_string()).into()
}

/// Returns the `file` URL of a directory.
///
/// # Errors
///
/// If the directory does not exist, or its path is not valid UTF-8.
pub(super) fn file_uri(directory: &Path) -> Result<String, CliError> {
    let absolute: PathBuf = directory.canonicalize()?;
    let text = absolute.to_str().ok_or_else(|| {
        UsageError(format!(
            "the path {} is not valid UTF-8",
            directory.display()
        ))
    })?;
    let mut uri = String::from("file://");
    if !text.starts_with('/') {
        uri.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_command_line_replace_those_of_a_file() {
        let settings = Settings {
            headers: vec![("x-key".to_owned(), "typed".into())],
            env: vec![("A".to_owned(), "typed".to_owned())],
            cwd: Some("/typed".into()),
            ..Settings::default()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let url = Target::Url(Endpoint {
            url: "https://a.example".to_owned(),
            headers: vec![pair("X-Key", "written"), pair("X-Other", "kept")],
            is_sse: false,
        });
        let Target::Url(endpoint) = with_settings(url, &settings) else {
            panic!("a URL stays one");
        };
        assert_eq!(
            endpoint.headers,
            [pair("X-Other", "kept"), pair("x-key", "typed")]
        );
        let program = Target::Program(Program {
            environment: vec![pair("A", "written")],
            directory: Some("/written".into()),
            ..Program::default()
        });
        let Target::Program(program) = with_settings(program, &settings) else {
            panic!("a program stays one");
        };
        // The last value of a name counts.
        assert_eq!(
            program.environment,
            [pair("A", "written"), pair("A", "typed")]
        );
        assert_eq!(program.directory, Some("/typed".into()));
    }

    #[test]
    fn settings_that_do_not_apply_to_a_server_are_rejected() {
        let live = Arc::new(Live::new(crate::screen::Look::PLAIN));
        let settings = Settings {
            headers: vec![("a".to_owned(), "b".into())],
            ..Settings::default()
        };
        assert!(connect(Target::Program(Program::default()), &settings, &live, None).is_err());
        for url in ["ftp://x", "https://", "https://user:pass@a.example/"] {
            let endpoint = Endpoint {
                url: url.to_owned(),
                ..Endpoint::default()
            };
            assert!(
                connect(Target::Url(endpoint), &Settings::default(), &live, None).is_err(),
                "{url}"
            );
        }
        let endpoint = Endpoint {
            url: "https://a.example/mcp".to_owned(),
            headers: vec![("Mcp-Session-Id".to_owned(), "x".to_owned())],
            is_sse: false,
        };
        assert!(connect(Target::Url(endpoint), &Settings::default(), &live, None).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_has_a_file_url() {
        assert_eq!(file_uri(Path::new("/")).expect("there"), "file:///");
        assert!(file_uri(Path::new("/no/such/place")).is_err());
        let odd = env::temp_dir().join(format!("pintle é #{}", std::process::id()));
        std::fs::create_dir_all(&odd).expect("made");
        let uri = file_uri(&odd).expect("there");
        std::fs::remove_dir(&odd).expect("removed");
        assert!(uri.contains("pintle%20%C3%A9%20%23"), "{uri}");
    }
}
