use std::collections::BTreeSet;

use pintle_model::Revision;

use super::*;
use crate::level::Carrier;

#[test]
fn each_check_of_clients_has_an_id_of_its_own_and_a_requirement() {
    let mut ids = BTreeSet::new();
    for check in client_checks() {
        assert!(ids.insert(check.id), "{}", check.id);
        assert!(check.expects.ends_with('.'), "{}", check.id);
        assert!(check.id.starts_with("client-"), "{}", check.id);
        let applies = [Carrier::Stdio, Carrier::Http].into_iter().any(|carrier| {
            let mut revisions = Revision::ALL.into_iter();
            revisions.any(|revision| check.level(revision, carrier).is_some())
        });
        assert!(applies, "{}", check.id);
    }
}
