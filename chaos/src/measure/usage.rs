//! What processes have used, as Linux counts it.

use std::fs;
use std::time::Duration;

use super::Result;

/// Length of a clock tick of `/proc`.
const TICK: Duration = Duration::from_millis(10);
const PAGE_BYTES: u64 = 4_096;

/// The CPU time and the memory of processes.
pub(super) struct Usage {
    pub(super) cpu: Duration,
    pub(super) memory_bytes: u64,
}

impl Usage {
    /// Adds up the processes of these ids.
    pub(super) fn of(ids: &[u32]) -> Result<Self> {
        let mut usage = Self {
            cpu: Duration::ZERO,
            memory_bytes: 0,
        };
        for id in ids {
            let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
            let pages = fs::read_to_string(format!("/proc/{id}/statm"))?;
            usage.cpu += TICK * ticks(&stat).ok_or("invalid stat")?;
            let resident = pages.split(' ').nth(1).ok_or("invalid statm")?;
            usage.memory_bytes += resident.parse::<u64>()? * PAGE_BYTES;
        }
        Ok(usage)
    }
}

/// Returns the ticks in user space and in the system. The second field, a name, may contain spaces.
fn ticks(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let (user, system) = (fields.next()?, fields.next()?);
    Some(user.parse::<u32>().ok()? + system.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ticks_of_a_process_are_those_of_user_and_system() {
        let stat = "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 300 21 0 0 20";
        assert_eq!(ticks(stat), Some(321));
    }
}
