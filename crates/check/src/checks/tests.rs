use std::collections::BTreeSet;

use pintle_model::Revision;

use super::*;
use crate::level::Carrier;

fn covered(carrier: Carrier) -> BTreeSet<(Revision, &'static str)> {
    let mut covered = BTreeSet::new();
    for check in checks() {
        for revision in Revision::ALL {
            let ids = check.requirements(revision, carrier);
            covered.extend(ids.into_iter().map(|id| (revision, id)));
        }
    }
    covered
}

#[test]
fn each_check_has_an_id_of_its_own_and_a_requirement() {
    let mut ids = BTreeSet::new();
    for check in checks() {
        assert!(ids.insert(check.id), "{}", check.id);
        assert!(check.expects.ends_with('.'), "{}", check.id);
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(check.id.chars().all(is_word), "{}", check.id);
        let applies = [Carrier::Stdio, Carrier::Http].into_iter().any(|carrier| {
            let mut revisions = Revision::ALL.into_iter();
            revisions.any(|revision| !check.requirements(revision, carrier).is_empty())
        });
        assert!(applies, "{}", check.id);
    }
}

#[test]
fn at_least_300_requirements_are_covered_over_http_and_200_on_stdio() {
    let (http, stdio) = (covered(Carrier::Http), covered(Carrier::Stdio));
    // The same id in two revisions is one requirement.
    let distinct = |set: &BTreeSet<(Revision, &'static str)>| {
        let ids: BTreeSet<&str> = set.iter().map(|(_, id)| *id).collect();
        ids.len()
    };
    println!("http {}, stdio {}", distinct(&http), distinct(&stdio));
    assert!(distinct(&http) >= 300, "{}", distinct(&http));
    assert!(distinct(&stdio) >= 200, "{}", distinct(&stdio));
}
