//! Circles: sets of sibling rooms that import each other. A room is a file with its folder.
//!
//! The list `xtask/circles.txt` names the circles that are allowed. An edge belongs to the two
//! siblings that contain its ends. So an edge between a room and its parent belongs to no circle.

mod imports;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use self::modules::{Crate, Edge};
use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

const FILE: &str = "xtask/circles.txt";

const HEADER: &str = "\
# Sets of sibling rooms that import each other, and that may: folder, then rooms. Sorted.
# `cargo xtask floors --circle FOLDER/ROOM` prints the imports of one; `--write` removes the ones
# that are gone.
";

/// The folder, as `crate/module`, and the names of the rooms in it.
type Circle = (String, BTreeSet<String>);

/// Compares the circles with the list of those that are allowed.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let found: Vec<Circle> = circles(&read(workspace)?).into_keys().collect();
    let listed = listed(&workspace.root)?;
    println!("floors: {} circles of rooms", found.len());
    let new = found.iter().filter(|circle| !listed.contains(circle));
    let new = new.map(|circle| format!("{} is a circle and not in {FILE}", show(circle)));
    let gone = listed.iter().filter(|circle| !found.contains(circle));
    let gone = gone.map(|circle| {
        format!(
            "{} is not a circle: `cargo xtask floors --write` removes it from {FILE}",
            show(circle)
        )
    });
    Failure::unless_empty(
        "rooms import each other in circles",
        new.chain(gone).collect(),
    )
}

/// Removes from the list the circles that are gone. A part of a listed circle takes its place.
pub(crate) fn write() -> Result<()> {
    let workspace = Workspace::read()?;
    let listed = listed(&workspace.root)?;
    let is_allowed = |(folder, rooms): &Circle| {
        let mut allowed = listed.iter();
        listed.is_empty() || allowed.any(|(other, all)| other == folder && all.is_superset(rooms))
    };
    let edges = read(&workspace)?;
    let found = circles(&edges).into_keys().filter(is_allowed);
    let rows: Vec<String> = found.map(|circle| show(&circle) + "\n").collect();
    fs::write(
        workspace.root.join(FILE),
        HEADER.to_owned() + &rows.concat(),
    )
    .attempting(|| format!("write {FILE}"))
}

/// Prints the imports between the rooms of the circle that contains `room`, such as
/// `http/server/batch`.
pub(crate) fn print(room: &str) -> Result<()> {
    let (folder, name) = room.rsplit_once('/').unwrap_or_default();
    let edges = read(&Workspace::read()?)?;
    let circles = circles(&edges);
    let mut found = circles.iter();
    let circle = found.find(|((other, rooms), _)| other == folder && rooms.contains(name));
    let Some((circle, edges)) = circle else {
        return Err(Failure::unable(
            format!("print {room}"),
            "the room is in no circle",
        ));
    };
    println!("{}", show(circle));
    for Edge {
        from, to, place, ..
    } in edges
    {
        println!("  {place}: {from} → {to}");
    }
    Ok(())
}

fn show((folder, rooms): &Circle) -> String {
    let rooms: Vec<&str> = rooms.iter().map(String::as_str).collect();
    format!("{folder}: {}", rooms.join(" "))
}

/// The circles in the list.
fn listed(root: &Path) -> Result<Vec<Circle>> {
    let text = fs::read_to_string(root.join(FILE)).attempting(|| format!("read {FILE}"))?;
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let circles = rows.filter_map(|row| {
        let (folder, rooms) = row.split_once(": ")?;
        let rooms = rooms.split_whitespace().map(str::to_owned);
        Some((folder.to_owned(), rooms.collect()))
    });
    Ok(circles.collect())
}

/// The edges between sibling rooms of all crates that users build.
fn read(workspace: &Workspace) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    let crates = workspace.root.join("crates");
    let packages = workspace.members().into_iter();
    for package in packages.filter(|package| package.folder().starts_with(&crates)) {
        edges.extend(Crate::read(package, &workspace.root)?.edges());
    }
    Ok(edges)
}

/// The circles, each with its edges.
fn circles(edges: &[Edge]) -> BTreeMap<Circle, Vec<&Edge>> {
    let mut by_folder: BTreeMap<&str, Vec<&Edge>> = BTreeMap::new();
    for edge in edges {
        by_folder.entry(&edge.folder).or_default().push(edge);
    }
    let mut circles = BTreeMap::new();
    for (folder, edges) in by_folder {
        for rooms in circles_of(&edges) {
            let is_inside = |edge: &&&Edge| rooms.contains(&edge.from) && rooms.contains(&edge.to);
            let inside = edges.iter().filter(is_inside).copied().collect();
            circles.insert((folder.to_owned(), rooms), inside);
        }
    }
    circles
}

/// The sets of rooms of one folder that reach each other.
fn circles_of(edges: &[&Edge]) -> BTreeSet<BTreeSet<String>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges {
        reached.insert(&edge.from, reached_from(edges, &edge.from));
    }
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let in_circles = reached.keys().filter(|room| reaches(room, room));
    let circles = in_circles.map(|room| {
        let all = reached[room].iter().filter(|other| reaches(other, room));
        all.map(|name| (*name).to_owned()).collect()
    });
    circles.collect()
}

fn reached_from<'a>(edges: &[&'a Edge], from: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for edge in edges.iter().filter(|edge| edge.from == next) {
            if reached.insert(edge.to.as_str()) {
                open.push(&edge.to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::{Edge, circles, show};

    fn found(pairs: &[(&str, &str)]) -> Vec<String> {
        let edge = |(from, to): &(&str, &str)| Edge {
            folder: "a".to_owned(),
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            place: String::new(),
        };
        let edges: Vec<Edge> = pairs.iter().map(edge).collect();
        circles(&edges).keys().map(show).collect()
    }

    #[test]
    fn rooms_that_import_each_other_are_a_circle() {
        assert_eq!(found(&[("x", "y"), ("y", "x")]), ["a: x y"]);
        assert_eq!(found(&[("x", "y"), ("y", "z"), ("z", "x")]), ["a: x y z"]);
    }

    #[test]
    fn rooms_beside_a_circle_are_not_in_it() {
        let edges = [("w", "x"), ("x", "y"), ("y", "x"), ("y", "z")];

        assert_eq!(found(&edges), ["a: x y"]);
        assert!(found(&edges[..2]).is_empty());
    }
}
