//! A counter of one interval, which all replicas add to.

use std::time::Duration;

use pintle_keys::Keys;
use pintle_runtime::SharedCount;
use pintle_runtime::fleet::Fleet;
use pintle_store::{Expiry, Key, Namespace, Store, StoreError, StoreTime};

const COUNTS: Namespace = Namespace::fixed("count");
/// How long a counter stays after its interval, because the clocks of replicas differ.
const GRACE: Duration = Duration::from_secs(10);

/// The uses of a name in one interval.
pub(crate) struct Counter<'a> {
    name: &'a str,
    length: u64,
    interval: u64,
    now: StoreTime,
}

impl<'a> Counter<'a> {
    /// The interval of this moment. Intervals are counted from 1970.
    pub(crate) fn new(name: &'a str, length: Duration, now: StoreTime) -> Self {
        let length = u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1);
        Self {
            name,
            length,
            interval: now.as_millis() / length,
            now,
        }
    }

    /// Counts uses, by one operation of the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The uses may be counted.
    pub(crate) async fn add(
        &self,
        store: &impl Store,
        keys: &Keys,
        fleet: &Fleet,
        uses: u64,
    ) -> Result<SharedCount, StoreError> {
        let key = self.key(keys);
        let expiry = Expiry::At(self.end() + GRACE);
        let amount = i64::try_from(uses).unwrap_or(i64::MAX);
        let sum = store.add(self.now, &key, amount, expiry).await?;
        let rest = self
            .end()
            .as_millis()
            .saturating_sub(fleet.now().as_millis());
        Ok(SharedCount {
            interval: self.interval,
            rest: Duration::from_millis(rest),
            sum: u64::try_from(sum).unwrap_or_default(),
            replicas: fleet.replicas().len() + 1,
        })
    }

    fn end(&self) -> StoreTime {
        StoreTime::from_millis(self.interval.saturating_add(1).saturating_mul(self.length))
    }

    /// The digest covers the length, because intervals of another length have other numbers.
    fn key(&self, keys: &Keys) -> Key {
        let digest = keys.digest(format!("count {} {}", self.length, self.name).as_bytes());
        let name = format!("{:032x}.{}", u128::from_be_bytes(digest), self.interval);
        Key::new(&COUNTS, &name).expect("digits are valid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_one_length_begin_at_the_same_times() {
        let keys = Keys::random().expect("randomness");
        let of = |name, seconds, millis| {
            let (length, now) = (Duration::from_secs(seconds), StoreTime::from_millis(millis));
            Counter::new(name, length, now)
        };
        let counter = of("ada", 60, 120_000);
        assert_eq!(counter.end(), StoreTime::from_millis(180_000));
        let key = |counter: &Counter<'_>| counter.key(&keys);
        assert_eq!(key(&of("ada", 60, 179_999)), key(&counter));
        for other in [
            of("ada", 60, 180_000),
            of("bob", 60, 120_000),
            of("ada", 30, 60_000),
        ] {
            assert_ne!(key(&other), key(&counter));
        }
        assert!(!key(&counter).as_str().contains("ada"));
    }
}
