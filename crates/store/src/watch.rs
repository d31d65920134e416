//! Those who wait for changes.
//!
//! Watchers are kept by prefix. A changed key is cut to every length that a prefix has, so that
//! ten thousand watchers of ten thousand sessions cost one look-up.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::changes::Changes;
use crate::error::{LimitError, LimitKind};
use crate::key::{Key, Prefix};
use crate::limits::StoreLimits;
use crate::sync::Mutex;

/// All watchers of a store in this process, for implementations of a store.
#[derive(Debug)]
pub struct Watchers {
    rows: Mutex<Rows>,
    max_watchers: usize,
}

#[derive(Debug, Default)]
struct Rows {
    signals_by_prefix: BTreeMap<Prefix, Signals>,
    /// The lengths of prefixes, and how many prefixes have each. Sorted by length.
    count_by_length: Vec<(usize, usize)>,
    watchers: usize,
    next: u64,
}

/// The signals of the watchers of one prefix, by their ids. A new watcher has the largest id.
type Signals = Vec<(u64, Arc<Signal>)>;

impl Watchers {
    /// Creates a set without watchers. It accepts [`StoreLimits::max_watchers`].
    pub fn new(limits: &StoreLimits) -> Self {
        Self {
            rows: Mutex::default(),
            max_watchers: limits.max_watchers,
        }
    }

    /// Reports changes under a prefix from now on, until the result is dropped.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if there are too many watchers.
    pub fn changes(self: &Arc<Self>, prefix: &Prefix) -> Result<Changes, LimitError> {
        let watch = self.watch(prefix)?;
        Ok(Changes::new(move |cx| watch.poll_next(cx)))
    }

    fn watch(self: &Arc<Self>, prefix: &Prefix) -> Result<Watch, LimitError> {
        let most = self.max_watchers;
        let mut rows = self.rows.lock();
        if rows.watchers >= most {
            return Err(LimitError::new(LimitKind::Watchers, most));
        }
        let signal = Arc::new(Signal::default());
        let id = rows.add(prefix, Arc::clone(&signal));
        Ok(Watch {
            watchers: Arc::clone(self),
            prefix: prefix.clone(),
            id,
            signal,
        })
    }

    /// Wakes the watchers of `key`.
    pub fn notify(&self, key: &Key) {
        let signals = self.rows.lock().find(key);
        signals.iter().for_each(|signal| signal.raise());
    }

    /// Wakes every watcher, because any key may have changed.
    pub fn notify_all(&self) {
        let signals = self.rows.lock().all();
        signals.iter().for_each(|signal| signal.raise());
    }

    /// Ends every watch.
    pub fn close(&self) {
        let rows = std::mem::take(&mut *self.rows.lock());
        for (_, signal) in rows.signals_by_prefix.into_values().flatten() {
            signal.close();
        }
    }
}

impl Rows {
    fn add(&mut self, prefix: &Prefix, signal: Arc<Signal>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.watchers += 1;
        let signals = self.signals_by_prefix.entry(prefix.clone()).or_default();
        let is_new = signals.is_empty();
        signals.push((id, signal));
        if is_new {
            self.count(prefix.as_str().len());
        }
        id
    }

    fn remove(&mut self, prefix: &Prefix, id: u64) {
        let Some(signals) = self.signals_by_prefix.get_mut(prefix) else {
            return;
        };
        if let Ok(place) = signals.binary_search_by_key(&id, |(id, _)| *id) {
            signals.remove(place);
            self.watchers -= 1;
        }
        if signals.is_empty() {
            self.signals_by_prefix.remove(prefix);
            self.uncount(prefix.as_str().len());
        }
    }

    fn count(&mut self, length: usize) {
        match self.place_of(length) {
            Ok(place) => self.count_by_length[place].1 += 1,
            Err(place) => self.count_by_length.insert(place, (length, 1)),
        }
    }

    fn uncount(&mut self, length: usize) {
        let place = self.place_of(length).expect("every prefix is counted");
        let (_, count) = &mut self.count_by_length[place];
        *count -= 1;
        if *count == 0 {
            self.count_by_length.remove(place);
        }
    }

