//! Listing.

use super::Subject;
use super::bed::{Bed, at, must};
use crate::{Expiry, Page, Precondition, StoreLimits};

/// Runs each check within one group, and in a store with order also across groups.
pub(super) async fn run(subject: &dyn Subject) {
    for is_grouped in [true, false] {
        if is_grouped || subject.is_ordered() {
            run_in(&Place {
                subject,
                is_grouped,
            })
            .await;
        }
    }
}

async fn run_in(place: &Place<'_>) {
    keys_come_in_order(place).await;
    pages_join_without_a_gap(place).await;
    a_page_goes_on_after_a_key_that_is_gone(place).await;
    what_is_over_is_not_listed(place).await;
    a_page_is_bounded(place).await;
}

/// Where the names of a check are: in one group, or each in its own.
struct Place<'s> {
    subject: &'s dyn Subject,
    is_grouped: bool,
}

impl Place<'_> {
    async fn bed(&self, limits: StoreLimits) -> Bed {
        let bed = Bed::limited(self.subject, limits).await;
        if self.is_grouped { bed.in_group() } else { bed }
    }
}

async fn keys_come_in_order(place: &Place<'_>) {
    let bed = place.bed(StoreLimits::default()).await;
    for name in ["b", "a/2", "a", "ä", "a/10", "B", "a-"] {
        bed.put(0, name, name, Expiry::Never).await;
    }
    let all = bed.list(0, "", Page::first(100)).await;
    assert_eq!(bed.names(&all), ["B", "a", "a-", "a/10", "a/2", "b", "ä"]);
    assert_eq!(all.next, None);
    assert!(
        all.records
            .iter()
            .all(|(key, it)| key.name().as_bytes().ends_with(&it.value))
    );

    let some = bed.list(0, "a/", Page::first(100)).await;
    assert_eq!(bed.names(&some), ["a/10", "a/2"]);
    assert!(
        bed.names(&bed.list(0, "c", Page::first(100)).await)
            .is_empty()
    );
}

async fn pages_join_without_a_gap(place: &Place<'_>) {
    let bed = place.bed(StoreLimits::default()).await;
    let all: Vec<String> = (0..25).map(|number| format!("n{number:02}")).collect();
    for name in &all {
        bed.put(0, name, "", Expiry::Never).await;
    }
    bed.put(0, "o", "another prefix", Expiry::Never).await;
    for most in [0, 1, 5, 24, 25, 26] {
        let (mut found, mut page) = (Vec::new(), Page::first(most));
        loop {
            let listing = bed.list(0, "n", page).await;
            assert!(listing.records.len() <= most.max(1));
            found.extend(bed.names(&listing).into_iter().map(str::to_owned));
            let Some(next) = listing.next else { break };
            page = Page::after(next, most);
        }
        assert_eq!(found, all, "pages of {most}");
    }
}

async fn a_page_goes_on_after_a_key_that_is_gone(place: &Place<'_>) {
    let bed = place.bed(StoreLimits::default()).await;
    for name in ["a", "b", "c"] {
        bed.put(0, name, "", Expiry::Never).await;
    }
    let first = bed.list(0, "", Page::first(2)).await;
    assert_eq!(first.next, Some(bed.key("b")));
    must("remove", bed.remove(0, "b", Precondition::Any).await);

    let second = bed.list(0, "", Page::after(bed.key("b"), 2)).await;
    assert_eq!((bed.names(&second), second.next.clone()), (vec!["c"], None));
    // Before everything under the prefix, and behind it.
    let early = bed.list(0, "c", Page::after(bed.key("a"), 2)).await;
    assert_eq!(bed.names(&early), ["c"]);
    assert!(
        bed.names(&bed.list(0, "a", Page::after(bed.key("x"), 2)).await)
            .is_empty()
    );
}

async fn what_is_over_is_not_listed(place: &Place<'_>) {
    let bed = place.bed(StoreLimits::default()).await;
    bed.put(0, "a", "", Expiry::At(at(5))).await;
    bed.put(0, "b", "", Expiry::Never).await;
    bed.put(0, "c", "", Expiry::At(at(5))).await;
    assert_eq!(
        bed.names(&bed.list(4, "", Page::first(9)).await),
        ["a", "b", "c"]
    );

    let left = bed.list(5, "", Page::first(1)).await;
    assert_eq!((bed.names(&left), left.next.clone()), (vec!["b"], None));
}

async fn a_page_is_bounded(place: &Place<'_>) {
    let limits = StoreLimits {
        max_page_entries: 3,
        max_page_bytes: 10,
        ..StoreLimits::default()
    };
    let bed = place.bed(limits).await;
    for (name, bytes) in [
        ("a", 0),
        ("b", 0),
        ("c", 0),
        ("d", 4),
        ("e", 6),
        ("f", 1),
        ("g", 11),
    ] {
        bed.put(0, name, &"x".repeat(bytes), Expiry::Never).await;
    }
    let mut page = Page::first(usize::MAX);
    for expected in [&["a", "b", "c"][..], &["d", "e"], &["f"], &["g"]] {
        let listing = bed.list(0, "", page).await;
        assert_eq!(bed.names(&listing), expected);
        let last = expected.last().expect("no page is empty");
        page = Page::after(bed.key(last), usize::MAX);
    }
}
