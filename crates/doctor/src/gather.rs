//! Collects facts: reads a definition, starts the program as its host would, or contacts the URL.

mod conversation;
mod endpoint;
mod leftovers;
mod lookup;
mod once;
mod program;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use pintle::auth::Secret;
use pintle_hosts::{
    ConfigError, Endpoint, Environment, Input, Listed, ServerRegistry, Target, UnexpandedTarget,
    without_query,
};
use serde_json::Value;

use crate::Permission;
use crate::facts::{Definition, Facts, Place, State, UnexpandedFacts};
use crate::options::DoctorOptions;

pub use leftovers::MARK;

/// The token of a sign-in of the user.
#[derive(Debug, Clone)]
pub struct StoredToken {
    /// The access token.
    pub access: Secret,
    /// The time at which it expires, if that is known.
    pub expires: Option<SystemTime>,
    /// Whether the token can be renewed without the user.
    pub is_renewable: bool,
}

/// The sign-ins of the user. The diagnosis neither renews nor changes them.
pub trait SignIns {
    /// Returns the stored token for a server.
    fn token(&self, endpoint: &Endpoint) -> Option<StoredToken>;
}

/// A user without sign-ins.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSignIns;

impl SignIns for NoSignIns {
    fn token(&self, _: &Endpoint) -> Option<StoredToken> {
        None
    }
}

/// A server that is ready to be examined: everything that reads variables and files has happened.
#[derive(Debug)]
pub struct Case {
    place: Place,
    definition: Definition,
    start_timeout: std::time::Duration,
    next: Next,
}

#[derive(Debug)]
enum Next {
    Known(State),
    Use(Prepared),
}

/// A server whose variables are expanded.
#[derive(Debug)]
struct Prepared {
    target: Target,
    /// Whether the definition states the working directory.
    has_directory: bool,
    token: Option<StoredToken>,
    home: Option<PathBuf>,
}

/// Prepares the examination of a server. Without permission to use it, no variable and no file is read.
///
/// Questions of the file to the user have no answer here. `ask` returns the answers of the command line.
pub fn prepare(
    listed: &Listed,
    registry: &ServerRegistry,
    environment: &Environment<'_>,
    permission: Permission,
    sign_ins: &dyn SignIns,
    ask: &mut dyn FnMut(&Input) -> Result<String, String>,
) -> Case {
    let place = place(listed);
    let definition = definition(listed, registry, environment);
    let next = match (listed.server.is_enabled, permission) {
        (false, _) => Next::Known(State::Disabled),
        (true, _) if definition.fault.is_some() => Next::Known(State::Invalid),
        (true, Permission::ReadDefinition) => Next::Known(State::NoConsent),
        (true, Permission::Use) => expand(listed, environment, sign_ins, ask),
    };
    Case {
        place,
        definition,
        start_timeout: listed.start_timeout(),
        next,
    }
}

/// Examines a server: starts its program and ends it, or sends requests to its URL.
pub async fn examine(case: Case, options: &DoctorOptions) -> Facts {
    let Case {
        place,
        definition,
        start_timeout,
        next,
    } = case;
    let timeout = start_timeout.min(options.max_start_timeout);
    let state = match next {
        Next::Known(state) => state,
        Next::Use(prepared) => match &prepared.target {
            Target::Program(program) => {
                let facts = program::examine(program, &prepared, &place, timeout, options).await;
                State::Program(Box::new(facts))
            }
            Target::Url(url) => {
                let token = prepared.token.as_ref();
                let facts = endpoint::examine(url, token, &place, timeout, options).await;
                State::Endpoint(Box::new(facts))
            }
        },
    };
    Facts {
        place,
        definition,
        state,
    }
}

fn place(listed: &Listed) -> Place {
    let members = listed.members().into_iter().flatten();
    let lines: BTreeMap<_, _> = members
        .map(|(key, _)| (key.clone(), listed.line_of(key)))
        .collect();
    Place {
        address: listed.address(),
        server: listed.server.name.clone(),
        host: listed.host.name,
        rules: listed.host.rules(),
        file: listed.file.clone(),
        line: listed.line(),
        lines,
    }
}

fn definition(
    listed: &Listed,
    registry: &ServerRegistry,
    environment: &Environment<'_>,
) -> Definition {
    let has = |key: &&str| {
        let value = listed.members().and_then(|members| members.get(*key));
        value.is_some_and(|value| !value.is_null())
    };
    let first = |keys: &[&str]| {
        keys.iter()
            .find(|key| has(key))
            .map(|key| (*key).to_owned())
    };
    let declared = listed.members().and_then(|members| members.get("type"));
    let fault = listed.unexpanded(environment).err();
    let url = match &listed.server.target {
        Ok(UnexpandedTarget::Url { url, .. }) => Some(without_query(url).to_owned()),
        _ => None,
    };
    let unknown = listed.unknown_variable();
    Definition {
        fault: fault.map(|error| (line_of(&error, listed), reason(&error))),
        declared: declared.and_then(Value::as_str).map(str::to_owned),
        command_key: first(&["command", "cmd"]),
        url_key: first(&["httpUrl", "serverUrl", "url", "uri"]),
        url,
        unknown_variable: unknown.map(|(key, text)| (key.to_owned(), text.to_owned())),
        other: other(listed, registry),
    }
}

/// Returns an earlier server of the same host and name whose definition differs.
fn other(listed: &Listed, registry: &ServerRegistry) -> Option<(PathBuf, usize)> {
    let is_same = |other: &&Listed| {
        other.host.id == listed.host.id && other.server.name == listed.server.name
    };
    let earlier = registry
        .servers
        .iter()
        .take_while(|other| other.file != listed.file || other.line() != listed.line());
    let mut others = earlier.filter(is_same);
    let other = others.find(|other| other.server.target != listed.server.target)?;
    Some((other.file.clone(), other.line()))
}

fn expand(
    listed: &Listed,
    environment: &Environment<'_>,
    sign_ins: &dyn SignIns,
    ask: &mut dyn FnMut(&Input) -> Result<String, String>,
) -> Next {
    let target = match listed.target(environment, &mut |input| ask(input)) {
        Ok(target) => target,
        Err(error) => {
            return Next::Known(State::Unexpanded(UnexpandedFacts {
                line: line_of(&error, listed),
                reason: reason(&error),
            }));
        }
    };
    let token = match &target {
        Target::Url(endpoint) if !endpoint.is_authorized() => sign_ins.token(endpoint),
        _ => None,
    };
    let has_directory = matches!(
        &listed.server.target,
        Ok(UnexpandedTarget::Program {
            directory: Some(_),
            ..
        })
    );
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = (environment.env)(home).filter(|home| !home.is_empty());
    Next::Use(Prepared {
        target,
        has_directory,
        token,
        home: home.map(PathBuf::from),
    })
}

/// Returns the line of an error in the file of the server. A file that the server refers to has another path.
fn line_of(error: &ConfigError, listed: &Listed) -> usize {
    match error.place() {
        Some((file, line)) if file == listed.file => line,
        _ => listed.line_of("envFile"),
    }
}

/// Returns the text of an error without the place, which a finding has already.
fn reason(error: &ConfigError) -> String {
    let text = error.to_string();
    let place = error
        .place()
        .map(|(file, line)| format!("{}:{line}: ", file.display()));
    let place = place.unwrap_or_default();
    text.strip_prefix(&place).unwrap_or(&text).to_owned()
}
