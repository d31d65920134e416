//! The file store after crashes, on a damaged disk, and beside another process.

use std::fs;
use std::path::Path;

use crate::support::threads::wait;
use crate::support::{Directory, SPACE, at, key};
use bytes::Bytes;
use pintle_store::{
    Damage, Epoch, ExpectedTail, Expiry, FileStore, Page, Position, Precondition, Prefix,
    Retention, Retry, Store, StoreError, StoreLimits, Tail,
};

fn open(directory: &Path) -> FileStore {
    FileStore::open(directory, StoreLimits::default()).expect("opens")
}

fn put(store: &FileStore, name: &str, value: &'static str) {
    let (key, value) = (key(name), Bytes::from(value));
    let put = store.put(at(0), &key, value, Precondition::Any, Expiry::Never);
    wait(put).expect("puts");
}

fn append(store: &FileStore, log: &str, event: &str) -> Position {
    append_all(store, log, &[event]).expect("appends")
}

fn append_all(store: &FileStore, log: &str, events: &[&str]) -> Result<Position, StoreError> {
    let copy = |event: &&str| Bytes::copy_from_slice(event.as_bytes());
    let events: Vec<Bytes> = events.iter().map(copy).collect();
    let (log, tail, retention) = (key(log), ExpectedTail::Any, Retention::default());
    wait(store.append(at(0), &log, &events, tail, retention, Expiry::Never))
}

fn add(store: &FileStore, name: &str, amount: i64) -> i64 {
    wait(store.add(at(0), &key(name), amount, Expiry::Never)).expect("adds")
}

fn value(store: &FileStore, name: &str) -> Option<Bytes> {
    let record = wait(store.get(at(0), &key(name))).expect("gets");
    record.map(|record| record.value)
}

fn events(store: &FileStore, log: &str) -> Vec<Bytes> {
    match wait(store.read(at(0), &key(log), Position::START, 100)).expect("reads") {
        Tail::Events { events, .. } => events.into_iter().map(|event| event.value).collect(),
        tail => panic!("{tail:?}"),
    }
}

/// Copies a closed store, so that it can be damaged.
fn copy(from: &Path) -> Directory {
    let to = Directory::new();
    fs::create_dir_all(&to).expect("makes a directory");
    for entry in fs::read_dir(from).expect("lists") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        fs::copy(&path, to.join(name)).expect("copies");
    }
    to
}

fn truncate(path: &Path, bytes: u64) {
    let file = fs::OpenOptions::new()
        .write(true)
        .open(path)
        .expect("opens");
    file.set_len(bytes).expect("truncates");
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).expect("is there").len()
}

// hardening: H-177
#[test]
fn acknowledged_writes_survive_a_restart() {
    let directory = Directory::new();
    let store = open(&directory);
    put(&store, "a", "old");
    put(&store, "a", "new");
    put(&store, "gone", "");
    let first = append(&store, "log", "1");
    append(&store, "log", "2");
    append(&store, "forgotten", "");
    wait(store.remove(at(0), &key("gone"), Precondition::Any)).expect("removes");
    wait(store.forget(at(0), &key("forgotten"))).expect("forgets");
    let version = wait(store.get(at(0), &key("a")))
        .expect("gets")
        .map(|it| it.version);
    // Closing writes nothing: it is as if the process had been killed.
    drop(store);

    let store = open(&directory);
    let recovery = store.recovery();
    assert_eq!(
        (recovery.records, recovery.logs, recovery.unfinished),
        (1, 1, 0)
    );
    assert!(recovery.damage.is_empty());
    let record = wait(store.get(at(0), &key("a")))
        .expect("gets")
        .expect("is there");
    assert_eq!(
        (record.value, Some(record.version)),
        (Bytes::from("new"), version)
    );
    assert_eq!(events(&store, "log"), ["1", "2"]);
    assert!(
        append(&store, "forgotten", "") > first,
        "positions are not used again"
    );
    assert_eq!(
        (value(&store, "gone"), events(&store, "none").len()),
        (None, 0)
    );
}

// hardening: H-27, H-193
#[test]
fn a_record_that_is_cut_anywhere_is_reported_and_not_served() {
    let original = Directory::new();
    {
        let store = open(&original);
        put(&store, "a", "something to lose");
    }
    let whole = length(&original.only("record"));
    for bytes in 0..whole {
        let directory = copy(&original);
        let damaged = directory.only("record");
        truncate(&damaged, bytes);

        let store = open(&directory);
        let damage = &store.recovery().damage;
        let aside = directory.only("damaged");
        assert_eq!(
            damage,
            &[Damage::File {
                aside: aside.clone()
            }],
            "{bytes} bytes"
        );
        assert_eq!((length(&aside), value(&store, "a")), (bytes, None));
        put(&store, "a", "again");
        drop(store);
        assert!(
            open(&directory).recovery().damage.is_empty(),
            "it is reported once"
        );
    }
}

