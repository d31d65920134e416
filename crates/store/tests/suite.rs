//! Both stores run the suite, in turns and on threads.

use std::sync::{Arc, Mutex};

use crate::support::layer::{Layer, Layered};
use crate::support::{Directory, on_threads, wait};
use pintle_store::conformance::{self, Opening, Part, Rotating, Subject};
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

/// Three openings in turn. A store in memory has one opening, so this shows that the suite holds for
/// [`Rotating`] itself.
struct InTurn;

impl Subject for InTurn {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(limits));
        let openings = vec![Arc::clone(&store), Arc::clone(&store), store];
        let rotating: Arc<dyn Store> = Arc::new(Rotating::new(openings));
        Box::pin(std::future::ready(rotating))
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        on_threads(parts)
    }
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

#[derive(Default)]
struct Files {
    directories: Mutex<Vec<Directory>>,
}

impl Subject for Files {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let directory = Directory::new();
        let store: Arc<dyn Store> = Arc::new(FileStore::open(&directory, limits).expect("opens"));
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
fn openings_in_turn_keep_the_contract() {
    wait(conformance::run(&InTurn));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn the_file_store_keeps_the_contract_on_threads() {
    wait(conformance::run(&Files::default()));
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[test]
fn a_store_without_an_order_of_groups_keeps_the_contract() {
    wait(conformance::run(&Groups));
}
