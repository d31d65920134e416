//! How often each file breaks each rule: now, and as `xtask/style/counts.txt` records it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::Found;
use super::place::Place;
use crate::failure::{Attempt, Failure, Result};

const FILE: &str = "xtask/style/counts.txt";

const HEADER: &str = "\
# How often a file breaks a rule of plain English: path, place, rule, count. Sorted.
# `cargo xtask style --write` writes this file; the total of a rule may only fall.
";

/// The rules, and how many hits each may have in the end.
const GOALS: [(&str, usize); 14] = [
    ("persons", 40),
    ("is-no", 10),
    ("what-is", 120),
    ("say", 150),
    ("hear", 0),
    ("want", 40),
    ("back", 20),
    ("make-of", 0),
    ("idiom", 0),
    ("doc-start", 60),
    ("doc-empty", 150),
    ("long", 0),
    ("test-name", 60),
    ("test-long", 0),
];

/// Path, place and rule.
type Key = (String, Place, String);

/// Counts by path, place and rule.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Counts(BTreeMap<Key, usize>);

impl Counts {
    /// Counts hits by file, place and rule.
    pub(super) fn of(all: &[Found]) -> Self {
        let mut counts = BTreeMap::new();
        for Found { path, place, hit } in all {
            let key = (path.clone(), *place, hit.rule.to_owned());
            *counts.entry(key).or_default() += 1;
        }
        Self(counts)
    }

    /// Reads the recorded counts; none if there is no file.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let path = root.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path).attempting(|| format!("read {FILE}"))?;
        Self::parse(&text)
    }

    /// Parses recorded counts. Where a merge left two counts for one key, the lower one counts.
    fn parse(text: &str) -> Result<Self> {
        let mut counts = BTreeMap::new();
        let rows = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for row in rows {
            let (key, count) = parse_row(row).ok_or_else(|| {
                Failure::unable(format!("read {FILE}"), format!("invalid row: {row}"))
            })?;
            let least = counts.entry(key).or_insert(count);
            *least = count.min(*least);
        }
        Ok(Self(counts))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the counts as the recorded ones.
    pub(super) fn write(&self, root: &Path) -> Result<()> {
        fs::write(root.join(FILE), self.render()).attempting(|| format!("write {FILE}"))
    }

    fn render(&self) -> String {
        let mut text = HEADER.to_owned();
        for ((path, place, rule), count) in &self.0 {
            let _ = writeln!(text, "{path} {place} {rule} {count}");
        }
        text
    }

    /// The rules whose total is above the recorded one, each with the files that raised it.
    pub(super) fn risen(&self, recorded: &Self) -> Vec<String> {
        let limits = recorded.totals();
        let mut faults = Vec::new();
        for (key, total) in self.totals() {
            let limit = limits.get(&key).copied().unwrap_or_default();
            if total > limit {
                let (place, rule) = key;
                faults.push(format!(
                    "{rule} in {place}: {total} in all, recorded {limit}"
                ));
                faults.extend(self.risen_files(recorded, key));
            }
        }
        faults
    }

    fn risen_files(&self, recorded: &Self, (place, rule): (Place, &str)) -> Vec<String> {
        let files = self
            .0
            .iter()
            .filter(|((_, other, name), _)| (*other, name.as_str()) == (place, rule));
        let risen = files.filter_map(|(key, count)| {
            let limit = recorded.0.get(key).copied().unwrap_or_default();
            let path = &key.0;
            (*count > limit).then(|| format!("  {path}: {count}, recorded {limit}"))
        });
        risen.collect()
    }

    /// Counts by place and rule.
    fn totals(&self) -> BTreeMap<(Place, &str), usize> {
        let mut totals = BTreeMap::new();
        for ((_, place, rule), count) in &self.0 {
            *totals.entry((*place, rule.as_str())).or_default() += count;
        }
        totals
    }

    /// Prints each rule with its hits, its goal, and its hits in strict places.
    pub(super) fn report(&self) {
        println!("style: rule          hits  goal  where none may be");
        for (rule, goal) in GOALS {
            let of_rule = self.0.iter().filter(|((_, _, name), _)| name == rule);
            let (mut hits, mut strict) = (0, 0);
            for ((_, place, _), count) in of_rule {
                hits += count;
                strict += if place.is_strict() { *count } else { 0 };
            }
            println!("style: {rule:<12} {hits:>5} {goal:>5} {strict:>5}");
        }
    }
}

fn parse_row(row: &str) -> Option<(Key, usize)> {
    let mut words = row.rsplitn(4, ' ');
    let count = words.next()?.parse().ok()?;
    let rule = words.next()?.to_owned();
    let place = Place::named(words.next()?)?;
    Some(((words.next()?.to_owned(), place, rule), count))
}

#[cfg(test)]
mod tests {
    use super::super::{Found, Hit, Place};
    use super::Counts;

    fn counts(hits: &[(&str, usize)]) -> Counts {
        let found = |path: &str| Found {
            path: path.to_owned(),
            place: Place::Comment,
            hit: Hit {
                rule: "say",
                line: 1,
                words: String::new(),
            },
        };
        let all: Vec<Found> = hits
            .iter()
            .flat_map(|(path, count)| (0..*count).map(|_| found(path)))
            .collect();
        Counts::of(&all)
    }

    #[test]
    fn counts_are_read_as_they_were_written() {
        let written = counts(&[("b.rs", 1), ("a.rs", 2)]);

        assert!(
            written
                .render()
                .ends_with("a.rs comment say 2\nb.rs comment say 1\n")
        );
        assert_eq!(Counts::parse(&written.render()).ok(), Some(written));
    }

    #[test]
    fn of_two_recorded_counts_the_lower_one_counts() {
        let merged = Counts::parse("a.rs comment say 3\na.rs comment say 2\n");

        assert_eq!(merged.ok(), Some(counts(&[("a.rs", 2)])));
    }

    #[test]
    fn a_row_without_a_known_place_is_an_error() {
        assert!(Counts::parse("a.rs nowhere say 3\n").is_err());
    }

    #[test]
    fn a_total_may_not_rise() {
        let recorded = counts(&[("a.rs", 2), ("b.rs", 1)]);
        let risen = counts(&[("a.rs", 2), ("b.rs", 2)]).risen(&recorded);

        assert_eq!(
            risen,
            [
                "say in comment: 4 in all, recorded 3",
                "  b.rs: 2, recorded 1"
            ]
        );
    }

    #[test]
    fn a_hit_may_move_to_another_file() {
        let recorded = counts(&[("a.rs", 2)]);

        assert!(
            counts(&[("a.rs", 1), ("b.rs", 1)])
                .risen(&recorded)
                .is_empty()
        );
    }
}
