//! Memory of large buffers, which the allocator of glibc shall keep.
//!
//! glibc returns free memory at the end of its heap to the system, and fetches it again for the next buffer. Each page
//! costs a page fault, which for a text of 64 KiB takes as long as to write it. glibc keeps twice the size of the largest
//! block that it took from the system and that was freed (`M_MMAP_THRESHOLD` in `mallopt(3)`). Other allocators ignore it.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Buffers up to this capacity, in bytes, do not reach the limit at which glibc returns memory.
const SMALL: usize = 16 << 10;

/// Larger buffers are rare, and their memory is returned.
const MOST: usize = 1 << 20;

/// How many buffers, and texts from which they are written, a process keeps the memory of.
const KEPT: usize = 4;

/// The capacity of the largest buffer so far.
static LARGEST: AtomicUsize = AtomicUsize::new(SMALL);

/// Makes glibc keep the memory of buffers of this capacity when they are freed.
pub(super) fn keep_memory(capacity: usize) {
    if capacity > LARGEST.load(Ordering::Relaxed) && capacity <= MOST {
        LARGEST.fetch_max(capacity, Ordering::Relaxed);
        drop(black_box(Vec::<u8>::with_capacity(KEPT * capacity)));
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use crate::write::write_json;

    /// Page faults of this thread so far. The name of the program, in brackets, may contain spaces.
    fn page_faults() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux has it");
        let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
        let faults = fields.split(' ').nth(7).expect("the tenth field");
        faults.parse().expect("a number")
    }

    #[test]
    fn the_memory_of_a_large_text_is_not_fetched_again() {
        const TIMES: u64 = 200;
        let text = "a line of text\n".repeat(4_400);
        let answer = || {
            let result = text.clone();
            let mut out = Vec::with_capacity(512);
            write_json(&mut out, &result).expect("text is writable");
            (result, out)
        };
        // Three at a time are more than glibc keeps by itself.
        drop([answer(), answer(), answer()]);
        let before = page_faults();
        for _ in 0..TIMES {
            drop([answer(), answer(), answer()]);
        }
        let faults = page_faults() - before;
        assert!(faults < TIMES, "{faults} page faults for {TIMES} texts");
    }
}
