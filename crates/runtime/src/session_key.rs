//! The name of a shared session in the store, and the time for which it needs no record.

use std::time::Duration;

use pintle_store::StoreTime;

/// A session that replicas share: its number, and how long it exists without a record in the store. The sealed id of a
/// session contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionKey {
    /// The random number of the session.
    pub number: u128,
    /// Until when the session exists without a record, in seconds since 1970.
    pub until_seconds: u32,
    /// How long a record of the session stays, in seconds.
    pub ttl_seconds: u32,
    /// Names the content of the store at the begin of the session. 0 if it was not known.
    pub epoch: u64,
}

impl SessionKey {
    /// The length of [`SessionKey::to_bytes`].
    pub const BYTES: usize = 32;

    /// Returns the key of a session that needs no record.
    pub const fn unlimited(number: u128) -> Self {
        Self {
            number,
            until_seconds: u32::MAX,
            ttl_seconds: u32::MAX,
            epoch: 0,
        }
    }

    /// Returns the moment until which the session exists without a record.
    pub fn until(self) -> StoreTime {
        StoreTime::from_millis(u64::from(self.until_seconds) * 1_000)
    }

    /// Returns how long a record of the session stays.
    pub fn ttl(self) -> Duration {
        Duration::from_secs(u64::from(self.ttl_seconds))
    }

    /// Returns the key in the form of an id.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.until_seconds.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.ttl_seconds.to_be_bytes());
        bytes[24..].copy_from_slice(&self.epoch.to_be_bytes());
        bytes
    }

    /// Reads the form of an id.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (number, rest) = bytes.split_first_chunk().expect("32 bytes");
        let (until, rest) = rest.split_first_chunk().expect("16 bytes");
        let (ttl, rest) = rest.split_first_chunk().expect("12 bytes");
        let (epoch, _) = rest.split_first_chunk().expect("8 bytes");
        Self {
            number: u128::from_be_bytes(*number),
            until_seconds: u32::from_be_bytes(*until),
            ttl_seconds: u32::from_be_bytes(*ttl),
            epoch: u64::from_be_bytes(*epoch),
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_same_value_after_its_id() {
        let key = SessionKey {
            number: 7 << 100,
            until_seconds: 1_700_000_000,
            ttl_seconds: 3_600,
            epoch: 5 << 40,
        };
        assert_eq!(SessionKey::from_bytes(&key.to_bytes()), key);
        assert_eq!(key.until().as_millis(), 1_700_000_000_000);
    }
}
