//! Starts a program as its host would, and ends it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pintle::process::{ChildExit, ChildOptions, Command, Supervisor};
use pintle_hosts::{ChildEnvironment, PathSource, Program, Target};
use tokio::time::{Instant, sleep, timeout};

use super::Prepared;
use super::conversation::{Hosted, converse};
use super::leftovers::{MARK, is_running, left, new_mark};
use super::lookup::{Search, host_path};
use super::once::{Once, Strays};
use crate::facts::{Conversation, Ending, Failure, Lookup, Place, ProgramFacts, RunFacts};
use crate::options::DoctorOptions;
use crate::redact::Secrets;

/// Time from the exit of a program until its descendants are counted. They end with its streams.
const LINGER: Duration = Duration::from_millis(400);
/// Interval between two looks at a process.
const POLL: Duration = Duration::from_millis(20);
/// Time that a program which closed its output has to exit.
const CRASH: Duration = Duration::from_secs(1);

/// Examines a program.
pub(super) async fn examine(
    program: &Program,
    prepared: &Prepared,
    place: &Place,
    start_timeout: Duration,
    options: &DoctorOptions,
) -> ProgramFacts {
    let directory = working_directory(program, prepared, place);
    let shell_path = std::env::var("PATH").unwrap_or_default();
    let own_path = program.environment.iter().rfind(|(name, _)| name == "PATH");
    let (path, is_assumed) = match own_path {
        Some((_, path)) => (path.clone(), false),
        None => host_path(place.rules.path, &shell_path),
    };
    let others = [
        place.file.parent().map(Path::to_owned),
        std::env::current_dir().ok(),
    ];
    let search = Search {
        directory: &directory,
        path: &path,
        is_assumed,
        shell_path: &shell_path,
        home: prepared.home.as_deref(),
        others: others
            .into_iter()
            .flatten()
            .chain(program.directory.clone())
            .collect(),
    };
    let lookup = search.program(&program.command);
    let mut facts = ProgramFacts {
        command: program.command.clone(),
        missing_file: search.missing_file(&program.arguments),
        has_directory: directory.is_dir(),
        lookup,
        directory,
        run: None,
    };
    let file = match &facts.lookup {
        Lookup::Found(file)
        | Lookup::OffPath { found: file, .. }
        | Lookup::WrongDirectory(file) => file.clone(),
        Lookup::NotExecutable(_) | Lookup::Missing => return facts,
    };
    if facts.has_directory {
        let mark = new_mark();
        let command =
            command(&file, program, &facts.directory, path, place, options).env(MARK, &mark);
        let secrets = Secrets::of(&Target::Program(program.clone()));
        facts.run = Some(run(&command, &mark, place, start_timeout, &secrets, options).await);
    }
    facts
}

/// Returns the working directory: that of the definition, or that of the host. A desktop starts hosts elsewhere.
fn working_directory(program: &Program, prepared: &Prepared, place: &Place) -> PathBuf {
    let is_desktop = place.rules.path == PathSource::Desktop && !prepared.has_directory;
    let of_desktop = match cfg!(target_os = "macos") {
        true => Some(PathBuf::from("/")),
        false => prepared.home.clone(),
    };
    let given = program.directory.clone();
    let directory = if is_desktop {
        of_desktop.or(given)
    } else {
        given
    };
    directory.unwrap_or_else(|| PathBuf::from("."))
}

fn command(
    file: &Path,
    program: &Program,
    directory: &Path,
    path: String,
    place: &Place,
    options: &DoctorOptions,
) -> Command {
    let mut child = ChildOptions::default();
    // The end of the input is awaited before.
    child.exit_timeout = Duration::from_millis(100);
    child.terminate_timeout = Duration::from_secs(1);
    child.descendants_timeout = LINGER;
    child.max_stderr_bytes = options.max_stderr_bytes;
    let mut command = Command::new(file).options(child);
    if place.rules.environment == ChildEnvironment::All {
        command = command.inherit_all_env();
    }
    command
        .env("PATH", path)
        .args(program.arguments.iter().cloned())
        .envs(program.environment.iter().cloned())
        .current_dir(directory)
}

async fn run(
    command: &Command,
    mark: &str,
    place: &Place,
    start_timeout: Duration,
    secrets: &Secrets,
    options: &DoctorOptions,
) -> RunFacts {
    let strays = Strays::new(options);
    let mut facts = RunFacts {
        start_timeout,
        strays: Vec::new(),
        stray_count: 0,
        conversation: Err(Failure::Ended),
        stderr: String::new(),
        crash: None,
        ending: Ending::default(),
    };
    let server = match command.start() {
        Ok(server) => server,
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            facts.conversation = Err(Failure::Other(format!(
                "{error}{}",
                source.unwrap_or_default()
            )));
            return facts;
        }
    };
    let supervisor = Arc::new(server.supervisor);
    let connect = Once::new(server.stdout, server.stdin, &strays, options);
    let hosted = Hosted {
        address: &place.address,
        start_timeout,
        secrets,
        options,
    };
    let conversation = converse(connect, hosted).await;
    if matches!(conversation, Err(Failure::Ended)) {
        let exit = timeout(CRASH, supervisor.ended()).await;
        facts.crash = exit.ok().map(|exit| status(&exit));
    }
    facts.ending = end(&supervisor, mark, &conversation, options).await;
    facts.conversation = conversation;
    facts.stderr = secrets.hide(&supervisor.stderr());
    let (lines, count) = strays.found();
    facts.strays = lines.iter().map(|line| secrets.hide(line)).collect();
    facts.stray_count = count;
    facts
}

/// Waits for the exit of a program whose input has ended, and counts the processes that it left.
async fn end(
    supervisor: &Supervisor,
    mark: &str,
    conversation: &Result<Conversation, Failure>,
    options: &DoctorOptions,
) -> Ending {
    let deadline = Instant::now() + options.exit_timeout;
    let mut ending = Ending::default();
    let has_ended = match is_running(supervisor.id()) {
        Some(_) => {
            while is_running(supervisor.id()) == Some(true) && Instant::now() < deadline {
                sleep(POLL).await;
            }
            is_running(supervisor.id()) == Some(false)
        }
        None => timeout(options.exit_timeout + LINGER, supervisor.ended())
            .await
            .is_ok(),
    };
    match has_ended {
        // A program that never answered is a fault of its own.
        false => ending.stays = conversation.is_ok(),
        true => {
            sleep(LINGER / 2).await;
            ending.left = left(mark);
        }
    }
    supervisor.end().await;
    ending
}

fn status(exit: &ChildExit) -> String {
    exit.status()
        .map_or_else(|| "status unknown".to_owned(), |status| status.to_string())
}
