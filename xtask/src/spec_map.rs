//! `docs/SPEC-MAP.md`: which requirement is shown by which test.
//!
//! The map has three parts. What is covered is read from the comments above tests, anywhere in this
//! repository; what has a reason instead, from `docs/untested`. What has neither needs the
//! requirements documents, which are not part of it: without them that part stays as it was, minus
//! what has been covered since.

mod duty;
mod marks;
mod page;
mod reasons;
mod requirements;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

use self::duty::Duty;
use self::reasons::Reasons;
use self::requirements::{Id, Known};

const FILE: &str = "docs/SPEC-MAP.md";

/// The tests that show a requirement or a duty of it, by document.
type Coverage = BTreeMap<String, BTreeMap<Duty, BTreeSet<String>>>;

/// Requirements, by document.
type Ids = BTreeMap<String, BTreeSet<Id>>;

/// The marks and reasons of the repository, and the requirements if the documents are at hand.
struct Gathered {
    file: PathBuf,
    coverage: Coverage,
    reasons: Reasons,
    known: Option<Known>,
}

impl Gathered {
    /// Reads them, and fails on those that contradict each other or the documents.
    fn read() -> Result<Self> {
        let root = Workspace::read()?.root;
        let known = requirements::read()?;
        let (coverage, mut faults) = marks::read(&root)?;
        let (reasons, misread) = reasons::read(&root)?;
        faults.extend(misread);
        faults.extend(rules::needless(&coverage, &reasons));
        if let Some(known) = &known {
            faults.extend(rules::unknown(known, &coverage, &reasons));
        }
        Failure::unless_empty("comments and reasons that do not hold", faults)?;
        Ok(Self {
            file: root.join(FILE),
            coverage,
            reasons,
            known,
        })
    }

    /// The requirements that have neither a test nor a reason.
    fn missing(&self) -> Ids {
        let all = match &self.known {
            Some(known) => known
                .iter()
                .map(|(document, rows)| (document.clone(), rows.keys().cloned().collect()))
                .collect(),
            None => page::listed(&self.committed()),
        };
        rules::missing(&all, &self.coverage, &self.reasons)
    }

    /// The duties that lack a test or a reason. Without the documents there are none.
    fn open(&self) -> Vec<String> {
        let Some(known) = &self.known else {
            println!("spec-map: PINTLE_REQUIREMENTS_DIR is not set, so ids are not looked up");
            return Vec::new();
        };
        let mut open = rules::open(known, &self.coverage, &self.reasons);
        open.extend(rules::one_sided(known, &self.coverage, &self.reasons));
        open
    }

    fn committed(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }

    fn render(&self) -> String {
        page::render(&self.coverage, &self.reasons, &self.missing())
    }
}

/// Writes the map.
pub(crate) fn write() -> Result<()> {
    let gathered = Gathered::read()?;
    for fault in gathered.open() {
        println!("spec-map: {fault}");
    }
    let file = &gathered.file;
    fs::write(file, gathered.render()).attempting(|| format!("write {}", file.display()))
}

/// Compares the committed map with the tests, the reasons and the requirements.
pub(crate) fn check() -> Result<()> {
    let gathered = Gathered::read()?;
    let rule = "requirements without a test and a reason; see docs/untested";
    Failure::unless_empty(rule, gathered.open())?;
    let stale = difference(&gathered.committed(), &gathered.render());
    Failure::unless_empty(
        "docs/SPEC-MAP.md is stale; run `cargo xtask spec-map`",
        stale,
    )
}

/// Lines that the committed map lacks (`+`) or has no test for any more (`-`).
fn difference(stands: &str, wanted: &str) -> Vec<String> {
    let old: BTreeSet<&str> = stands.lines().collect();
    let new: BTreeSet<&str> = wanted.lines().collect();
    let lacks = new.difference(&old).map(|line| format!("+ {line}"));
    let extra = old.difference(&new).map(|line| format!("- {line}"));
    lacks.chain(extra).collect()
}
