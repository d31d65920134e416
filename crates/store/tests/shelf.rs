//! Typed values, and what happens to those that cannot be read.

use std::sync::Arc;

use crate::support::at;
use crate::support::threads::{on_threads, wait};
use bytes::Bytes;
use pintle_store::{
    DecodeError, Expiry, Key, MemoryStore, Namespace, Page, Precondition, RecordError,
    RecordErrorKind, Store, StoredType, TypedStore, TypedStoreError,
};

/// A count, as this version of a program knows it: schema 1 was text, schema 2 is a number.
#[derive(Debug, PartialEq)]
struct Count(u64);

impl StoredType for Count {
    const NAMESPACE: Namespace = Namespace::fixed("counts");
    const SCHEMA: u16 = 2;

    fn encode(&self) -> Result<Bytes, DecodeError> {
        Ok(Bytes::copy_from_slice(&self.0.to_be_bytes()))
    }

    fn decode(schema: u16, bytes: &[u8]) -> Result<Self, DecodeError> {
        match schema {
            1 => Ok(Self(std::str::from_utf8(bytes)?.parse()?)),
            _ => Ok(Self(u64::from_be_bytes(bytes.try_into()?))),
        }
    }
}

/// The same namespace in another version of the program.
struct Other<const SCHEMA: u16>(&'static str);

impl<const SCHEMA: u16> StoredType for Other<SCHEMA> {
    const NAMESPACE: Namespace = Count::NAMESPACE;
    const SCHEMA: u16 = SCHEMA;

    fn encode(&self) -> Result<Bytes, DecodeError> {
        Ok(Bytes::from(self.0))
    }

    fn decode(_: u16, _: &[u8]) -> Result<Self, DecodeError> {
        Err("never read".into())
    }
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

fn put<T: StoredType>(store: &Arc<dyn Store>, name: &str, value: &T) {
    let shelf = TypedStore::new(Arc::clone(store));
    wait(shelf.put(at(0), name, value, Precondition::Any, Expiry::Never)).expect("puts");
}

fn raw(store: &Arc<dyn Store>, namespace: &Namespace, name: &str) -> Option<Bytes> {
    let key = Key::new(namespace, name).expect("a proper name");
    let record = wait(store.get(at(0), &key)).expect("gets");
    record.map(|record| record.value)
}

fn unreadable(result: Result<Option<impl Sized>, TypedStoreError>) -> RecordError {
    match result {
        Err(TypedStoreError::Unreadable(unreadable)) => unreadable,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was read"),
    }
}

#[test]
fn a_value_comes_back_with_its_version_and_expiry() {
    let shelf = TypedStore::new(store());
    let put = shelf.put(
        at(0),
        "a",
        &Count(7),
        Precondition::Absent,
        Expiry::At(at(9)),
    );
    let version = wait(put).expect("puts");
    let item = wait(shelf.get(at(8), "a"))
        .expect("gets")
        .expect("is there");
    assert_eq!(
        (item.value, item.version, item.expiry),
        (Count(7), version, Expiry::At(at(9)))
    );
    assert_eq!(wait(shelf.get(at(9), "a")).expect("gets"), None);
    assert!(matches!(
        wait(shelf.get(at(0), "")),
        Err(TypedStoreError::Name(_))
    ));
}

#[test]
fn an_older_schema_is_read_by_its_type() {
    let store = store();
    put(&store, "a", &Other::<1>("41"));

    let item = wait(TypedStore::<Count>::new(store).get(at(0), "a")).expect("gets");
    assert_eq!(item.expect("is there").value, Count(41));
}

// hardening: H-27
#[test]
fn a_value_from_the_future_is_an_error_and_moved_aside() {
    let store = store();
    put(&store, "a", &Other::<3>("what will be"));
    let before = raw(&store, &Count::NAMESPACE, "a");

    let shelf = TypedStore::<Count>::new(Arc::clone(&store));
    let found = unreadable(wait(shelf.get(at(0), "a")));
    assert!(matches!(
        found.reason,
        RecordErrorKind::Future {
            schema: 3,
            known: 2
        }
    ));
    assert!(found.aside.is_some());
    assert_eq!(raw(&store, &Count::NAMESPACE.quarantined(), "a"), before);
    assert_eq!(
        wait(shelf.get(at(0), "a")).expect("gets"),
        None,
        "it is met once"
    );
}

// hardening: H-27
#[test]
fn a_value_that_is_damaged_anywhere_is_an_error_and_moved_aside() {
    let store = store();
    put(&store, "a", &Count(7));
    let whole = raw(&store, &Count::NAMESPACE, "a").expect("is there");
    let cut = (0..whole.len()).map(|bytes| whole.slice(..bytes));
    let flipped = (0..whole.len() * 8).map(|bit| {
        let mut bytes = whole.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        Bytes::from(bytes)
    });
    let key = Key::new(&Count::NAMESPACE, "a").expect("a proper name");
    let shelf = TypedStore::<Count>::new(Arc::clone(&store));
    for bytes in cut.chain(flipped) {
        let put = store.put(at(0), &key, bytes.clone(), Precondition::Any, Expiry::Never);
        wait(put).expect("puts");
        let found = unreadable(wait(shelf.get(at(0), "a")));
        assert!(
            matches!(found.reason, RecordErrorKind::Damaged),
            "{bytes:?}: {found}"
        );
        assert_eq!(
            raw(&store, &Count::NAMESPACE.quarantined(), "a"),
            Some(bytes)
        );
    }
}

// hardening: H-27
#[test]
fn an_unreadable_record_does_not_end_a_listing() {
    let store = store();
    put(&store, "a", &Count(1));
    put(&store, "b", &Other::<2>("not eight bytes"));
    put(&store, "c", &Count(3));

    let shelf = TypedStore::<Count>::new(store);
    let page = wait(shelf.list(at(0), "", Page::first(9))).expect("lists");
    let values: Vec<u64> = page.items.iter().map(|(_, item)| item.value.0).collect();
    assert_eq!((values, page.unreadable.len()), (vec![1, 3], 1));
    assert!(matches!(
        page.unreadable[0].reason,
        RecordErrorKind::Undecodable(_)
    ));
}

// hardening: H-191
#[test]
fn no_update_of_a_value_is_lost() {
    const PARTS: usize = 4;
    let store = store();
    put(&store, "a", &Count(0));
    let parts = (0..PARTS).map(|_| {
        let shelf = TypedStore::<Count>::new(Arc::clone(&store));
        let part: pintle_store::conformance::Part = Box::pin(async move {
            let mut done = 0;
            while done < 100 {
                let update = shelf.update(at(0), "a", |item| {
                    Some((Count(item.value.0 + 1), Expiry::Never))
                });
                match update.await {
                    Ok(item) => done += usize::from(item.is_some()),
                    // Tries are used up: nothing happened.
                    Err(TypedStoreError::Store(error)) if error.is_conflict() => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        });
        part
    });
    wait(on_threads(parts.collect()));

    let item = wait(TypedStore::<Count>::new(store).get(at(0), "a")).expect("gets");
    assert_eq!(item.expect("is there").value, Count(400));
}

#[test]
fn an_update_that_never_wins_gives_up() {
    let store = store();
    put(&store, "a", &Count(0));
    let shelf = TypedStore::<Count>::new(Arc::clone(&store));
    let mut tries = 0;
    let update = shelf.update(at(0), "a", |item| {
        tries += 1;
        put(&store, "a", &Count(item.value.0 + 1));
        Some((Count(0), Expiry::Never))
    });
    let error = wait(update).expect_err("somebody else is always faster");
    assert!(matches!(error, TypedStoreError::Store(error) if error.is_conflict()));
    assert_eq!(tries, TypedStore::<Count>::TRIES);
}

#[test]
fn an_update_of_nothing_is_nothing() {
    let shelf = TypedStore::<Count>::new(store());
    let update = shelf.update(at(0), "a", |_| panic!("nothing to change"));
    assert_eq!(wait(update).expect("updates"), None);
}

#[test]
fn a_change_to_a_value_is_reported() {
    let store = store();
    let shelf = TypedStore::<Count>::new(Arc::clone(&store));
    let mut changes = wait(shelf.changed("a")).expect("watches");
    put(&store, "a", &Count(1));

    let told = wait(changes.next());
    assert_eq!(told, Some(()));
}
