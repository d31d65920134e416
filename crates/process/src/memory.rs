//! The memory of a process group, which Linux reports.

use std::time::Duration;
#[cfg(target_os = "linux")]
use std::{fs, path::Path};

use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// Time between two looks at the memory.
const INTERVAL: Duration = Duration::from_secs(1);

/// Waits until the processes of a group have more resident memory than a limit. Waits without end
/// if the limit is `None`, and on systems that do not report memory.
pub(super) async fn exceeds(group: u32, most: Option<u64>) {
    let Some(most) = most.filter(|_| cfg!(target_os = "linux")) else {
        return std::future::pending().await;
    };
    loop {
        sleep(INTERVAL).await;
        let bytes = spawn_blocking(move || resident_bytes(group)).await;
        if bytes.is_ok_and(|bytes| bytes > most) {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes(_group: u32) -> u64 {
    0
}

/// Returns the resident memory of all processes of a group. Memory that they share counts for each of them.
#[cfg(target_os = "linux")]
fn resident_bytes(group: u32) -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_group = processes.filter(|process| group_of(&process.path()) == Some(group));
    of_group
        .filter_map(|process| resident_of(&process.path()))
        .sum()
}

#[cfg(target_os = "linux")]
fn group_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name of the program may have any text. State and parent follow it.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(2)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn resident_of(process: &Path) -> Option<u64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory() {
        let own = Path::new("/proc/self");
        let bytes = resident_of(own).expect("a size");
        assert!(bytes > 1 << 20, "{bytes}");
        let group = group_of(own).expect("a group");
        assert!(resident_bytes(group) >= bytes / 2);
        assert_eq!(resident_bytes(u32::MAX), 0);
    }
}
