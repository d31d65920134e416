//! SECURITY.md names every bound that can be set: a limit that is not published does not exist.

use std::fs;
use std::path::Path;

use crate::failure::{Attempt, Failure, Result};
use crate::source::{Code, closing_brace};
use crate::workspace::Workspace;

const PAGE: &str = "SECURITY.md";

/// Where bounds are set, and the fields there that are none.
const SETTINGS: &[(&str, &str, &[&str])] = &[
    ("crates/proto/src/limits.rs", "Limits", &[]),
    (
        "crates/runtime/src/pipe.rs",
        "PipeOptions",
        &["limits", "is_shared", "shutdown"],
    ),
    ("crates/runtime/src/streams.rs", "StreamOptions", &[]),
    ("crates/process/src/options.rs", "ChildOptions", &[]),
    ("crates/client/src/options.rs", "ClientOptions", &["limits"]),
    ("crates/client/src/group/options.rs", "GroupOptions", &[]),
    (
        "crates/http/src/server/options.rs",
        "HttpOptions",
        &["legacy", "limits", "conversation"],
    ),
    ("crates/http/src/server/options.rs", "HttpLimits", &[]),
    ("crates/server/src/tasks/options.rs", "TaskOptions", &[]),
    ("crates/skills/src/limits.rs", "SkillLimits", &[]),
    ("crates/http/src/client/options.rs", "HttpClientLimits", &[]),
    ("crates/auth/src/authorizer/build.rs", "OAuthOptions", &[]),
    ("crates/auth/src/resource/options.rs", "ResourceLimits", &[]),
];

/// Looks every setting up in the published tables.
pub(crate) fn check() -> Result<()> {
    let root = Workspace::read()?.root;
    let page = read(&root.join(PAGE))?;
    let mut faults = Vec::new();
    let mut settings = 0;
    for &(file, name, others) in SETTINGS {
        let fields = fields(&Code::of(&read(&root.join(file))?), name);
        if fields.is_empty() {
            return Err(Failure::unable(
                format!("read {name}"),
                format!("it is not in {file}"),
            ));
        }
        let bounds = fields
            .iter()
            .filter(|field| !others.contains(&field.as_str()));
        for field in bounds {
            settings += 1;
            if !page.contains(&format!("`{field}`")) {
                faults.push(format!("{name}::{field} ({file})"));
            }
        }
    }
    println!("limits: {settings} settings looked up");
    Failure::unless_empty("SECURITY.md does not name", faults)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).attempting(|| format!("read {}", file.display()))
}

/// The public fields of a struct.
fn fields(code: &Code, name: &str) -> Vec<String> {
    let text = code.text();
    let Some(start) = text.find(&format!("pub struct {name} {{")) else {
        return Vec::new();
    };
    let open = start + text[start..].find('{').expect("it was just found");
    let body = &text[open..closing_brace(text.as_bytes(), open)];
    let declared = body
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub "));
    let names = declared.filter_map(|field| field.split_once(':'));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Code, fields};

    #[test]
    fn the_public_fields_of_one_struct_are_read() {
        let code = "pub struct A {\n    /// x\n    pub one: u8,\n    two: u8,\n}\npub struct B {\n    pub three: u8,\n}\n";

        assert_eq!(fields(&Code::of(code), "A"), ["one"]);
        assert!(fields(&Code::of(code), "C").is_empty());
    }
}
