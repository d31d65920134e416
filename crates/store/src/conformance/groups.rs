//! Checks of groups: the part of the contract that a store without an order of keys holds too.

use super::Subject;
use super::bed::{Bed, must};
use crate::{Expiry, Page, Precondition, Retry, StoreError};

pub(super) async fn run(subject: &dyn Subject) {
    a_group_is_listed_without_its_neighbors(subject).await;
    a_removed_record_leaves_its_group(subject).await;
    several_groups_are_listed_or_refused(subject).await;
    a_namespace_is_watched_or_refused(subject).await;
}

/// Names of two groups and of their neighbors, in order.
const NAMES: [&str; 9] = [
    "a", "a-.x", "a.", "a.1", "a.1.2", "a.2", "a0.x", "aa.x", "b.1",
];

async fn filled(subject: &dyn Subject) -> Bed {
    let bed = Bed::make(subject).await;
    for name in NAMES {
        bed.put(0, name, name, Expiry::Never).await;
    }
    bed.append(0, "a.log", "a log is not listed").await;
    bed
}

async fn a_group_is_listed_without_its_neighbors(subject: &dyn Subject) {
    let bed = filled(subject).await;
    for (start, expected) in [
        ("a.", &["a.", "a.1", "a.1.2", "a.2"][..]),
        ("a.1", &["a.1", "a.1.2"]),
        ("a.1.", &["a.1.2"]),
        ("b.", &["b.1"]),
        ("c.", &[]),
    ] {
        let listing = bed.list(0, start, Page::first(100)).await;
        assert_eq!(bed.names(&listing), expected, "with the prefix {start}");
        assert_eq!(listing.next, None);
    }
}

async fn a_removed_record_leaves_its_group(subject: &dyn Subject) {
    let bed = filled(subject).await;
    must("remove", bed.remove(0, "a.1", Precondition::Any).await);
    let listing = bed.list(0, "a.", Page::first(2)).await;
    assert_eq!(bed.names(&listing), ["a.", "a.1.2"]);
    let listing = bed.list(0, "a.", Page::after(bed.key("a.1.2"), 2)).await;
    assert_eq!(bed.names(&listing), ["a.2"]);

    bed.put(0, "a.1", "", Expiry::Never).await;
    let listing = bed.list(0, "a.1", Page::first(9)).await;
    assert_eq!(bed.names(&listing), ["a.1", "a.1.2"]);
}

async fn several_groups_are_listed_or_refused(subject: &dyn Subject) {
    let bed = filled(subject).await;
    for start in ["", "a"] {
        match bed.try_list(0, start, Page::first(100)).await {
            Ok(listing) => {
                let expected = NAMES.iter().filter(|name| name.starts_with(start));
                assert!(bed.names(&listing).iter().eq(expected), "{listing:?}");
            }
            Err(error) => assert_refused(subject, &error),
        }
    }
}

async fn a_namespace_is_watched_or_refused(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    match bed.try_changed("").await {
        Ok(mut changes) => {
            bed.put(0, "a.1", "", Expiry::Never).await;
            assert_eq!(changes.next().await, Some(()));
        }
        Err(error) => assert_refused(subject, &error),
    }
}

/// A store with order refuses no prefix. Another one gives the final error.
fn assert_refused(subject: &dyn Subject, error: &StoreError) {
    let retry = match error {
        StoreError::Backend(error) => error.retry(),
        _ => panic!("a store that refuses a prefix returned {error:?}"),
    };
    assert!(!subject.is_ordered(), "{error:?}");
    assert_eq!(retry, Retry::Never);
}
