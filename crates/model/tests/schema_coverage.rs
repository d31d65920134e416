//! Every definition of every published schema has a Rust type, and the type knows every member
//! of the definition.
//!
//! The schemas are read from the folder `PINTLE_SPEC_DIR`, laid out as
//! `<revision>/schema.json`. Without it the test is skipped, and fails in CI.

mod sample;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pintle_model::Revision;

use crate::documents::{self, report};
use sample::{Definitions, Size};
use table::{Check, TABLE};

// spec: 2025-11-25 MSG-01, META-02, ICON-01
// spec: 2026-07-28 N-BASE-01, N-ICON-05
#[test]
fn every_definition_has_a_type_that_knows_its_members() {
    let Some(folder) = documents::folder("PINTLE_SPEC_DIR") else {
        return;
    };
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    let rows: BTreeMap<&str, &Check> = TABLE.iter().map(|(name, check)| (*name, check)).collect();
    assert_eq!(
        rows.len(),
        TABLE.len(),
        "a definition is in the table twice"
    );
    for revision in Revision::ALL {
        let definitions = read(&folder, revision);
        for name in definitions.names() {
            seen.insert(name.to_owned());
            match rows.get(name) {
                Some(check) => faults.extend(faults_of(&definitions, revision, name, check)),
                None => faults.push(format!("{revision}: {name} has no row in the table")),
            }
        }
    }
    let gone = rows.keys().filter(|name| !seen.contains(**name));
    faults.extend(gone.map(|name| format!("{name} is in the table and in no schema")));
    report(&format!(
        "{} definitions compared with {} rows",
        seen.len(),
        rows.len()
    ));
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn read(folder: &Path, revision: Revision) -> Definitions {
    let path = folder.join(revision.as_str()).join("schema.json");
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Definitions::of(serde_json::from_slice(&text).expect("a published schema is JSON"))
}

fn faults_of(
    definitions: &Definitions,
    revision: Revision,
    name: &str,
    check: &Check,
) -> Vec<String> {
    let check = match check {
        Check::Sample(check) => check,
        Check::Because(reason) => {
            assert!(!reason.is_empty());
            return Vec::new();
        }
    };
    let fault = |size| {
        let sample = definitions.sample(name, size);
        let fault = check(sample.clone()).err()?;
        Some(format!("{revision}: {name}: {fault}: {sample}"))
    };
    [Size::Smallest, Size::Largest]
        .into_iter()
        .filter_map(fault)
        .collect()
}
