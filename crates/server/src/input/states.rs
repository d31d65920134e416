//! The places of states between rounds: a store, or this process.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use pintle_model::Error;
use pintle_runtime::BoxFuture;
use pintle_runtime::sync::Mutex;
use pintle_store::Key;

use super::seal::LIFE;

/// Bytes of all states in this process.
const MAX_BYTES: usize = 64 << 20;
/// Bytes that a state needs beside its value.
const OVERHEAD: usize = 160;

/// Stores states for [`LIFE`]. A trait, because only programs that set a store contain the code of stores.
pub(crate) trait States: Send + Sync {
    /// Stores a new state. Returns false if the key has one.
    ///
    /// # Errors
    ///
    /// -32603 without room, or if the store fails.
    fn put<'a>(&'a self, key: &'a Key, value: Bytes) -> BoxFuture<'a, Result<bool, Error>>;

    /// Returns a state, if it has not expired.
    ///
    /// # Errors
    ///
    /// -32603 if the store fails.
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Bytes>, Error>>;
}

/// States in this process.
#[derive(Default)]
pub(crate) struct LocalStates(Mutex<Local>);

#[derive(Default)]
struct Local {
    values: HashMap<Key, Bytes>,
    // Each state lives equally long, so the order of arrival is that of expiry.
    expiries: VecDeque<(Instant, Key)>,
    bytes: usize,
}

impl Local {
    fn drop_expired(&mut self, now: Instant) {
        while let Some((_, key)) = self.expiries.front().filter(|(expiry, _)| *expiry <= now) {
            if let Some(value) = self.values.remove(key) {
                self.bytes -= size(&value);
            }
            self.expiries.pop_front();
        }
    }

    fn put(&mut self, now: Instant, key: &Key, value: Bytes) -> Result<bool, Error> {
        self.drop_expired(now);
        if self.values.contains_key(key) {
            return Ok(false);
        }
        if self.bytes + size(&value) > MAX_BYTES {
            tracing::error!(limit = MAX_BYTES, "a request cannot be remembered");
            return Err(Error::internal());
        }
        self.bytes += size(&value);
        self.expiries.push_back((now + LIFE, key.clone()));
        self.values.insert(key.clone(), value);
        Ok(true)
    }

    fn get(&mut self, now: Instant, key: &Key) -> Option<Bytes> {
        self.drop_expired(now);
        self.values.get(key).cloned()
    }
}

impl States for LocalStates {
    fn put<'a>(&'a self, key: &'a Key, value: Bytes) -> BoxFuture<'a, Result<bool, Error>> {
        let put = self.0.lock().put(Instant::now(), key, value);
        Box::pin(std::future::ready(put))
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Bytes>, Error>> {
        let value = self.0.lock().get(Instant::now(), key);
        Box::pin(std::future::ready(Ok(value)))
    }
}

fn size(value: &Bytes) -> usize {
    value.len() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use pintle_store::Namespace;

    use super::*;

    const NAMES: Namespace = Namespace::fixed("test");

    fn key(name: &str) -> Key {
        Key::new(&NAMES, name).expect("a valid name")
    }

    #[test]
    fn a_state_of_this_process_expires_and_its_room_is_free_again() {
        let (mut local, now) = (Local::default(), Instant::now());
        assert_eq!(local.put(now, &key("a"), Bytes::from("1")), Ok(true));
        assert_eq!(local.put(now, &key("a"), Bytes::from("2")), Ok(false));
        assert_eq!(local.get(now, &key("a")), Some(Bytes::from("1")));
        assert_eq!(local.get(now + LIFE, &key("a")), None);
        assert_eq!((local.bytes, local.values.len()), (0, 0));
        assert_eq!(local.put(now + LIFE, &key("a"), Bytes::from("3")), Ok(true));
    }

    #[test]
    fn states_of_this_process_have_a_limit_together() {
        let (mut local, now) = (Local::default(), Instant::now());
        let half = Bytes::from(vec![0; MAX_BYTES / 2]);
        assert_eq!(local.put(now, &key("a"), half.clone()), Ok(true));
        assert_eq!(
            local.put(now, &key("b"), half.clone()),
            Err(Error::internal())
        );
        assert_eq!(local.put(now, &key("c"), Bytes::new()), Ok(true));
        assert_eq!(local.put(now + LIFE, &key("b"), half), Ok(true));
    }
}
