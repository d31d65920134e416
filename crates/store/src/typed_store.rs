//! A typed view of one namespace.
//!
//! A value is written with its schema and a checksum. A record that is damaged, or newer than this
//! program, is a typed error. It is moved [aside](Namespace::quarantined), so that the error occurs
//! once.

mod error;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use crate::checksum::crc32;
use crate::key::{Key, Namespace, Prefix};
use crate::page::{Listing, Page};
use crate::record::{Expiry, Precondition, Record};
use crate::store_time::StoreTime;
use crate::version::Version;
use crate::{Changes, Store, StoreError};

pub use error::{DecodeError, RecordError, RecordErrorKind, TypedStoreError};

/// A type that has a namespace of its own in a store.
///
/// How a value becomes bytes is the type's affair; this crate knows no format.
pub trait StoredType: Sized + Send + Sync {
    /// Where its values are.
    const NAMESPACE: Namespace;
    /// The newest schema this program knows, and the one it writes.
    ///
    /// If several versions of a program share a store, raise it one release after
    /// [`StoredType::decode`] supports the new schema. A record with a newer schema is moved aside.
    const SCHEMA: u16;

    /// Encodes the value in [`StoredType::SCHEMA`].
    ///
    /// # Errors
    ///
    /// Any error of the format.
    fn encode(&self) -> Result<Bytes, DecodeError>;

    /// Reads a value that was written in `schema`, which is at most [`StoredType::SCHEMA`].
    ///
    /// # Errors
    ///
    /// Any error of the format; the record is moved aside.
    fn decode(schema: u16, bytes: &[u8]) -> Result<Self, DecodeError>;
}

/// The values of one type in a store.
pub struct TypedStore<T> {
    store: Arc<dyn Store>,
    of: PhantomData<fn() -> T>,
}

/// A value as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item<T> {
    /// Value of the record, decoded.
    pub value: T,
    /// Which put it comes from.
    pub version: Version,
    /// Until when it is there.
    pub expiry: Expiry,
}

/// One page of values.
#[derive(Debug)]
#[non_exhaustive]
pub struct ItemPage<T> {
    /// In the order of their keys.
    pub items: Vec<(Key, Item<T>)>,
    /// Records that could not be read and were moved aside.
    pub unreadable: Vec<RecordError>,
    /// Where the next page goes on; `None` at the end.
    pub next: Option<Key>,
}

impl<T: StoredType> TypedStore<T> {
    /// Maximum number of tries of [`TypedStore::update`]. A value that changes faster is not a
    /// record but a queue.
    pub const TRIES: usize = 32;