// hardening: H-193
#[test]
fn a_log_that_is_cut_anywhere_goes_on_behind_its_last_whole_event() {
    let original = Directory::new();
    let mut ends = Vec::new();
    {
        let store = open(&original);
        for event in ["one", "", "three"] {
            append(&store, "log", event);
            ends.push(length(&original.only("log")));
        }
    }
    for bytes in 0..ends[2] {
        let directory = copy(&original);
        truncate(&directory.only("log"), bytes);

        let store = open(&directory);
        let whole = ends.iter().filter(|end| **end <= bytes).count();
        assert_eq!(
            events(&store, "log"),
            ["one", "", "three"][..whole],
            "{bytes} bytes"
        );
        let is_at_an_end = ends.contains(&bytes);
        assert_eq!(store.recovery().damage.len(), usize::from(!is_at_an_end));
        if let [Damage::Tail { aside, bytes: lost }] = &store.recovery().damage[..] {
            assert_eq!((*lost, length(aside)), (bytes - ends[whole - 1], *lost));
        }
        append(&store, "log", "four");
        drop(store);
        let store = open(&directory);
        assert_eq!(events(&store, "log").len(), whole + 1);
        assert!(store.recovery().damage.is_empty(), "it is reported once");
    }
}

// hardening: H-193
#[test]
fn a_bit_that_flips_anywhere_is_found() {
    let original = Directory::new();
    {
        let store = open(&original);
        put(&store, "a", "value");
        append(&store, "log", "event");
    }
    for extension in ["record", "log", "count"] {
        let file = |directory: &Directory| match extension {
            "count" => directory.join("count"),
            other => directory.only(other),
        };
        for at in 0..length(&file(&original)) {
            let directory = copy(&original);
            let mut bytes = fs::read(file(&directory)).expect("reads");
            bytes[at as usize] ^= 0x10;
            fs::write(file(&directory), bytes).expect("writes");

            let store = open(&directory);
            assert_eq!(
                store.recovery().damage.len(),
                1,
                "byte {at} of the {extension}"
            );
            let served = (value(&store, "a").is_some(), events(&store, "log").len());
            assert_eq!(
                served,
                (extension != "record", usize::from(extension != "log"))
            );
        }
    }
}

// hardening: H-193
#[test]
fn numbers_are_not_used_again_when_their_count_is_cut() {
    let original = Directory::new();
    {
        let store = open(&original);
        append(&store, "log", "event");
    }
    for bytes in 0..length(&original.join("count")) {
        let directory = copy(&original);
        truncate(&directory.join("count"), bytes);
        let store = open(&directory);
        let tail = wait(store.read(at(0), &key("log"), Position::START, 1)).expect("reads");
        let Tail::Events { events, .. } = tail else {
            panic!("{tail:?}");
        };
        assert!(append(&store, "log", "next") > events[0].position);
        assert_eq!(store.recovery().damage.len(), 1, "{bytes} bytes");
    }
}

// hardening: H-177
#[test]
fn a_write_that_was_never_finished_leaves_nothing() {
    let directory = Directory::new();
    {
        let store = open(&directory);
        put(&store, "a", "old");
    }
    let record = directory.only("record");
    let whole = fs::read(&record).expect("reads");
    for bytes in 0..=whole.len() {
        fs::write(record.with_extension("tmp"), &whole[..bytes]).expect("writes");
        let store = open(&directory);
        assert_eq!(
            (store.recovery().unfinished, store.recovery().records),
            (1, 1)
        );
        assert_eq!(value(&store, "a").as_deref(), Some(&b"old"[..]));
    }
}

#[test]
fn a_deleted_record_that_a_crash_brings_back_gives_way_to_its_successor() {
    let directory = Directory::new();
    let older = {
        let store = open(&directory);
        put(&store, "a", "older");
        let path = directory.only("record");
        let bytes = fs::read(&path).expect("reads");
        wait(store.remove(at(0), &key("a"), Precondition::Any)).expect("removes");
        put(&store, "a", "younger");
        (path, bytes)
    };
    fs::write(&older.0, &older.1).expect("writes");

    let store = open(&directory);
    assert_eq!(value(&store, "a").as_deref(), Some(&b"younger"[..]));
    assert_eq!((store.recovery().records, older.0.exists()), (1, false));
}

