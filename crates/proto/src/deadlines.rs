//! Until when calls are waited for, the earliest first.
//!
//! A call that is closed, or waits anew, leaves its old instant behind. It is passed over once it
//! comes first, and all such are swept out before they outnumber the calls: so neither asking for the
//! first instant nor changing one looks at every call.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// How many instants there may be beyond two for each call.
const SPARE: usize = 16;

/// Instants with the numbers of their calls.
#[derive(Debug)]
pub(crate) struct Deadlines<T = Instant> {
    heap: BinaryHeap<Reverse<(T, u64)>>,
}

impl<T: Ord + Copy> Deadlines<T> {
    /// Notes until when a call is waited for from now on.
    pub(crate) fn note(&mut self, call: u64, at: T) {
        self.heap.push(Reverse((at, call)));
    }

    /// The earliest instant and its call, if [`Deadlines::sweep`] was called since the last change.
    pub(crate) fn first(&self) -> Option<(T, u64)> {
        self.heap.peek().map(|Reverse(first)| *first)
    }

    /// Removes outdated instants from the top of the heap, after a change. `open` calls are left, `holds` returns whether an instant
    /// is still that of its call, and `all` yields every call with its instant.
    pub(crate) fn sweep<I: Iterator<Item = (T, u64)>>(
        &mut self,
        open: usize,
        holds: impl Fn(T, u64) -> bool,
        all: impl FnOnce() -> I,
    ) {
        if self.heap.len() > 2 * open + SPARE {
            self.heap = all().map(Reverse).collect();
        }
        while let Some(Reverse((at, call))) = self.heap.peek()
            && !holds(*at, *call)
        {
            self.heap.pop();
        }
    }
}

impl<T: Ord> Default for Deadlines<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::cmp::Ordering;
    use std::collections::BTreeMap;

    use super::*;

    thread_local! {
        static LOOKS: Cell<u64> = const { Cell::new(0) };
    }

    /// An instant that counts how often it is looked at.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Tick(u64);

    impl Ord for Tick {
        fn cmp(&self, other: &Self) -> Ordering {
            LOOKS.set(LOOKS.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Tick {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    /// Calls with their instants, kept twice: as they are, and as deadlines.
    #[derive(Default)]
    struct Calls {
        rows: BTreeMap<u64, u64>,
        deadlines: Deadlines<Tick>,
    }

    impl Calls {
        fn wait(&mut self, call: u64, until: u64) {
            if self.rows.insert(call, until) != Some(until) {
                self.deadlines.note(call, Tick(until));
            }
            self.sweep();
        }

        fn close(&mut self, call: u64) {
            self.rows.remove(&call);
            self.sweep();
        }

        fn sweep(&mut self) {
            let rows = &self.rows;
            let holds = |at: Tick, call| {
                LOOKS.set(LOOKS.get() + 1);
                rows.get(&call) == Some(&at.0)
            };
            let all = || rows.iter().map(|(call, at)| (Tick(*at), *call));
            self.deadlines.sweep(rows.len(), holds, all);
        }

        fn assert_exact(&self) {
            let first = self.rows.iter().map(|(call, at)| (*at, *call)).min();
            let found = self.deadlines.first().map(|(at, call)| (at.0, call));
            assert_eq!(found, first);
            assert!(self.deadlines.heap.len() <= 2 * self.rows.len() + SPARE);
        }
    }

    #[test]
    fn the_first_instant_is_that_of_a_call_whatever_became_of_the_others() {
        let mut calls = Calls::default();
        let mut dice = 7_u64;
        for _ in 0..20_000 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (call, until) = (dice >> 33 & 31, dice >> 40 & 63);
            match dice >> 60 {
                0..=5 => calls.close(call),
                _ => calls.wait(call, until),
            }
            calls.assert_exact();
        }
    }

    // Each call looks at a few of the others, not at all of them.
    #[test]
    fn thousands_of_calls_cost_no_more_each_than_a_few() {
        const CALLS: u64 = 8_192;
        let looks_each = |act: &dyn Fn(&mut Calls, u64)| {
            let mut calls = Calls::default();
            (0..CALLS).for_each(|call| calls.wait(call, call));
            let before = LOOKS.get();
            for nth in 0..10 * CALLS {
                act(&mut calls, nth);
                calls.deadlines.first();
            }
            (LOOKS.get() - before) / (10 * CALLS)
        };
        // The first waits anew, the last does, each ends and another begins.
        let first_anew = looks_each(&|calls, nth| calls.wait(nth % CALLS, CALLS + nth));
        let last_anew = looks_each(&|calls, nth| calls.wait(CALLS - 1, CALLS + nth));
        let in_turns = looks_each(&|calls, nth| {
            calls.close(nth);
            calls.wait(CALLS + nth, CALLS + nth);
        });
        for looks in [first_anew, last_anew, in_turns] {
            assert!(looks <= 64, "{looks} looks each");
        }
    }
}
