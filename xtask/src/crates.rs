//! The number of crates that a minimal server, a client that signs in, or an engine of shared state needs.
//!
//! Counted on a package of its own outside of this workspace, because that is what a user has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::child;
use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

/// A minimal program and the most crates it may build, itself included.
struct Budget {
    name: &'static str,
    features: &'static str,
    /// True for the default features of `pintle`, with `tokio` beside it.
    has_defaults: bool,
    most: usize,
}

const BUDGETS: [Budget; 7] = [
    Budget {
        name: "smallest-stdio",
        features: "\"macros\"",
        has_defaults: false,
        most: 41,
    },
    Budget {
        name: "minimal-stdio",
        features: "",
        has_defaults: true,
        most: 45,
    },
    Budget {
        name: "minimal-http",
        features: "\"http\"",
        has_defaults: true,
        most: 75,
    },
    // With the server framework beside it, as the facade comes: the client alone builds fewer.
    Budget {
        name: "minimal-client-with-auth",
        features: "\"auth\"",
        has_defaults: true,
        most: 130,
    },
    // One engine of shared state each, beside a server over HTTP.
    Budget {
        name: "http-with-sqlite",
        features: "\"http\", \"sqlite\"",
        has_defaults: true,
        most: 80,
    },
    Budget {
        name: "http-with-postgres",
        features: "\"http\", \"postgres\"",
        has_defaults: true,
        most: 125,
    },
    Budget {
        name: "http-with-redis",
        features: "\"http\", \"redis\"",
        has_defaults: true,
        most: 140,
    },
];

/// Counts all of them.
pub(crate) fn check() -> Result<()> {
    let workspace = Workspace::read()?;
    let mut faults = Vec::new();
    for budget in &BUDGETS {
        let crates = count(&package(&workspace, budget)?)?;
        println!(
            "crates: {} builds {} of at most {}",
            budget.name,
            crates.len(),
            budget.most
        );
        if crates.len() > budget.most {
            let names: Vec<&str> = crates.iter().map(String::as_str).collect();
            faults.push(format!("{}: {}", budget.name, names.join(", ")));
        }
    }
    Failure::unless_empty("a minimal program builds too many crates", faults)
}

/// Writes the package of a minimal program; returns its manifest.
fn package(workspace: &Workspace, budget: &Budget) -> Result<PathBuf> {
    let folder = workspace.target.join("budget").join(budget.name);
    let attempted = || format!("write {}", folder.display());
    fs::create_dir_all(folder.join("src")).attempting(attempted)?;
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").attempting(attempted)?;
    let manifest = folder.join("Cargo.toml");
    fs::write(&manifest, manifest_text(&workspace.root, budget)).attempting(attempted)?;
    // The same versions as everywhere else here.
    fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock")).attempting(attempted)?;
    Ok(manifest)
}

fn manifest_text(root: &Path, budget: &Budget) -> String {
    let facade = root.join("crates/pintle");
    let tokio = match budget.has_defaults {
        true => "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }\n",
        false => "",
    };
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n\
         pintle = {{ path = {facade:?}, default-features = {defaults}, features = [{features}] }}\n{tokio}",
        name = budget.name,
        defaults = budget.has_defaults,
        features = budget.features,
    )
}

/// The packages that a build compiles: for users and for build scripts, not for tests.
fn count(manifest: &Path) -> Result<BTreeSet<String>> {
    let manifest = child::text(manifest)?;
    let what = [
        "tree",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let tree = child::output(
        "cargo",
        &[&what[..], &["--manifest-path", manifest]].concat(),
    )?;
    Ok(tree.lines().filter_map(name_and_version).collect())
}

/// `name v1.2.3` without the notes behind it.
fn name_and_version(line: &str) -> Option<String> {
    let mut words = line.split(' ');
    Some(format!(
        "{} {}",
        words.next().filter(|name| !name.is_empty())?,
        words.next()?
    ))
}

#[cfg(test)]
mod tests {
    use super::name_and_version;

    #[test]
    fn a_repeated_package_counts_once() {
        assert_eq!(
            name_and_version("serde v1.0.1 (*)"),
            name_and_version("serde v1.0.1")
        );
        assert_eq!(name_and_version(""), None);
    }
}
