//! What cargo knows of this workspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::child;
use crate::failure::{Attempt, Result};

/// The parts of the answer of `cargo metadata` that are read here.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    /// Every package in the dependency graph.
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Graph,
    /// Where the workspace lives.
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    /// Where builds go.
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
}

/// One package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    /// Its name on the shelf.
    pub(crate) name: String,
    manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Graph {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

/// `kind` is absent for an ordinary dependency, `build` or `dev` otherwise.
#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

impl Workspace {
    /// Reads the workspace around the current folder, with every feature on.
    pub(crate) fn read() -> Result<Self> {
        let arguments = ["metadata", "--format-version", "1", "--all-features"];
        let answer = child::output("cargo", &arguments)?;
        serde_json::from_str(&answer).attempting(|| "read the answer of cargo metadata".into())
    }

    /// The packages that live here, by name.
    pub(crate) fn members(&self) -> Vec<&Package> {
        let mut members: Vec<&Package> = self
            .packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
            .collect();
        members.sort_by(|a, b| a.name.cmp(&b.name));
        members
    }

    /// What `package` needs to be built and to run; not what its tests need.
    pub(crate) fn needs(&self, package: &Package) -> Vec<&Package> {
        let edges = self.resolve.nodes.iter().find(|n| n.id == package.id);
        edges
            .into_iter()
            .flat_map(|node| &node.deps)
            .filter(|edge| edge.dep_kinds.iter().any(EdgeKind::is_for_users))
            .filter_map(|edge| self.packages.iter().find(|p| p.id == edge.pkg))
            .collect()
    }

    /// Everything below `package`, each with the chain of names that leads there.
    pub(crate) fn closure<'a>(&'a self, package: &'a Package) -> BTreeMap<&'a str, String> {
        let mut chain_by_name = BTreeMap::new();
        let mut open = vec![(package, package.name.clone())];
        while let Some((next, chain)) = open.pop() {
            for need in self.needs(next) {
                if !chain_by_name.contains_key(need.name.as_str()) {
                    let longer = format!("{chain} → {}", need.name);
                    chain_by_name.insert(need.name.as_str(), longer.clone());
                    open.push((need, longer));
                }
            }
        }
        chain_by_name
    }
}

impl EdgeKind {
    fn is_for_users(&self) -> bool {
        self.kind.as_deref() != Some("dev")
    }
}

impl Package {
    /// The folder of its manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path
            .parent()
            .expect("a manifest has a folder")
    }
}

/// Every Rust file under `folder`, sorted; build output is left out.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    files(folder, &["rs"])
}

/// Every file under `folder` with one of the extensions, sorted; build output, installed packages
/// and hidden folders are left out.
pub(crate) fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        let entries = fs::read_dir(&next).attempting(|| format!("list {}", next.display()))?;
        for entry in entries {
            let path = entry
                .attempting(|| format!("list {}", next.display()))?
                .path();
            if path.is_dir() {
                if !is_foreign(&path) {
                    open.push(path);
                }
            } else if has_extension(&path, extensions) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_foreign(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    matches!(&*name, "target" | "node_modules") || name.starts_with('.')
}

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}
