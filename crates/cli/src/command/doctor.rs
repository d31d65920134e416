//! `pintle doctor`: examines the servers of hosts, and names the lines to change.

use std::env;
use std::sync::Arc;

use pintle_doctor::gather::{Case, SignIns, StoredToken, examine, prepare};
use pintle_doctor::{
    DoctorOptions, Facts, Finding, Permission, Severity, diagnose, diagnose_files,
};
use pintle_hosts::{
    ConfigError, Endpoint, Environment, Input, Listed, LocalFiles, Named, Platform, ServerRegistry,
    Target,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::access::Access;
use crate::args::{AccessSettings, DoctorArgs, Format};
use crate::ask::Prompter;
use crate::consent;
use crate::exit::{CliError, Exit};
use crate::live::Live;
use crate::output;
use crate::screen::Screen;
use crate::show;
use crate::text;

/// Examines servers and prints the findings.
///
/// # Errors
///
/// Exit code 8 if a finding is an error.
pub(super) async fn run(args: &DoctorArgs) -> Result<(), CliError> {
    let screen = Screen::look();
    let live = Arc::new(Live::new(screen.notes));
    let (cases, files, unknown) = prepared(args, screen, &live)?;
    let options = options(args);
    let left_out = cases.len().saturating_sub(options.max_servers);
    let servers = examined(cases, options, &live).await?;
    let findings: Vec<Finding> = servers.iter().flat_map(diagnose).collect();
    let report = show::DoctorReport {
        servers: &servers,
        files: &files,
        findings: &findings,
        left_out,
    };
    match Format::from(args.json) {
        Format::Json => output::json(&screen, &report.json())?,
        Format::Text => output::result(report.text(screen.output).as_bytes())?,
    }
    if let Some(error) = unknown {
        return Err(error.into());
    }
    let all = files.iter().chain(&findings);
    let errors = all
        .filter(|finding| finding.rule.severity == Severity::Error)
        .count();
    match errors {
        0 => Ok(()),
        _ => {
            let count = text::counted(errors, "error");
            Err(CliError::new(
                Exit::Findings,
                format!("the diagnosis has {count}"),
            ))
        }
    }
}

fn options(args: &DoctorArgs) -> DoctorOptions {
    let mut options = DoctorOptions::default();
    if let Some(timeout) = args.timeout {
        options.max_start_timeout = timeout;
        options.request_timeout = timeout.min(options.request_timeout);
        options.list_timeout = timeout.min(options.list_timeout);
    }
    options
}

/// The cases, the findings about files, and the error of a name that no file defines.
type Prepared = (Vec<Case>, Vec<Finding>, Option<ConfigError>);

/// Reads the files, and prepares the servers that the user named and agreed to.
fn prepared(args: &DoctorArgs, screen: Screen, live: &Arc<Live>) -> Result<Prepared, CliError> {
    let here = env::current_dir()?;
    let var = |name: &str| env::var(name).ok();
    let environment = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let registry = match &args.config {
        Some(file) => match ServerRegistry::of_file(&environment, file) {
            Ok(registry) => registry,
            Err(error) => return Ok((Vec::new(), diagnose_files(&[error], &[]), None)),
        },
        None => ServerRegistry::open(&environment),
    };
    let findings = diagnose_files(&registry.errors, &registry.file_faults(&environment));
    let named = Named::from(args.target.trim_start_matches('@'));
    let (chosen, unknown) = chosen(&registry, named);
    let findings = of_target(findings, &registry, named, &chosen);
    let prompter = Prompter::new(&args.inputs, &[], screen, Arc::clone(live));
    let sign_ins = UserSignIns(AccessSettings::default());
    // A question for each server of all hosts would be too many.
    let is_alone = chosen.len() == 1;
    let mut ask = |input: &Input| prompter.input(input);
    let cases = chosen.into_iter().map(|listed| {
        let is_given = match is_alone {
            true => consent::require(listed, &environment, args.trust, &prompter).is_ok(),
            false => consent::is_given(listed, &environment, args.trust),
        };
        let permission = match is_given {
            true => Permission::Use,
            false => Permission::ReadDefinition,
        };
        prepare(
            listed,
            &registry,
            &environment,
            permission,
            &sign_ins,
            &mut ask,
        )
    });
    Ok((cases.collect(), findings, unknown))
}

/// Returns the servers of a target: all of them, those of a host, or those of a name.
fn chosen<'r>(
    registry: &'r ServerRegistry,
    named: Named<'_>,
) -> (Vec<&'r Listed>, Option<ConfigError>) {
    let is_chosen = |listed: &&Listed| {
        let is_of_host = named.host.is_none_or(|host| listed.host.id == host);
        is_of_host && (named.name.is_empty() || listed.server.name == named.name)
    };
    let chosen: Vec<&Listed> = registry.servers.iter().filter(is_chosen).collect();
    let unknown = match chosen.is_empty() && !named.name.is_empty() {
        true => registry.find(named).err(),
        false => None,
    };
    (chosen, unknown)
}

/// Returns the findings about the files of a target: those of the named server, of the named host, or all.
fn of_target(
    mut findings: Vec<Finding>,
    registry: &ServerRegistry,
    named: Named<'_>,
    chosen: &[&Listed],
) -> Vec<Finding> {
    let is_one = !named.name.is_empty() && !chosen.is_empty();
    findings.retain(|finding| match (is_one, named.host) {
        (true, _) => chosen.iter().any(|listed| listed.file == finding.file),
        (false, Some(host)) => {
            let mut files = registry.files.iter();
            files.any(|file| file.host.id == host && file.path == finding.file)
        }
        (false, None) => true,
    });
    findings
}

/// Examines the servers, some at the same time. The facts have the order of the cases.
async fn examined(
    cases: Vec<Case>,
    options: DoctorOptions,
    live: &Live,
) -> Result<Vec<Facts>, CliError> {
    let permits = Arc::new(Semaphore::new(options.max_running_servers));
    let options = Arc::new(options);
    let mut running = JoinSet::new();
    for (index, case) in cases.into_iter().take(options.max_servers).enumerate() {
        let (permits, options) = (Arc::clone(&permits), Arc::clone(&options));
        running.spawn(async move {
            let _permit = permits.acquire().await;
            (index, examine(case, &options).await)
        });
    }
    let count = running.len();
    let mut found = Vec::with_capacity(count);
    while let Some(ended) = running.join_next().await {
        found.push(ended.map_err(std::io::Error::other)?);
        if live.is_terminal() {
            live.draw(&format!("examined {} of {count} servers", found.len()));
        }
    }
    live.clear();
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, facts)| facts).collect())
}

/// The stored sign-ins of the user.
struct UserSignIns(AccessSettings);

impl SignIns for UserSignIns {
    fn token(&self, endpoint: &Endpoint) -> Option<StoredToken> {
        let access = Access::of(&Target::Url(endpoint.clone()), &self.0).ok()??;
        let issued = access.issued_tokens().ok()??;
        // A bound token is not valid without a proof of its key.
        (!issued.tokens.is_bound).then(|| StoredToken {
            access: issued.tokens.access.clone(),
            expires: issued.tokens.expires,
            is_renewable: issued.tokens.refresh.is_some(),
        })
    }
}