#[test]
fn a_second_owner_is_refused_while_the_first_one_lives() {
    let directory = Directory::new();
    let first = open(&directory);
    let error = FileStore::open(&directory, StoreLimits::default()).expect_err("is in use");
    assert!(error.is_retryable(), "{error:?}");

    drop(first);
    open(&directory);
}

#[test]
fn a_log_file_does_not_grow_with_dropped_events() {
    let directory = Directory::new();
    let mut limits = StoreLimits::default();
    limits.max_log_events = 2;
    let store = FileStore::open(&directory, limits).expect("opens");
    let event = "x".repeat(10_000);
    for _ in 0..40 {
        append(&store, "log", &event);
    }

    let most = 2 * 2 * 10_100 + (64 << 10) + 10_100;
    assert!(length(&directory.only("log")) <= most);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new();
    let store = open(&directory);
    put(&store, "a", "secret");
    append(&store, "log", "secret");
    let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for entry in fs::read_dir(&directory).expect("lists") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

// hardening: H-180
#[cfg(unix)]
#[test]
fn a_disk_that_fails_is_an_error_and_nothing_else_changes() {
    let directory = Directory::new();
    let moved = Directory::new();
    let store = open(&directory);
    put(&store, "a", "before");
    append(&store, "log", "1");
    fs::rename(&directory, &moved).expect("renames");

    let (name, value_now) = (key("a"), Bytes::from("after"));
    let lost = store.put(at(0), &name, value_now, Precondition::Any, Expiry::Never);
    match wait(lost) {
        Err(StoreError::Backend(error)) => assert_eq!(error.retry(), Retry::Never),
        other => panic!("{other:?}"),
    }
    append_all(&store, "log", &["2"]).expect_err("the directory is gone");
    assert_eq!(value(&store, "a").as_deref(), Some(&b"before"[..]));
    assert_eq!(events(&store, "log"), ["1"]);

    fs::rename(&moved, &directory).expect("renames");
    put(&store, "a", "after");
    append(&store, "log", "3");
    drop(store);
    let store = open(&directory);
    assert_eq!(value(&store, "a").as_deref(), Some(&b"after"[..]));
    assert_eq!(events(&store, "log"), ["1", "3"]);
}

// hardening: H-194
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_loses_one_event_and_no_other() {
    let directory = Directory::new();
    let store = open(&directory);
    append(&store, "log", "1");
    let file = directory.only("log");
    fs::remove_file(&file).expect("removes");
    std::os::unix::fs::symlink("/dev/full", &file).expect("links");

    let error = append_all(&store, "log", &["2"]).expect_err("there is no space");
    assert!(error.is_retryable(), "{error:?}");
    // The length of the event on the disk is unknown, so the append rewrites the file.
    append(&store, "log", "3");
    drop(store);
    assert_eq!(events(&open(&directory), "log"), ["1", "3"]);
}

// hardening: H-188
#[test]
fn a_batch_that_a_crash_cut_is_absent_as_a_whole() {
    let original = Directory::new();
    let whole = {
        let store = open(&original);
        append(&store, "log", "1");
        let before = length(&original.only("log"));
        append_all(&store, "log", &["2", "3"]).expect("appends");
        before..length(&original.only("log"))
    };
    for cut in whole {
        let directory = copy(&original);
        truncate(&directory.only("log"), cut);
        assert_eq!(events(&open(&directory), "log"), ["1"], "after {cut} bytes");
    }
}

#[test]
fn counters_and_the_epoch_survive_a_restart() {
    let directory = Directory::new();
    let epoch = Epoch::new(1 << 100);
    {
        let store = open(&directory);
        add(&store, "a", 40);
        add(&store, "b", -1);
        assert_eq!(wait(store.epoch(epoch)).expect("an epoch"), epoch);
    }
    let store = open(&directory);
    assert_eq!(store.recovery().counters, 2);
    assert_eq!((add(&store, "a", 2), add(&store, "b", 1)), (42, 0));
    assert_eq!(wait(store.epoch(Epoch::new(7))).expect("an epoch"), epoch);
}

#[test]
fn an_expired_counter_leaves_no_file() {
    let directory = Directory::new();
    let store = open(&directory);
    let counter = key("a");
    wait(store.add(at(0), &counter, 1, Expiry::At(at(10)))).expect("adds");
    let first = directory.only("counter");
    wait(store.add(at(10), &counter, 1, Expiry::Never)).expect("adds");
    assert_ne!(directory.only("counter"), first);
}

// hardening: H-190
#[test]
fn a_damaged_counter_or_epoch_is_set_aside() {
    let directory = Directory::new();
    {
        let store = open(&directory);
        add(&store, "a", 1);
        wait(store.epoch(Epoch::new(1))).expect("an epoch");
    }
    let counter = directory.only("counter");
    truncate(&counter, length(&counter) - 1);
    truncate(&directory.join("epoch"), 3);

    let store = open(&directory);
    let damage: Vec<_> = store.recovery().damage.iter().collect();
    assert!(
        matches!(damage[..], [Damage::File { .. }, Damage::File { .. }]),
        "{damage:?}"
    );
    assert_eq!(add(&store, "a", 1), 1);
    let fresh = Epoch::new(2);
    assert_eq!(wait(store.epoch(fresh)).expect("an epoch"), fresh);
}

#[test]
fn lowered_limits_keep_existing_entries() {
    let directory = Directory::new();
    {
        let store = open(&directory);
        for name in ["a", "b", "c"] {
            put(&store, name, "value");
        }
    }
    let mut limits = StoreLimits::default();
    (limits.max_entries, limits.max_bytes) = (1, 1);
    let store = FileStore::open(&directory, limits).expect("opens");
    let all = wait(store.list(at(0), &Prefix::all(&SPACE), Page::first(9))).expect("lists");
    assert_eq!(all.records.len(), 3);
    put(&store, "a", "less");
    let (d, empty) = (key("d"), Bytes::new());
    let more = store.put(at(0), &d, empty, Precondition::Any, Expiry::Never);
    assert!(wait(more).expect_err("is full").limit().is_some());
}

/// Everything in a directory: names and contents.
fn contents(directory: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(directory).expect("lists");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| (path.clone(), fs::read(path).expect("reads"));
    let mut contents: Vec<_> = paths.map(read).collect();
    contents.sort();
    contents
}

// A full disk rejects every write, but the content must stay readable.
#[test]
fn opening_a_store_to_read_it_writes_nothing() {
    let directory = Directory::new();
    let store = open(&directory);
    put(&store, "a", "kept");
    append(&store, "log", "1");
    drop(store);
    let before = contents(&directory);
    for _ in 0..2 {
        let store = open(&directory);
        assert_eq!(value(&store, "a").as_deref(), Some(&b"kept"[..]));
        assert_eq!(events(&store, "log").len(), 1);
    }
    assert!(contents(&directory) == before);
}

#[test]
fn numbers_are_not_given_out_again_after_an_opening_without_a_write() {
    let directory = Directory::new();
    let version = || {
        let store = open(&directory);
        put(&store, "a", "x");
        let found = wait(store.get(at(0), &key("a")))
            .expect("gets")
            .expect("a record");
        wait(store.remove(at(0), &key("a"), Precondition::Any)).expect("removes");
        found.version
    };
    let first = version();
    drop(open(&directory));
    assert_ne!(version(), first);
}

#[test]
fn each_opening_that_writes_has_a_number_of_its_own() {
    let directory = Directory::new();
    let mut numbers = Vec::new();
    for _ in 0..3 {
        let store = open(&directory);
        put(&store, "a", "x");
        numbers.push(store.opening().expect("it belongs to one process"));
    }
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

#[test]
fn a_file_whose_name_the_store_never_gives_is_not_read() {
    let directory = Directory::new();
    put(&open(&directory), "a", "kept");
    let own = contents(&directory);
    let record = own
        .iter()
        .find(|(path, _)| path.extension().is_some_and(|it| it == "record"));
    let (path, bytes) = record.expect("a record");
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a name");
    let short = stem.trim_start_matches('0');
    for foreign in ["1", short, &format!("+{}", &stem[1..]), &format!("0{stem}")] {
        fs::write(directory.join(format!("{foreign}.record")), bytes).expect("writes");
    }
    let store = open(&directory);
    assert_eq!(store.recovery().records, 1, "{:?}", store.recovery());
    wait(store.remove(at(0), &key("a"), Precondition::Any)).expect("removes");
    drop(store);
    assert_eq!(value(&open(&directory), "a"), None, "it does not return");
    assert!(directory.join("1.record").exists(), "it is left alone");
}
