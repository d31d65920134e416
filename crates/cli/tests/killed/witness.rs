//! A witness that detects whether a process is left.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::killed::TEST_TIMEOUT;

/// The reading end of a pipe. The server opens it, and its descendants inherit it. The pipe ends
/// with the last of them.
pub(crate) struct Witness {
    path: PathBuf,
    pipe: BufReader<Receiver>,
    /// Held until the server has opened the pipe, because a pipe without a writer is at its end.
    opened: Option<Sender>,
}

/// The server's process, its descendant, and the leader of their group. Their descriptors cannot
/// mean other processes later.
pub(crate) struct Server {
    processes: Vec<OwnedFd>,
    number: String,
}

impl Witness {
    pub(crate) fn new(round: usize) -> Self {
        let name = format!("pintle-killed-{}-{round}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let pipe = OpenOptions::new().open_receiver(&path).expect("opened");
        let opened = OpenOptions::new().open_sender(&path).expect("opened");
        Self {
            path,
            pipe: BufReader::new(pipe),
            opened: Some(opened),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the server has written the ids of its processes.
    pub(crate) async fn server(&mut self) -> Server {
        let mut line = String::new();
        let read = timeout(TEST_TIMEOUT, self.pipe.read_line(&mut line)).await;
        read.expect("in time").expect("readable");
        self.opened = None;
        let (server, left) = line.trim().split_once(' ').expect("two numbers");
        let group = group_of(server);
        assert_eq!(group_of(left), group, "they are in one group");
        Server {
            processes: [server, left, &group].map(watched).into(),
            number: server.to_owned(),
        }
    }

    /// Waits until no process holds the other end.
    pub(crate) async fn closed(&mut self) {
        let mut rest = Vec::new();
        self.pipe.read_to_end(&mut rest).await.expect("readable");
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Server {
    /// Whether the server still runs. A test of an ended server would show nothing.
    pub(crate) fn runs(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.number));
        stat.is_ok_and(|stat| !after_name(&stat).starts_with('Z'))
    }

    /// Kills the server, but not its descendant.
    pub(crate) fn kill(&self) {
        pidfd_send_signal(&self.processes[0], Signal::KILL).expect("killed");
    }

    /// Waits until the server, its descendant and the keeper of their group have ended.
    pub(crate) async fn ended(self) {
        for process in self.processes {
            let ended = spawn_blocking(move || has_ended(&process));
            assert!(ended.await.expect("watched"), "a process is left");
        }
    }
}

/// Waits for the end of a process. Returns false at the time limit.
fn has_ended(process: &OwnedFd) -> bool {
    let limit = Timespec::try_from(TEST_TIMEOUT).expect("not too long");
    loop {
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)) {
            Ok(ended) => return ended == 1,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("not watched: {error}"),
        }
    }
}

/// Opens a process to wait for it, although it is not a child of this one.
fn watched(number: &str) -> OwnedFd {
    let number = number
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process");
    pidfd_open(number, PidfdFlags::empty()).expect("it runs")
}

fn group_of(number: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).expect("it runs");
    let group = after_name(&stat).split(' ').nth(2);
    group.expect("a group").to_owned()
}

/// Returns the fields after the program's name: state, parent, group, … The name may have any text.
fn after_name(stat: &str) -> &str {
    stat.rsplit_once(") ").map_or("", |(_, rest)| rest)
}