    fn place_of(&self, length: usize) -> Result<usize, usize> {
        let lengths = &self.count_by_length;
        lengths.binary_search_by_key(&length, |(length, _)| *length)
    }

    fn all(&self) -> Vec<Arc<Signal>> {
        let signals = self.signals_by_prefix.values().flatten();
        signals.map(|(_, signal)| Arc::clone(signal)).collect()
    }

    fn find(&self, key: &Key) -> Vec<Arc<Signal>> {
        let mut found = Vec::new();
        for (length, _) in &self.count_by_length {
            let prefix = key.as_str().get(..*length);
            let signals = prefix.and_then(|prefix| self.signals_by_prefix.get(prefix));
            found.extend(signals.into_iter().flatten().map(|(_, it)| Arc::clone(it)));
        }
        found
    }
}

/// One watch; dropping it ends it.
struct Watch {
    watchers: Arc<Watchers>,
    prefix: Prefix,
    id: u64,
    signal: Arc<Signal>,
}

impl Watch {
    /// Waits for the next change.
    fn poll_next(&self, cx: &Context<'_>) -> Poll<Option<()>> {
        self.signal.poll(cx)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watchers.rows.lock().remove(&self.prefix, self.id);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.prefix).finish()
    }
}

/// Raised by a change, lowered by the watcher.
#[derive(Debug, Default)]
struct Signal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_raised: bool,
    is_closed: bool,
    waker: Option<Waker>,
}

impl Signal {
    fn raise(&self) {
        self.set(|state| state.is_raised = true);
    }

    fn close(&self) {
        self.set(|state| state.is_closed = true);
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.state.lock();
            change(&mut state);
            state.waker.take()
        };
        // Outside of the lock: who is woken may poll at once.
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Option<()>> {
        let mut state = self.state.lock();
        if std::mem::take(&mut state.is_raised) {
            return Poll::Ready(Some(()));
        }
        if state.is_closed {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Namespace;

    const SPACE: Namespace = Namespace::fixed("tasks");

    fn key(name: &str) -> Key {
        Key::new(&SPACE, name).expect("a key")
    }

    /// Accepts one watcher.
    fn watchers() -> Arc<Watchers> {
        let limits = StoreLimits {
            max_watchers: 1,
            ..StoreLimits::default()
        };
        Arc::new(Watchers::new(&limits))
    }

    fn poll(watch: &Watch) -> Poll<Option<()>> {
        watch.poll_next(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_change_elsewhere_wakes_no_watcher() {
        let watchers = watchers();
        let watch = watchers.watch(&Prefix::from(key("ab"))).expect("room");
        for other in ["a", "ba", "aé"] {
            watchers.notify(&key(other));
        }
        assert_eq!(poll(&watch), Poll::Pending);

        watchers.notify(&key("abc"));
        watchers.notify(&key("ab"));
        assert_eq!(poll(&watch), Poll::Ready(Some(())));
        assert_eq!(poll(&watch), Poll::Pending);
    }

    #[test]
    fn a_change_of_any_key_wakes_every_watcher() {
        let watchers = watchers();
        let watch = watchers.watch(&Prefix::from(key("ab"))).expect("room");
        watchers.notify_all();
        assert_eq!(poll(&watch), Poll::Ready(Some(())));
    }

    #[test]
    fn a_watch_that_ended_leaves_nothing() {
        let watchers = watchers();
        let watch = watchers.watch(&Prefix::all(&SPACE)).expect("room");
        assert!(watchers.watch(&Prefix::all(&SPACE)).is_err());
        drop(watch);

        let rows = watchers.rows.lock();
        assert!(rows.signals_by_prefix.is_empty() && rows.count_by_length.is_empty());
        assert_eq!(rows.watchers, 0);
    }

    #[test]
    fn closing_ends_a_watch_after_its_last_change() {
        let watchers = watchers();
        let watch = watchers.watch(&Prefix::all(&SPACE)).expect("room");
        watchers.notify(&key("a"));
        watchers.close();

        assert_eq!(poll(&watch), Poll::Ready(Some(())));
        assert_eq!(poll(&watch), Poll::Ready(None));
    }
}
