//! What a server remembers itself of requests between their rounds: states that are too large to
//! travel, and which states were used.

use bytes::Bytes;
use pintle_model::{Error, ErrorCode, JsonObject};
use pintle_proto::Limits;
use pintle_runtime::{Journal, random_bytes};
use pintle_store::{Key, Namespace};
use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::seal::UnsealError;
use super::states::{LocalStates, States};

/// States that are too large to travel, by a name that nobody guesses.
const STATES: Namespace = Namespace::fixed("request-state");
/// States that were used.
const USED: Namespace = Namespace::fixed("request-state-used");

/// Remembers between rounds what clients do not carry.
pub(crate) struct Memory {
    states: Box<dyn States>,
    is_single_use: bool,
}

/// The sealed state that a client carries.
struct Carried {
    /// The journal, if it is small.
    journal: Option<Journal>,
    /// The name that it is stored under, if it is not.
    handle: Option<String>,
    /// Name of the state in the list of used states.
    mark: Option<String>,
}

/// A state that is stored: to which request it belongs, although its seal says that, too.
struct Stored {
    binding: String,
    journal: Journal,
}

impl Serialize for Carried {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(journal) = &self.journal {
            map.serialize_entry("j", journal)?;
        }
        if let Some(handle) = &self.handle {
            map.serialize_entry("h", handle)?;
        }
        if let Some(mark) = &self.mark {
            map.serialize_entry("n", mark)?;
        }
        map.end()
    }
}

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("b", &self.binding)?;
        map.serialize_entry("j", &self.journal)?;
        map.end()
    }
}

impl Carried {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut members = read(bytes)?;
        Ok(Self {
            journal: take(&mut members, "j")?,
            handle: take(&mut members, "h")?,
            mark: take(&mut members, "n")?,
        })
    }
}

impl Stored {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut members = read(bytes)?;
        Ok(Self {
            binding: take(&mut members, "b")?.ok_or_else(Error::internal)?,
            journal: take(&mut members, "j")?.ok_or_else(Error::internal)?,
        })
    }
}

impl Memory {
    /// A memory of these states, or of states in this process.
    pub(crate) fn new(states: Option<Box<dyn States>>, is_single_use: bool) -> Self {
        Self {
            states: states.unwrap_or_else(|| Box::<LocalStates>::default()),
            is_single_use,
        }
    }

    /// Returns the content for the client to carry: the journal, or the name under which it is stored.
    ///
    /// # Errors
    ///
    /// -32603 if it is too large for that, too, or cannot be stored.
    pub(super) async fn pack(
        &self,
        binding: &[u8],
        journal: Journal,
        limits: &Limits,
    ) -> Result<Vec<u8>, Error> {
        let mark = match self.is_single_use {
            true => Some(name()?),
            false => None,
        };
        let mut carried = Carried {
            journal: Some(journal),
            handle: None,
            mark,
        };
        let inline = written(&carried)?;
        if inline.len() <= limits.max_request_state_bytes {
            return Ok(inline);
        }
        if inline.len() > limits.max_stored_state_bytes {
            return Err(too_large(limits.max_stored_state_bytes));
        }
        let journal = carried.journal.take().unwrap_or_default();
        carried.handle = Some(self.store(binding, journal).await?);
        written(&carried)
    }

    async fn store(&self, binding: &[u8], journal: Journal) -> Result<String, Error> {
        let binding = String::from_utf8_lossy(binding).into_owned();
        let value = written(&Stored { binding, journal })?;
        let handle = name()?;
        let key = Key::new(&STATES, &handle).map_err(|_| Error::internal())?;
        match self.states.put(&key, value.into()).await? {
            true => Ok(handle),
            false => Err(Error::internal()),
        }
    }

    /// The journal that a client has carried back.
    ///
    /// # Errors
    ///
    /// -32602 if it is not there any more or was used; -32603 if the store fails.
    pub(super) async fn unpack(&self, binding: &[u8], carried: &[u8]) -> Result<Journal, Error> {
        let carried = Carried::read(carried)?;
        if let Some(mark) = &carried.mark {
            self.use_up(mark).await?;
        }
        match (carried.journal, &carried.handle) {
            (Some(journal), _) => Ok(journal),
            (None, Some(handle)) => self.fetch(binding, handle).await,
            (None, None) => Err(Error::internal()),
        }
    }

    async fn fetch(&self, binding: &[u8], handle: &str) -> Result<Journal, Error> {
        let key = Key::new(&STATES, handle).map_err(|_| gone())?;
        let value = self.states.get(&key).await?;
        let stored = Stored::read(&value.ok_or_else(gone)?)?;
        if stored.binding.as_bytes() != binding {
            return Err(gone());
        }
        Ok(stored.journal)
    }

    /// Marks a state as used; an error if it was before.
    async fn use_up(&self, mark: &str) -> Result<(), Error> {
        let key = Key::new(&USED, mark).map_err(|_| gone())?;
        match self.states.put(&key, Bytes::new()).await? {
            true => Ok(()),
            false => Err(gone()),
        }
    }
}

