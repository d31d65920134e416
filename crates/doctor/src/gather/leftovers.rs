//! Processes that a server leaves: they have the mark of its environment. Only Linux shows it.

use crate::facts::LeftProcess;

/// The variable that marks the processes of one examination. A server inherits it to its descendants.
pub const MARK: &str = "PINTLE_DOCTOR_RUN";

/// Number of processes that are listed for one server.
#[cfg(target_os = "linux")]
const PROCESSES: usize = 8;
/// Size of the environment of a process that is read, in bytes.
#[cfg(target_os = "linux")]
const ENVIRON_BYTES: u64 = 256 << 10;

/// Returns a mark that is unique on this machine.
pub(super) fn new_mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Returns true if a process runs; `None` if the system does not show it.
#[cfg(target_os = "linux")]
pub(super) fn is_running(id: u32) -> Option<bool> {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
        return Some(false);
    };
    // The name of the program, in parentheses, may have blanks; the state follows it.
    let (_, rest) = stat.rsplit_once(')')?;
    Some(!rest.trim_start().starts_with(['Z', 'X']))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_running(_: u32) -> Option<bool> {
    None
}

/// Returns the running processes with a mark.
#[cfg(target_os = "linux")]
pub(super) fn left(mark: &str) -> Vec<LeftProcess> {
    let variable = format!("{MARK}={mark}");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let marked = ids.filter(|id| has(*id, &variable) && is_running(*id) == Some(true));
    let processes = marked.map(|id| LeftProcess {
        id,
        program: program(id),
    });
    processes.take(PROCESSES).collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn left(_: &str) -> Vec<LeftProcess> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn has(id: u32, variable: &str) -> bool {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/{id}/environ"));
    let read = file.and_then(|file| file.take(ENVIRON_BYTES).read_to_end(&mut bytes));
    read.is_ok()
        && bytes
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable.as_bytes())
}

/// Returns the name of a program without its arguments, which may have secrets.
#[cfg(target_os = "linux")]
fn program(id: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    name.trim().to_owned()
}
