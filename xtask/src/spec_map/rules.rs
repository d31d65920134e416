//! When the map is at fault: a duty without a test and a reason, or with both.

use std::collections::{BTreeMap, BTreeSet};

use super::duty::Duty;
use super::reasons::{FOLDER, Reasons};
use super::requirements::{Id, Known, Requirement};
use super::{Coverage, Ids};

/// The requirements that have neither a test nor a reason, of `all`.
pub(crate) fn missing(all: &Ids, coverage: &Coverage, reasons: &Reasons) -> Ids {
    let mut missing = all.clone();
    for (document, duty) in duties(coverage, reasons) {
        if let Some(ids) = missing.get_mut(document) {
            ids.remove(&duty.id);
        }
    }
    missing
}

/// The requirements of a binding level that have neither a test nor a reason.
pub(crate) fn open(known: &Known, coverage: &Coverage, reasons: &Reasons) -> Vec<String> {
    let all = known
        .iter()
        .map(|(document, rows)| (document.clone(), rows.keys().cloned().collect()));
    let missing = missing(&all.collect(), coverage, reasons);
    let level = |document: &str, id: &Id| known[document][id].level;
    flat(&missing)
        .filter(|(document, id)| level(document, id).binds())
        .map(|(document, id)| {
            let level = level(document, id);
            format!("{document} {id} ({level}) has neither a test nor a reason")
        })
        .collect()
}

/// The requirements that bind both sides, of which the marks and reasons name one side only.
pub(crate) fn one_sided(known: &Known, coverage: &Coverage, reasons: &Reasons) -> Vec<String> {
    let mut sides: BTreeMap<(&str, &Id), BTreeSet<Option<&str>>> = BTreeMap::new();
    for (document, duty) in duties(coverage, reasons) {
        let named = sides.entry((document, &duty.id)).or_default();
        named.insert(duty.side());
    }
    let binds_both = |document: &str, id: &Id| {
        let requirement = known.get(document).and_then(|rows| rows.get(id));
        requirement.is_some_and(|Requirement { binds_both, .. }| *binds_both)
    };
    sides
        .into_iter()
        .filter(|((document, id), _)| binds_both(document, id))
        .filter_map(|((document, id), named)| {
            let other = other_side(&named)?;
            Some(format!(
                "{document} {id} binds both sides, and has nothing for the {other}"
            ))
        })
        .collect()
}

/// The side that is not named, if only the other one is.
fn other_side(named: &BTreeSet<Option<&str>>) -> Option<&'static str> {
    let only = |side| named.iter().all(|name| *name == Some(side));
    match (only("client"), only("server")) {
        (true, _) => Some("server"),
        (_, true) => Some("client"),
        _ => None,
    }
}

/// The reasons that stand beside a test for the same duty.
pub(crate) fn needless(coverage: &Coverage, reasons: &Reasons) -> Vec<String> {
    let is_tested = |document: &str, duty: &Duty| {
        let tested = coverage.get(document);
        tested.is_some_and(|rows| rows.keys().any(|tested| tested.overlaps(duty)))
    };
    flat_rows(reasons)
        .filter(|(document, duty, _)| is_tested(document, duty))
        .map(|(document, duty, _)| format!("{document} {duty} has a test, and needs no reason"))
        .collect()
}

/// The marks and reasons whose requirement is not in the documents.
pub(crate) fn unknown(known: &Known, coverage: &Coverage, reasons: &Reasons) -> Vec<String> {
    let is_known = |document: &str, duty: &Duty| {
        let rows = known.get(document);
        rows.is_some_and(|rows| rows.contains_key(&duty.id))
    };
    let marks = flat_rows(coverage).map(|(document, duty, tests)| {
        let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
        (document, duty, tests.join(", "))
    });
    let reasons =
        flat_rows(reasons).map(|(document, duty, _)| (document, duty, format!("in {FOLDER}")));
    marks
        .chain(reasons)
        .filter(|(document, duty, _)| !is_known(document, duty))
        .map(|(document, duty, place)| format!("{document} has no {duty}: {place}"))
        .collect()
}

fn duties<'a>(
    coverage: &'a Coverage,
    reasons: &'a Reasons,
) -> impl Iterator<Item = (&'a str, &'a Duty)> {
    let tested = flat_rows(coverage).map(|(document, duty, _)| (document, duty));
    let reasoned = flat_rows(reasons).map(|(document, duty, _)| (document, duty));
    tested.chain(reasoned)
}

fn flat_rows<T>(
    rows: &BTreeMap<String, BTreeMap<Duty, T>>,
) -> impl Iterator<Item = (&str, &Duty, &T)> {
    let of = |(document, rows)| {
        let document: &String = document;
        let rows: &BTreeMap<Duty, T> = rows;
        rows.iter()
            .map(move |(duty, value)| (document.as_str(), duty, value))
    };
    rows.iter().flat_map(of)
}