    /// The values of `T` in a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let of = PhantomData;
        Self { store, of }
    }

    /// Reads one value.
    ///
    /// # Errors
    ///
    /// - [`TypedStoreError::Name`] if `name` is not valid.
    /// - [`TypedStoreError::Unreadable`] if the record is damaged, or from the future.
    /// - [`TypedStoreError::Store`] if the store could not.
    pub async fn get(
        &self,
        now: StoreTime,
        name: &str,
    ) -> Result<Option<Item<T>>, TypedStoreError> {
        let key = key::<T>(name)?;
        let Some(record) = self.store.get(now, &key).await? else {
            return Ok(None);
        };
        match decode(&record) {
            Ok(item) => Ok(Some(item)),
            Err(reason) => Err(self.set_aside(now, key, record, reason).await.into()),
        }
    }

    /// Writes one value.
    ///
    /// # Errors
    ///
    /// - [`TypedStoreError::Name`] if `name` is not valid.
    /// - [`TypedStoreError::Encode`] if the value cannot be encoded.
    /// - [`TypedStoreError::Store`] with a conflict if the record does not match `condition`.
    pub async fn put(
        &self,
        now: StoreTime,
        name: &str,
        value: &T,
        condition: Precondition,
        expiry: Expiry,
    ) -> Result<Version, TypedStoreError> {
        let key = key::<T>(name)?;
        let bytes = encode(value)?;
        Ok(self.store.put(now, &key, bytes, condition, expiry).await?)
    }

    /// Changes one value without losing a change of another writer.
    ///
    /// `change` gets the current value and returns the new one with its expiry, or `None` to leave
    /// it. It is called again if another writer was first, at most [`TypedStore::TRIES`] times.
    /// Returns the final record, or `None` if there is no record.
    ///
    /// # Errors
    ///
    /// As for [`TypedStore::get`] and [`TypedStore::put`]; a conflict when the tries are used up.
    pub async fn update(
        &self,
        now: StoreTime,
        name: &str,
        mut change: impl FnMut(&Item<T>) -> Option<(T, Expiry)> + Send,
    ) -> Result<Option<Item<T>>, TypedStoreError> {
        let mut conflict = StoreError::Conflict { found: None };
        for _ in 0..Self::TRIES {
            let Some(item) = self.get(now, name).await? else {
                return Ok(None);
            };
            let Some((value, expiry)) = change(&item) else {
                return Ok(Some(item));
            };
            let condition = Precondition::Version(item.version);
            match self.put(now, name, &value, condition, expiry).await {
                Ok(version) => return Ok(Some(Item::new(value, version, expiry))),
                Err(TypedStoreError::Store(error)) if error.is_conflict() => conflict = error,
                Err(error) => return Err(error),
            }
        }
        Err(conflict.into())
    }

    /// Removes one value; `false` if the record was absent and `condition` allows that.
    ///
    /// # Errors
    ///
    /// - [`TypedStoreError::Name`] if `name` is not valid.
    /// - [`TypedStoreError::Store`] with a conflict if the record does not match `condition`.
    pub async fn remove(
        &self,
        now: StoreTime,
        name: &str,
        condition: Precondition,
    ) -> Result<bool, TypedStoreError> {
        let key = key::<T>(name)?;
        Ok(self.store.remove(now, &key, condition).await?)
    }

    /// Reads the values whose name begins with `start`, page by page. What cannot be read does
    /// not end the listing.
    ///
    /// # Errors
    ///
    /// - [`TypedStoreError::Name`] if no name can begin with `start`.
    /// - [`TypedStoreError::Store`] if the store could not.
    pub async fn list(
        &self,
        now: StoreTime,
        start: &str,
        page: Page,
    ) -> Result<ItemPage<T>, TypedStoreError> {
        let prefix = prefix::<T>(start)?;
        let Listing { records, next } = self.store.list(now, &prefix, page).await?;
        let (mut items, mut unreadable) = (Vec::with_capacity(records.len()), Vec::new());
        for (key, record) in records {
            match decode(&record) {
                Ok(item) => items.push((key, item)),
                Err(reason) => unreadable.push(self.set_aside(now, key, record, reason).await),
            }
        }
        Ok(ItemPage {
            items,
            unreadable,
            next,
        })
    }

    /// Reports changes to values whose name begins with `start`, as [`Store::changed`] does.
    ///
    /// # Errors
    ///
    /// - [`TypedStoreError::Name`] if no name can begin with `start`.
    /// - [`TypedStoreError::Store`] if too many wait already.
    pub async fn changed(&self, start: &str) -> Result<Changes, TypedStoreError> {
        let prefix = prefix::<T>(start)?;
        Ok(self.store.changed(&prefix).await?)
    }

    /// Moves a record aside as well as the store lets it.
    async fn set_aside(
        &self,
        now: StoreTime,
        key: Key,
        record: Record,
        reason: RecordErrorKind,
    ) -> RecordError {
        let aside = Key::new(&T::NAMESPACE.quarantined(), key.name());
        let aside = aside.expect("a name is a name in every namespace");
        let Record { value, expiry, .. } = record;
        let kept = self
            .store
            .put(now, &aside, value, Precondition::Any, expiry);
        let mut is_aside = kept.await.is_ok();
        if is_aside {
            let condition = Precondition::Version(record.version);
            is_aside = self.store.remove(now, &key, condition).await.is_ok();
        }
        RecordError {
            key,
            aside: is_aside.then_some(aside),
            reason,
        }
    }
}

impl<T> Clone for TypedStore<T> {
    fn clone(&self) -> Self {
        let store = Arc::clone(&self.store);
        Self { store, of: self.of }
    }
}

impl<T: StoredType> fmt::Debug for TypedStore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedStore")
            .field(&T::NAMESPACE.as_str())
            .finish()
    }
}

impl<T> Item<T> {
    fn new(value: T, version: Version, expiry: Expiry) -> Self {
        Self {
            value,
            version,
            expiry,
        }
    }
}

fn key<T: StoredType>(name: &str) -> Result<Key, TypedStoreError> {
    Key::new(&T::NAMESPACE, name).map_err(TypedStoreError::Name)
}

fn prefix<T: StoredType>(start: &str) -> Result<Prefix, TypedStoreError> {
    Prefix::new(&T::NAMESPACE, start).map_err(TypedStoreError::Name)
}

/// Schema (2 bytes), checksum of everything else (4 bytes), value.
fn encode<T: StoredType>(value: &T) -> Result<Bytes, TypedStoreError> {
    let body = value.encode().map_err(TypedStoreError::Encode)?;
    let mut bytes = BytesMut::with_capacity(HEAD + body.len());
    bytes.put_u16(T::SCHEMA);
    bytes.put_u32(checksum(T::SCHEMA, &body));
    bytes.put_slice(&body);
    Ok(bytes.freeze())
}

fn decode<T: StoredType>(record: &Record) -> Result<Item<T>, RecordErrorKind> {
    let Some((head, body)) = record.value.split_first_chunk::<HEAD>() else {
        return Err(RecordErrorKind::Damaged);
    };
    let [s0, s1, checksum @ ..] = *head;
    let schema = u16::from_be_bytes([s0, s1]);
    if u32::from_be_bytes(checksum) != self::checksum(schema, body) {
        return Err(RecordErrorKind::Damaged);
    }
    if schema > T::SCHEMA {
        let known = T::SCHEMA;
        return Err(RecordErrorKind::Future { schema, known });
    }
    let value = T::decode(schema, body).map_err(RecordErrorKind::Undecodable)?;
    Ok(Item::new(value, record.version, record.expiry))
}

const HEAD: usize = 6;

fn checksum(schema: u16, body: &[u8]) -> u32 {
    crc32(body) ^ u32::from(schema)
}
