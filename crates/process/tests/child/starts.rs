//! Starts of servers: arguments, environment, directory, and errors.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use pintle_process::{Command, SpawnError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::child::processes::{MARK, Scratch, group_of, new_mark, script};

/// Returns the whole output of a server that gets no input.
async fn output(command: Command) -> Vec<u8> {
    let mut server = command.start().expect("it starts");
    drop(server.stdin);
    let mut output = Vec::new();
    let read = server.stdout.read_to_end(&mut output).await;
    read.expect("readable");
    output
}

// spec: 2025-11-25 TRANS-STDIO-01, TRANS-GEN-01
#[tokio::test]
async fn the_streams_carry_bytes_to_the_server_and_from_it() {
    let mut server = Command::new("cat").start().expect("it starts");

    server.stdin.write_all(b"{}\n").await.expect("it reads");
    let mut line = [0; 3];
    server
        .stdout
        .read_exact(&mut line)
        .await
        .expect("it writes");

    assert_eq!(&line, b"{}\n");
    assert_eq!(server.end().await.status().and_then(|s| s.code()), Some(0));
}

// hardening: H-73
#[tokio::test]
async fn arguments_arrive_byte_for_byte() {
    let args: Vec<OsString> = [
        b"two words".to_vec(),
        b"; rm -rf /".to_vec(),
        b"&& true".to_vec(),
        b"$(id) `id` $HOME".to_vec(),
        b"\"' \\ \n * ~".to_vec(),
        b"".to_vec(),
        b"\xff\xfe".to_vec(),
    ]
    .map(OsString::from_vec)
    .into();
    let command = Command::new("printf").arg("%s\\0").args(args.clone());

    let output = output(command).await;

    let arrived = output.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let mut expected: Vec<Vec<u8>> = args.into_iter().map(OsString::into_vec).collect();
    expected.push(Vec::new());
    assert_eq!(arrived.collect::<Vec<_>>(), expected);
}

// hardening: H-73
#[tokio::test]
async fn a_name_with_spaces_is_not_a_command_line() {
    let error = Command::new("cat /etc/passwd")
        .start()
        .expect_err("no such program");
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
}

// spec: 2026-07-28 N-STDIO-12
// spec: 2025-11-25 AUTH-03
// hardening: H-74
#[tokio::test]
async fn the_environment_is_minimal_and_has_the_named_variables() {
    let here = std::env::var("CARGO_MANIFEST_DIR");
    assert!(
        here.is_ok(),
        "the host has variables that are not on the list"
    );
    let command = Command::new("env")
        .env(MARK, "a b")
        .inherit_env("CARGO_PKG_NAME");

    let output = String::from_utf8(output(command).await).expect("text");

    let safe = [
        "HOME",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    ];
    let mut expected: Vec<String> = std::env::vars()
        .filter(|(name, _)| safe.contains(&name.as_str()) || name == "CARGO_PKG_NAME")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    expected.push(format!("{MARK}=a b"));
    expected.sort();
    let mut variables: Vec<&str> = output.lines().collect();
    variables.sort();
    assert_eq!(variables, expected);
}

#[tokio::test]
async fn variables_with_names_invalid_in_a_shell_are_passed_on() {
    let command = Command::new("env").env("npm_config_//registry.example/:token", "t");

    let output = String::from_utf8(output(command).await).expect("text");

    assert!(
        output.contains("npm_config_//registry.example/:token=t\n"),
        "{output}"
    );
}

#[tokio::test]
async fn the_program_is_looked_up_in_the_path_of_the_server() {
    let scratch = Scratch::new();
    let here = scratch.path();
    symlink("/bin/echo", here.join("only-here")).expect("made");

    let command = Command::new("only-here").arg("found").env("PATH", here);
    assert_eq!(output(command).await, b"found\n");

    let error = Command::new("only-here").start().expect_err("not in ours");
    assert_eq!(error.to_string(), "there is no program only-here to start");
}

#[tokio::test]
async fn the_server_starts_in_the_directory_it_is_given() {
    let scratch = Scratch::new();
    let here = scratch.path();
    symlink("/bin/pwd", here.join("run")).expect("made");

    let output = output(Command::new("./run").arg("-P").current_dir(here)).await;

    let there = String::from_utf8(output).expect("text");
    assert_eq!(
        fs::canonicalize(here).expect("there"),
        fs::canonicalize(there.trim()).expect("there")
    );
}

#[tokio::test]
async fn a_failed_start_returns_an_error_with_its_reason() {
    let scratch = Scratch::new();
    let here = scratch.path();
    fs::write(here.join("notes"), "words").expect("written");

    let error = Command::new("./notes")
        .current_dir(here)
        .start()
        .expect_err("no program");
    assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error}");

    let error = Command::new("cat")
        .current_dir(here.join("away"))
        .start()
        .expect_err("no place");
    assert!(matches!(error, SpawnError::NoDirectory { .. }), "{error}");

    make_executable(&here.join("notes"));
    fs::write(here.join("notes"), b"\x7fELF but not really").expect("written");
    let error = Command::new("./notes")
        .current_dir(here)
        .start()
        .expect_err("no program");
    assert!(matches!(error, SpawnError::Failed { .. }), "{error}");
}

/// A signal of a terminal to the host, such as an interrupt, does not reach the server.
#[tokio::test]
async fn the_server_is_not_in_the_process_group_of_the_host() {
    let mark = new_mark();
    let server = script("cat", &mark).start().expect("it starts");
    let (ours, its) = (
        group_of(std::process::id()),
        group_of(server.supervisor.id()),
    );

    assert_ne!(its, ours);
    assert_ne!(its, server.supervisor.id(), "the keeper leads the group");
    assert_eq!(group_of(its), its);
    server.end().await;
}

fn make_executable(file: &Path) {
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("set");
}
