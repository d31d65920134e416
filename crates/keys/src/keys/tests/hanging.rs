//! A store that never answers.

use std::future::pending;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};

pub(super) struct Hanging;

impl Store for Hanging {
    fn get<'a>(&'a self, _: StoreTime, _: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(pending())
    }

    fn put<'a>(
        &'a self,
        _: StoreTime,
        _: &'a Key,
        _: Bytes,
        _: Precondition,
        _: Expiry,
    ) -> StoreFuture<'a, Version> {
        Box::pin(pending())
    }

    fn remove<'a>(&'a self, _: StoreTime, _: &'a Key, _: Precondition) -> StoreFuture<'a, bool> {
        Box::pin(pending())
    }

    fn list<'a>(&'a self, _: StoreTime, _: &'a Prefix, _: Page) -> StoreFuture<'a, Listing> {
        Box::pin(pending())
    }

    fn append<'a>(
        &'a self,
        _: StoreTime,
        _: &'a Key,
        _: &'a [Bytes],
        _: ExpectedTail,
        _: Retention,
        _: Expiry,
    ) -> StoreFuture<'a, Position> {
        Box::pin(pending())
    }

    fn add<'a>(&'a self, _: StoreTime, _: &'a Key, _: i64, _: Expiry) -> StoreFuture<'a, i64> {
        Box::pin(pending())
    }

    fn read<'a>(
        &'a self,
        _: StoreTime,
        _: &'a Key,
        _: Position,
        _: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(pending())
    }

    fn forget<'a>(&'a self, _: StoreTime, _: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(pending())
    }

    fn changed<'a>(&'a self, _: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(pending())
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(pending())
    }

    fn epoch(&self, _: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(pending())
    }

    fn capacity(&self) -> Capacity {
        Capacity::Engine
    }
}
