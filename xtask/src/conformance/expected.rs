//! The committed list of what passes, and what does not yet.
//!
//! A line is `<revision> pass <scenario>`, `<revision> later <scenario>: <reason>` or
//! `<revision> may <scenario>: <reason>`; blank lines and lines that begin with `#` are for the reader.

use std::collections::BTreeMap;

use crate::failure::{Failure, Result};

use super::judge::Verdict;

/// What the list says, by revision and scenario.
#[derive(Debug)]
pub(crate) struct Expected {
    rows: BTreeMap<(String, String), Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    Pass,
    Later {
        reason: String,
    },
    /// Passes or fails: that depends on the replica of each request.
    May {
        reason: String,
    },
}

impl Expected {
    /// Reads the list; every line has to say something.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut rows = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |cause| {
                Failure::unable(
                    format!("read the list of scenarios, line {}", at + 1),
                    cause,
                )
            };
            let (key, row) = parse_line(line).ok_or_else(|| fault("it is not a row"))?;
            if rows.insert(key, row).is_some() {
                return Err(fault("it stands there twice"));
            }
        }
        Ok(Self { rows })
    }

    /// Replaces the rows that another list has, too.
    pub(crate) fn replaced_by(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self
    }

    /// Returns the rows of a revision.
    pub(crate) fn of(&self, revision: &str) -> Self {
        self.renamed(revision, revision)
    }

    /// Returns the rows of `key` as rows of a revision.
    pub(crate) fn renamed(&self, key: &str, revision: &str) -> Self {
        let rows = self.rows.iter().filter(|((of, _), _)| of == key);
        let rows = rows.map(|((_, name), row)| ((revision.to_owned(), name.clone()), row.clone()));
        Self {
            rows: rows.collect(),
        }
    }

    /// Returns the rows whose scenarios do not begin with `prefix`.
    pub(crate) fn without(mut self, prefix: &str) -> Self {
        self.rows.retain(|(_, name), _| !name.starts_with(prefix));
        self
    }

    /// Returns the names of the scenarios.
    pub(crate) fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.rows.keys().map(|(_, name)| name.as_str())
    }

    /// Prints what was found for a revision and returns how it differs from the list.
    pub(crate) fn compare(&self, revision: &str, found: &BTreeMap<String, Verdict>) -> Vec<String> {
        let mut faults = Vec::new();
        let (mut passed, mut later) = (0, 0);
        for ((_, scenario), row) in self.rows.iter().filter(|((of, _), _)| of == revision) {
            let fault = match (row, found.get(scenario)) {
                (Row::Pass, Some(Verdict::Passes(_))) => {
                    passed += 1;
                    continue;
                }
                (Row::Later { reason }, Some(Verdict::Fails(_)) | None) => {
                    later += 1;
                    println!("  later  {scenario}: {reason}");
                    continue;
                }
                (Row::May { reason }, Some(_)) => {
                    later += 1;
                    println!("  may  {scenario}: {reason}");
                    continue;
                }
                (Row::Pass, Some(Verdict::Fails(reasons))) => reasons.join("; "),
                (Row::Pass | Row::May { .. }, None) => "it did not complete".to_owned(),
                (Row::Later { .. }, Some(Verdict::Passes(_))) => {
                    "it passes, so list it as `pass`".to_owned()
                }
            };
            faults.push(format!("{revision} {scenario}: {fault}"));
        }
        let key = |scenario: &String| (revision.to_owned(), scenario.clone());
        let unlisted = found
            .keys()
            .filter(|scenario| !self.rows.contains_key(&key(scenario)));
        faults.extend(unlisted.map(|scenario| format!("{revision} {scenario}: it is not listed")));
        println!(
            "conformance: {revision}: {passed} pass, {later} later, {} faults",
            faults.len()
        );
        faults
    }
}

fn parse_line(line: &str) -> Option<((String, String), Row)> {
    let (revision, rest) = line.split_once(' ')?;
    let (word, rest) = rest.split_once(' ')?;
    let (scenario, row) = match word {
        "pass" => (rest, Row::Pass),
        "later" | "may" => {
            let (scenario, reason) = rest.split_once(": ")?;
            let reason = reason.to_owned();
            let row = match word {
                "later" => Row::Later { reason },
                _ => Row::May { reason },
            };
            (scenario, row)
        }
        _ => return None,
    };
    let is_name = !scenario.contains([' ', ':']);
    is_name.then(|| ((revision.to_owned(), scenario.to_owned()), row))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Expected, Verdict};

    const LIST: &str =
        "# words\n\n2025-11-25 pass ping\n2025-11-25 later polling: resume is to come\n";

    fn faults(found: [(&str, Verdict); 2]) -> Vec<String> {
        let found = BTreeMap::from(found.map(|(name, verdict)| (name.to_owned(), verdict)));
        Expected::parse(LIST)
            .expect("a list")
            .compare("2025-11-25", &found)
    }

    fn fails() -> Verdict {
        Verdict::Fails(vec!["no".to_owned()])
    }

    #[test]
    fn what_is_as_listed_is_fine() {
        assert!(faults([("ping", Verdict::Passes(1)), ("polling", fails())]).is_empty());
    }

    #[test]
    fn a_scenario_that_passes_too_early_is_a_fault() {
        let found = faults([
            ("ping", Verdict::Passes(1)),
            ("polling", Verdict::Passes(1)),
        ]);

        assert_eq!(
            found,
            ["2025-11-25 polling: it passes, so list it as `pass`"]
        );
    }

    #[test]
    fn a_scenario_that_fails_or_is_unknown_is_a_fault() {
        let found = faults([("ping", fails()), ("new", fails())]);

        assert_eq!(
            found,
            ["2025-11-25 ping: no", "2025-11-25 new: it is not listed"]
        );
    }

    #[test]
    fn a_row_of_another_list_replaces_a_row() {
        let list = Expected::parse("2025-11-25 may ping: it depends").expect("a list");
        let expected = Expected::parse(LIST).expect("a list").replaced_by(list);
        for verdict in [Verdict::Passes(1), fails()] {
            let found = [("ping", verdict), ("polling", fails())];
            let found = BTreeMap::from(found.map(|(name, it)| (name.to_owned(), it)));
            assert_eq!(expected.compare("2025-11-25", &found), [""; 0]);
        }
        let found = BTreeMap::from([("polling".to_owned(), fails())]);
        let expected = expected.compare("2025-11-25", &found);
        assert_eq!(expected, ["2025-11-25 ping: it did not complete"]);
    }

    #[test]
    fn rows_of_a_key_are_rows_of_a_revision() {
        let list = Expected::parse("a/b later ping: it depends\na/c pass ping\na/b pass auth/x");
        let renamed = list.expect("a list").renamed("a/b", "a").without("auth/");
        assert_eq!(renamed.scenarios().collect::<Vec<_>>(), ["ping"]);
        let found = BTreeMap::from([("ping".to_owned(), fails())]);
        assert_eq!(renamed.compare("a", &found), [""; 0]);
    }

    #[test]
    fn a_line_that_says_nothing_is_refused() {
        assert!(Expected::parse("2025-11-25 maybe ping").is_err());
        assert!(Expected::parse("2025-11-25 later ping").is_err());
        assert!(Expected::parse("2025-11-25 pass ping\n2025-11-25 pass ping").is_err());
    }
}