fn name() -> Result<String, Error> {
    let bytes = random_bytes::<16>().map_err(|_| Error::internal())?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

fn read(bytes: &[u8]) -> Result<JsonObject, Error> {
    let text = str::from_utf8(bytes).map_err(|_| Error::internal())?;
    serde_json::from_str(text).map_err(|_| Error::internal())
}

fn take<T: DeserializeOwned>(members: &mut JsonObject, name: &str) -> Result<Option<T>, Error> {
    let value = members.remove(name).map(serde_json::from_value);
    value.transpose().map_err(|_| Error::internal())
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|_| Error::internal())
}

fn gone() -> Error {
    Error::invalid_params(UnsealError.to_string())
}

fn too_large(most: usize) -> Error {
    let message = format!("what must be remembered between rounds is larger than {most} bytes");
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pintle_store::{MemoryStore, Store, StoreLimits};

    use super::*;
    use crate::input::StoredStates;

    fn stored(store: Arc<dyn Store>, is_single_use: bool) -> Memory {
        let states = StoredStates::new(store, None);
        Memory::new(Some(Box::new(states)), is_single_use)
    }

    fn journal(bytes: usize) -> Journal {
        let mut journal = Journal::default();
        journal.state = Some("x".repeat(bytes));
        journal
    }

    #[test]
    fn a_state_has_the_same_value_after_its_text() {
        let carried = Carried {
            journal: Some(journal(1)),
            handle: Some("a".to_owned()),
            mark: Some("b".to_owned()),
        };
        let text = written(&carried).expect("JSON");
        assert_eq!(text, br#"{"j":{"r":0,"s":"x"},"h":"a","n":"b"}"#);
        let read = Carried::read(&text).expect("a state");
        assert_eq!(read.journal, carried.journal);
        assert_eq!((read.handle, read.mark), (carried.handle, carried.mark));
        let (binding, journal) = ("c".to_owned(), journal(0));
        let text = written(&Stored { binding, journal }).expect("JSON");
        assert_eq!(text, br#"{"b":"c","j":{"r":0,"s":""}}"#);
        assert!(Stored::read(&text).is_ok_and(|stored| stored.binding == "c"));
        assert!(Stored::read(br#"{"b":"c"}"#).is_err());
    }

    // spec: 2026-07-28 N-MRTR-11, N-MRTR-15
    #[tokio::test]
    async fn a_large_state_stays_here_under_a_name_that_is_bound_to_its_request() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let (one, other) = (stored(Arc::clone(&store), false), stored(store, false));
        let limits = Limits::default();
        let carried = one.pack(b"request", journal(20_000), &limits).await;
        let carried = carried.expect("it is stored");
        assert!(carried.len() < 64, "a name travels");
        let opened = other.unpack(b"request", &carried).await;
        assert_eq!(
            opened,
            Ok(journal(20_000)),
            "any replica with the store has it"
        );
        assert!(other.unpack(b"another", &carried).await.is_err());
        let elsewhere = Memory::new(None, false);
        assert_eq!(elsewhere.unpack(b"request", &carried).await, Err(gone()));
    }

    // spec: 2026-07-28 N-MRTR-13
    #[tokio::test]
    async fn a_state_of_the_limit_travels_and_one_byte_more_stays_here() {
        let (memory, limits) = (Memory::new(None, false), Limits::default());
        let bare = memory.pack(b"", journal(0), &limits).await.expect("packed");
        let edge = limits.max_request_state_bytes - bare.len();
        let travels = memory.pack(b"", journal(edge), &limits).await;
        assert_eq!(travels.expect("packed").len(), 16 << 10);
        let named = memory.pack(b"", journal(edge + 1), &limits).await;
        assert!(named.expect("stored").len() < 64, "a name travels");
    }

    // spec: 2026-07-28 N-MRTR-13
    #[tokio::test]
    async fn states_are_bounded_each_and_together() {
        let (memory, mut limits) = (Memory::new(None, false), Limits::default());
        limits.max_stored_state_bytes = 30_000;
        let edge = 30_000
            - written(&Carried {
                journal: Some(journal(0)),
                handle: None,
                mark: None,
            })
            .expect("JSON")
            .len();
        assert!(memory.pack(b"", journal(edge), &limits).await.is_ok());
        let refused = memory.pack(b"", journal(edge + 1), &limits).await;
        assert_eq!(refused, Err(too_large(30_000)));
        let mut full = StoreLimits::default();
        full.max_bytes = 30_000;
        let memory = stored(Arc::new(MemoryStore::new(full)), false);
        assert!(memory.pack(b"", journal(20_000), &limits).await.is_ok());
        assert_eq!(
            memory.pack(b"", journal(20_000), &limits).await,
            Err(Error::internal())
        );
    }

    // spec: 2026-07-28 N-MRTR-12
    #[tokio::test]
    async fn a_state_that_is_good_once_is_refused_the_second_time() {
        let limits = Limits::default();
        let in_store = || stored(Arc::new(MemoryStore::default()), true);
        let in_process = || Memory::new(None, true);
        for (bytes, memory) in [
            (10, in_store()),
            (20_000, in_store()),
            (10, in_process()),
            (20_000, in_process()),
        ] {
            let carried = memory
                .pack(b"", journal(bytes), &limits)
                .await
                .expect("it is packed");
            assert_eq!(memory.unpack(b"", &carried).await, Ok(journal(bytes)));
            assert_eq!(memory.unpack(b"", &carried).await, Err(gone()));
        }
    }
}
