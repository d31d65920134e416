//! Processes that have a mark, so that a test finds the processes that it caused.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pintle_process::Command;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Maximum time of a wait in a test. A test then fails, so that it cannot hang.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Name of the variable that holds a mark.
pub(crate) const MARK: &str = "PINTLE_TEST_MARK";

/// Returns a mark that is unique on this machine.
pub(crate) fn new_mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Returns a server of a few shell lines. Its descendants inherit its mark.
pub(crate) fn script(lines: &str, mark: &str) -> Command {
    Command::new("sh").args(["-c", lines]).env(MARK, mark)
}

/// A directory for one test. Dropping it deletes the directory.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("pintle-child-{}", new_mark()));
        fs::create_dir_all(&path).expect("made");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system deletes a directory that is left in its temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the ids of the living processes with this mark.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let variable = format!("{MARK}={mark}");
    let ids = fs::read_dir("/proc").expect("a list of processes");
    let ids = ids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id| is_alive(*id) && has(*id, &variable))
        .collect()
}

/// Waits until no process with this mark is left.
pub(crate) fn await_none(mark: &str) {
    let deadline = Instant::now() + TEST_TIMEOUT;
    loop {
        let left = marked(mark);
        if left.is_empty() {
            return;
        }
        for id in left {
            await_end(id, deadline);
        }
    }
}

/// Waits for the end of a process, which need not be a child.
pub(crate) fn await_end(id: u32, deadline: Instant) {
    let pid = Pid::from_raw(id.try_into().expect("an id")).expect("not 0");
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let mut ended = Err(Errno::INTR);
    while ended == Err(Errno::INTR) {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).expect("not long");
        ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left));
    }
    assert_eq!(
        ended,
        Ok(1),
        "process {id} still runs: {}",
        command_line(id)
    );
}

/// Returns the id of a process's group.
pub(crate) fn group_of(id: u32) -> u32 {
    let about = fs::read_to_string(file(id, "stat")).expect("it runs");
    let (_, after_name) = about.rsplit_once(") ").expect("a name");
    let group = after_name.split(' ').nth(2).expect("a group");
    group.parse().expect("a number")
}

fn is_alive(id: u32) -> bool {
    let about = fs::read_to_string(file(id, "stat")).unwrap_or_default();
    let after_name = about.rsplit_once(") ");
    after_name.is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

fn has(id: u32, variable: &str) -> bool {
    let variables = fs::read(file(id, "environ")).unwrap_or_default();
    variables
        .split(|byte| *byte == 0)
        .any(|one| one == variable.as_bytes())
}

fn command_line(id: u32) -> String {
    fs::read_to_string(file(id, "cmdline"))
        .unwrap_or_default()
        .replace('\0', " ")
}

fn file(id: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{id}/{name}"))
}
