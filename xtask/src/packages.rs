//! The manifests of published crates: each has everything that registries and docs.rs show.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::child;
use crate::failure::{Attempt, Failure, Result};

/// A registry accepts at most five keywords and five categories.
const MAX_WORDS: usize = 5;

#[derive(Debug, Deserialize)]
struct Members {
    packages: Vec<Manifest>,
}

/// A manifest, as `cargo metadata` prints it.
#[derive(Debug, Deserialize)]
struct Manifest {
    name: String,
    version: String,
    manifest_path: PathBuf,
    /// The registries that accept the crate; `None` for all of them.
    publish: Option<Vec<String>>,
    description: Option<String>,
    license: Option<String>,
    readme: Option<String>,
    repository: Option<String>,
    rust_version: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    features: BTreeMap<String, Vec<String>>,
    metadata: Value,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    doc: bool,
}

/// Checks the manifests, and that the facade documents each of its features.
pub(crate) fn check() -> Result<()> {
    let published = published()?;
    let mut faults: Vec<String> = published.iter().flat_map(faults).collect();
    let facade = published.iter().find(|manifest| manifest.name == "pintle");
    let facade = facade.ok_or_else(|| Failure::unable("find pintle", "it is not published"))?;
    let root = facade.manifest_path.with_file_name("src/lib.rs");
    let text = fs::read_to_string(&root).attempting(|| format!("read {}", root.display()))?;
    faults.extend(features_without_row(facade, &text));
    println!("packages: {} crates are published", published.len());
    Failure::unless_empty("a published crate lacks a part of its manifest", faults)
}

/// Prints `name-version` of each published crate.
pub(crate) fn list() -> Result<()> {
    for manifest in published()? {
        println!("{}-{}", manifest.name, manifest.version);
    }
    Ok(())
}

fn published() -> Result<Vec<Manifest>> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let answer = child::output("cargo", &arguments)?;
    let members: Members =
        serde_json::from_str(&answer).attempting(|| "read the answer of cargo metadata".into())?;
    let mut published = members.packages;
    published.retain(|manifest| manifest.publish.is_none());
    Ok(published)
}

fn faults(manifest: &Manifest) -> Vec<String> {
    let is_documented = manifest.targets.iter().any(|target| target.doc);
    let settings = &manifest.metadata["docs"]["rs"];
    let parts = [
        ("description", manifest.description.is_some()),
        ("license", manifest.license.is_some()),
        ("readme", manifest.readme.is_some()),
        ("repository", manifest.repository.is_some()),
        ("rust-version", manifest.rust_version.is_some()),
        ("1 to 5 keywords", is_short(&manifest.keywords)),
        ("1 to 5 categories", is_short(&manifest.categories)),
        (
            "all-features for docs.rs",
            !is_documented || settings["all-features"] == true,
        ),
    ];
    let missing = parts.into_iter().filter(|(_, is_there)| !is_there);
    missing
        .map(|(part, _)| format!("{}: {part}", manifest.name))
        .collect()
}

fn is_short(words: &[String]) -> bool {
    (1..=MAX_WORDS).contains(&words.len())
}

/// The features that have no row in the table of the documentation.
fn features_without_row(facade: &Manifest, documentation: &str) -> Vec<String> {
    let features = facade.features.keys().filter(|name| *name != "default");
    let missing = features.filter(|name| !documentation.contains(&format!("//! | `{name}` |")));
    missing
        .map(|name| format!("{}: the feature {name} in the documentation", facade.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(part: &str, value: Value) -> Manifest {
        let mut text = serde_json::json!({
            "name": "boat",
            "version": "1.0.0",
            "manifest_path": "/boat/Cargo.toml",
            "publish": null,
            "description": "A boat.",
            "license": "MIT",
            "readme": "README.md",
            "repository": "https://example.com",
            "rust_version": "1.88",
            "keywords": ["boat"],
            "categories": ["os"],
            "features": { "default": ["sail"], "sail": [] },
            "metadata": { "docs": { "rs": { "all-features": true } } },
            "targets": [{ "doc": true }],
        });
        text[part] = value;
        serde_json::from_value(text).expect("a manifest")
    }

    #[test]
    fn a_missing_part_of_a_manifest_is_a_fault() {
        assert_eq!(faults(&manifest("name", "boat".into())), [""; 0]);
        for part in [
            "description",
            "license",
            "readme",
            "repository",
            "rust_version",
            "metadata",
        ] {
            assert_eq!(faults(&manifest(part, Value::Null)).len(), 1, "{part}");
        }
        let six = serde_json::json!(["a", "b", "c", "d", "e", "f"]);
        assert_eq!(faults(&manifest("keywords", six)).len(), 1);
    }

    #[test]
    fn a_feature_needs_a_row_in_the_table() {
        let facade = manifest("name", "boat".into());
        let documented = "//! | `sail` | yes | wind |";
        assert_eq!(features_without_row(&facade, documented), [""; 0]);
        assert_eq!(features_without_row(&facade, "//! sail").len(), 1);
    }
}
