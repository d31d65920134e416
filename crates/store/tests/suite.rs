//! Both stores run the suite, in turns and on threads.

use std::sync::{Arc, Mutex};

use crate::support::{Directory, on_threads, wait};
use pintle_store::conformance::{self, Opening, Part, Rotating, Subject};
use pintle_store::{FileStore, MemoryStore, Store, StoreLimits};

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
