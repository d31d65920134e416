//! Both stores run the suite, in turns and on threads.

use std::sync::{Arc, Mutex};

use crate::support::Directory;
use crate::support::threads::{on_threads, wait};
use pintle_store::conformance::{self, Layer, Layered, Opening, Part, Rotating, Subject};
use pintle_store::{
    Changes, FileStore, Key, Listing, MemoryStore, Namespace, Page, Prefix, Store, StoreFuture,
    StoreLimits, StoreTime,
};

struct Turns;

impl Subject for Turns {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(limits));
        Box::pin(std::future::ready(store))
    }
}

struct Threads;

impl Subject for Threads {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        Turns.open(limits)
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        on_threads(parts)
    }
}

/// Three handles of one store in memory, in turn. Such a store belongs to one process.
struct MemoryInTurn;

impl Subject for MemoryInTurn {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(limits));
        Box::pin(std::future::ready(three_in_turn(store)))
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        on_threads(parts)
    }
}

fn three_in_turn(store: Arc<dyn Store>) -> Arc<dyn Store> {
    let handles = vec![Arc::clone(&store), Arc::clone(&store), store];
    Arc::new(Rotating::new(handles))
}

/// A store that has an order within groups only.
struct Grouped(MemoryStore);

impl Layer for Grouped {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        match prefix.one_group() {
            Ok(_) => self.0.list(now, prefix, page),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(async move {
            let namespace = Namespace::new(prefix.namespace()).expect("the suite has one");
            let group = Key::new(&namespace, prefix.watched_group()?).expect("a group is a name");
            self.0.changed(&Prefix::from(group)).await
        })
    }
}

struct Groups;

impl Subject for Groups {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let store: Arc<dyn Store> = Arc::new(Layered(Grouped(MemoryStore::new(limits))));
        Box::pin(std::future::ready(store))
    }

    fn is_ordered(&self) -> bool {
        false
    }
}

/// Directories, each with one store and a number of handles.
#[derive(Default)]
struct Files {
    is_in_turn: bool,
    directories: Mutex<Vec<Directory>>,
}

impl Subject for Files {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let directory = Directory::new();
        let mut store: Arc<dyn Store> =
            Arc::new(FileStore::open(&directory, limits).expect("opens"));
        if self.is_in_turn {
            store = three_in_turn(store);
        }
        self.directories.lock().expect("no panic").push(directory);
        Box::pin(std::future::ready(store))
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        on_threads(parts)
    }
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn the_memory_store_keeps_the_contract_in_turns() {
    wait(conformance::run(&Turns));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn the_memory_store_keeps_the_contract_on_threads() {
    wait(conformance::run(&Threads));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn three_handles_of_a_memory_store_keep_the_contract() {
    wait(conformance::run(&MemoryInTurn));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn the_file_store_keeps_the_contract_on_threads() {
    wait(conformance::run(&Files::default()));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn three_handles_of_a_file_store_keep_the_contract() {
    let files = Files {
        is_in_turn: true,
        ..Files::default()
    };
    wait(conformance::run(&files));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn a_store_without_an_order_of_groups_keeps_the_contract() {
    wait(conformance::run(&Groups));
}
