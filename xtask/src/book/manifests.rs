//! The lines for `Cargo.toml` in front of each program: they have its crates and the features that it needs.

/// Crates that programs of the book use by a path.
const CRATES: [&str; 12] = [
    "axum",
    "http",
    "opentelemetry",
    "pintle",
    "pintle_skills",
    "pintle_testkit",
    "schemars",
    "serde",
    "serde_json",
    "thiserror",
    "tokio",
    "tracing_subscriber",
];

/// Parts of a program, each with the features of `pintle` of which it needs one.
const FEATURES: [(&str, &[&str]); 13] = [
    ("Client::", &["client", "http-client", "auth"]),
    ("HttpConnect", &["http-client", "auth"]),
    (".connect(\"http", &["http-client", "auth"]),
    ("DocumentClient", &["http-client", "auth"]),
    ("OAuth::", &["auth"]),
    ("audit::", &["audit"]),
    ("otel::", &["otel", "otlp", "prometheus"]),
    ("RequireBearer", &["auth-server"]),
    (".serve_http(", &["http", "auth-server"]),
    (".into_http", &["http", "auth-server"]),
    ("state(\"file:", &["file-store"]),
    ("state(\"sqlite:", &["sqlite"]),
    ("state(\"postgres:", &["postgres"]),
];

/// Returns what the programs of a page lack: a program is a block with a `main` that readers see.
pub(super) fn faults(page: &str) -> Vec<String> {
    let (mut manifest, mut faults) = (None, Vec::new());
    for block in page.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap_or((block, ""));
        match kind {
            "toml" if text.starts_with("[dependencies]") => manifest = Some(text),
            "rust" | "rust,no_run" if is_program(text) => faults.extend(lacks(text, manifest)),
            _ => {}
        }
    }
    faults
}

fn is_program(text: &str) -> bool {
    let starts = ["async fn main", "fn main() -> Server"];
    let is_main = |line: &str| starts.iter().any(|start| line.starts_with(start));
    text.lines().any(is_main)
}

fn lacks(program: &str, manifest: Option<&str>) -> Vec<String> {
    let Some(manifest) = manifest else {
        return vec!["a program has no lines for Cargo.toml".to_owned()];
    };
    let crates = CRATES.iter().filter(|name| {
        let names = [name.to_string(), name.replace('_', "-")];
        let is_named = names
            .iter()
            .any(|name| manifest.contains(&format!("\n{name} = ")));
        uses(program, name) && !is_named
    });
    let features = FEATURES.iter().filter(|(part, names)| {
        let has = |name: &&str| manifest.contains(&format!("\"{name}\""));
        program.contains(part) && !names.iter().any(has)
    });
    let crates = crates.map(|name| format!("a program lacks the crate {name}"));
    let features = features.map(|(part, names)| format!("`{part}` lacks a feature of {names:?}"));
    crates.chain(features).collect()
}

/// Whether a path of the program begins with the crate.
fn uses(program: &str, name: &str) -> bool {
    let path = format!("{name}::");
    program.match_indices(&path).any(|(at, _)| {
        let before = program[..at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || "_:".contains(c)))
    })
}

#[cfg(test)]
mod tests {
    use super::faults;

    fn page(manifest: &str, program: &str) -> Vec<String> {
        let main = "async fn main() {}";
        faults(&format!(
            "# A\n\n```toml\n[dependencies]\n{manifest}\n```\n\n```rust\n{program}\n{main}\n```\n"
        ))
    }

    #[test]
    fn a_program_needs_its_crates_and_features() {
        let pintle = "pintle = { features = [\"http\"] }";
        assert!(page(pintle, "use pintle::prelude::*;\nserver.serve_http(1)").is_empty());
        assert_eq!(page(pintle, "serde::Serialize").len(), 1);
        assert_eq!(page(pintle, "use pintle::auth::RequireBearer;").len(), 1);
        assert!(page(pintle, "my_serde::x pintle::serde::x").is_empty());
    }

    #[test]
    fn a_program_without_lines_for_its_manifest_is_a_fault() {
        for main in ["async fn main() {}", "fn main() -> Server { todo!() }"] {
            assert_eq!(faults(&format!("# A\n\n```rust\n{main}\n```\n")).len(), 1);
        }
        assert!(faults("# A\n\n```rust\nfn server() {}\n```\n").is_empty());
    }
}