fn flat(ids: &Ids) -> impl Iterator<Item = (&str, &Id)> {
    ids.iter()
        .flat_map(|(document, ids)| ids.iter().map(move |id| (document.as_str(), id)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::duty::Duty;
    use super::super::reasons::Reasons;
    use super::super::requirements::{Id, Known, Level, Requirement};
    use super::super::{Coverage, Ids};
    use super::{missing, needless, one_sided, open, unknown};

    fn id(text: &str) -> Id {
        Id::parse(text).expect("an id")
    }

    fn document<T>(rows: T) -> BTreeMap<String, T> {
        BTreeMap::from([("2025-11-25".to_owned(), rows)])
    }

    fn rows<T: Clone>(duties: &[&str], value: &T) -> BTreeMap<String, BTreeMap<Duty, T>> {
        let duty = |text: &&str| (Duty::parse(text).expect("a duty"), value.clone());
        document(duties.iter().map(duty).collect())
    }

    fn tests(duties: &[&str]) -> Coverage {
        rows(duties, &BTreeSet::from(["`a.rs`: a test".to_owned()]))
    }

    fn reasons(duties: &[&str]) -> Reasons {
        rows(duties, &"why".to_owned())
    }

    fn known(level: Level, binds_both: bool) -> Known {
        let requirement = Requirement { level, binds_both };
        let ids = ["LIFE-09", "LIFE-10", "PING-02"];
        document(ids.map(|text| (id(text), requirement)).into())
    }

    fn ids(texts: &[&str]) -> Ids {
        document(texts.iter().map(|text| id(text)).collect())
    }

    #[test]
    fn a_requirement_with_a_test_or_a_reason_is_not_missing() {
        let all = ids(&["LIFE-09", "LIFE-10", "PING-02"]);
        let rest = missing(&all, &tests(&["LIFE-09 (server)"]), &reasons(&["PING-02"]));

        assert_eq!(rest, ids(&["LIFE-10"]));
    }

    #[test]
    fn a_must_or_should_without_a_test_and_a_reason_is_a_fault() {
        for (level, name) in [(Level::Must, "MUST"), (Level::Should, "SHOULD")] {
            let faults = open(
                &known(level, true),
                &tests(&["LIFE-09"]),
                &reasons(&["PING-02"]),
            );

            let expected = format!("2025-11-25 LIFE-10 ({name}) has neither a test nor a reason");
            assert_eq!(faults, [expected]);
        }
    }

    #[test]
    fn a_permission_without_a_test_and_a_reason_is_allowed() {
        let faults = open(&known(Level::Other, true), &tests(&[]), &reasons(&[]));

        assert!(faults.is_empty());
    }

    #[test]
    fn a_test_and_a_reason_for_the_same_duty_are_a_fault() {
        let same = [
            ("LIFE-09", "LIFE-09"),
            ("LIFE-09", "LIFE-09 (server)"),
            ("LIFE-09 (server)", "LIFE-09"),
            ("LIFE-09 (server)", "LIFE-09 (server)"),
        ];
        for (test, reason) in same {
            let faults = needless(&tests(&[test]), &reasons(&[reason]));

            let expected = format!("2025-11-25 {reason} has a test, and needs no reason");
            assert_eq!(faults, [expected]);
        }
    }

    #[test]
    fn a_test_for_one_duty_and_a_reason_for_another_are_allowed() {
        let reasons = reasons(&["LIFE-09 (client)", "LIFE-10"]);

        assert!(needless(&tests(&["LIFE-09 (server)"]), &reasons).is_empty());
    }

    #[test]
    fn a_requirement_for_both_sides_needs_something_for_each() {
        let both = known(Level::Must, true);
        let faults = |tested: &[&str], reasoned: &[&str]| {
            one_sided(&both, &tests(tested), &reasons(reasoned))
        };

        assert_eq!(
            faults(&["LIFE-09 (server)"], &["LIFE-10 (client reads)"]),
            [
                "2025-11-25 LIFE-09 binds both sides, and has nothing for the client",
                "2025-11-25 LIFE-10 binds both sides, and has nothing for the server",
            ]
        );
        assert!(faults(&["LIFE-09 (server)"], &["LIFE-09 (client)"]).is_empty());
        assert!(faults(&["LIFE-09 (server)", "LIFE-09"], &[]).is_empty());
        assert!(faults(&["LIFE-09 (server)", "LIFE-09 (forms)"], &[]).is_empty());
    }

    #[test]
    fn a_requirement_for_one_side_needs_nothing_for_the_other() {
        let one = known(Level::Must, false);

        assert!(one_sided(&one, &tests(&["LIFE-09 (server)"]), &reasons(&[])).is_empty());
    }

    #[test]
    fn an_id_that_no_document_has_is_a_fault() {
        let known = known(Level::Must, true);
        let faults = unknown(
            &known,
            &tests(&["LIFE-11"]),
            &reasons(&["LIFE-12 (server)"]),
        );

        assert_eq!(
            faults,
            [
                "2025-11-25 has no LIFE-11: `a.rs`: a test",
                "2025-11-25 has no LIFE-12 (server): in docs/untested",
            ]
        );
    }
}
