//! The ids of tasks, and the names of their records.

use std::sync::atomic::{AtomicU64, Ordering};

use pintle_model::Error;
use pintle_runtime::random_bytes;
use pintle_store::StoreTime;

/// Length of the time in front of an id, in hexadecimal digits.
const TIME_DIGITS: usize = 12;
/// Random bytes of an id: 128 bits that nobody guesses.
pub(super) const RANDOM_BYTES: usize = 16;

/// The ids that this process gives to tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskIds {
    /// The time in the last id: those of one process are in the order of their tasks.
    last_time: AtomicU64,
}

impl TaskIds {
    /// An id that sorts by time and that nobody guesses.
    ///
    /// # Errors
    ///
    /// -32603 if there is no randomness.
    pub(crate) fn next(&self, now: StoreTime) -> Result<String, Error> {
        let random = random_bytes::<RANDOM_BYTES>().map_err(|_| Error::internal())?;
        let after =
            |last: u64| Some(now.as_millis().max(last + 1) & ((1 << (4 * TIME_DIGITS)) - 1));
        let last = self
            .last_time
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        let time = last.ok().and_then(after).unwrap_or_default();
        Ok(format!("{time:0TIME_DIGITS$x}{}", hex(&random)))
    }
}

/// The name of a task's record. Those of one owner stand together, in the order of their ids.
pub(super) fn name_of(owner: Option<&str>, id: &str) -> String {
    format!("{}{id}", prefix_of(owner))
}

/// What the names of an owner's records begin with. Two owners may share it by chance: the record
/// says whose it is.
pub(super) fn prefix_of(owner: Option<&str>) -> String {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let digest = |id: &str| id.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    match owner {
        Some(id) => format!("p{:016x}.", digest(id)),
        None => "anybody.".to_owned(),
    }
}

/// Whether a text can be an id of ours at all.
pub(super) fn is_id(id: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    id.len() == TIME_DIGITS + 2 * RANDOM_BYTES && id.bytes().all(is_digit)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 TASK-32, TASK-33, TASK-34, TASK-81
    // spec: 2026-07-28 X-TASK-12
    // hardening: H-22
    #[test]
    fn ids_sort_by_time_and_differ_by_128_random_bits() {
        let task_ids = TaskIds::default();
        let id = |millis| {
            task_ids
                .next(StoreTime::from_millis(millis))
                .expect("randomness")
        };
        let ids: Vec<String> = (0..1_000).map(|_| id(7)).collect();
        assert!(ids.iter().all(|id| is_id(id)));
        assert!(ids.is_sorted() && ids[0].starts_with("000000000007"));
        assert!(id(0xabcdef).starts_with("000000abcdef"));
        for bit in 0..4 * 2 * RANDOM_BYTES {
            let digit = |id: &String| u8::from_str_radix(&id[TIME_DIGITS + bit / 4..][..1], 16);
            let is_set = |id: &String| digit(id).expect("hexadecimal") & (1 << (bit % 4)) != 0;
            let set = ids.iter().filter(|id| is_set(id)).count();
            assert!((300..700).contains(&set), "bit {bit} is set {set} times");
        }
    }

    #[test]
    fn an_invalid_id_is_not_looked_up() {
        let id = "0".repeat(44);
        assert!(is_id(&id));
        for other in [
            "",
            "x",
            &id[1..],
            &id.replace('0', "A"),
            &format!("{id}0"),
            "../../etc",
        ] {
            assert!(!is_id(other), "{other}");
        }
    }
}
