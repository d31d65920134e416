//! SECURITY.md names every bound that can be set: a limit that is not published does not exist.
//!
//! The name of a bound shows its meaning: `max_<x>` and `min_<x>` are bounds, and a time names its
//! end (`_timeout`, `_ttl`, `_interval`, `_delay`).

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::failure::{Attempt, Failure, Result};
use crate::source::{Code, closing_brace};
use crate::workspace::{Workspace, rust_files};

const PAGE: &str = "SECURITY.md";

/// The forms of a setting that is a count, a size or a duration.
const BEGINNINGS: [&str; 2] = ["max_", "min_"];
const ENDS: [&str; 4] = ["_timeout", "_ttl", "_interval", "_delay"];
/// Settings without a form, because nothing else can be meant.
const EXEMPT: [&str; 3] = ["ttl", "timeout", "page_size"];

/// Structs of settings, and their fields that bound nothing.
const SETTINGS: &[(&str, &str, &[&str])] = &[
    ("crates/proto/src/limits.rs", "Limits", &[]),
    (
        "crates/runtime/src/pipe.rs",
        "PipeOptions",
        &["limits", "is_shared", "shutdown"],
    ),
    ("crates/runtime/src/streams.rs", "StreamOptions", &[]),
    (
        "crates/runtime/src/fleet/options.rs",
        "FleetOptions",
        &["server", "is_shared"],
    ),
    ("crates/process/src/options.rs", "ChildOptions", &[]),
    ("crates/doctor/src/options.rs", "DoctorOptions", &[]),
    ("crates/client/src/options.rs", "ClientOptions", &["limits"]),
    ("crates/client/src/group/options.rs", "GroupOptions", &[]),
    (
        "crates/http/src/server/options.rs",
        "HttpOptions",
        &["legacy", "limits", "conversation_limits"],
    ),
    ("crates/http/src/server/options.rs", "HttpLimits", &[]),
    ("crates/server/src/tasks/options.rs", "TaskOptions", &[]),
    ("crates/skills/src/limits.rs", "SkillLimits", &[]),
    (
        "crates/http/src/client/options.rs",
        "HttpClientOptions",
        &["headers", "proxy", "tls", "authorizer", "limits"],
    ),
    ("crates/http/src/client/options.rs", "HttpClientLimits", &[]),
    ("crates/auth/src/authorizer/build.rs", "OAuthOptions", &[]),
    ("crates/auth/src/resource/options.rs", "ResourceLimits", &[]),
    ("crates/store/src/limits.rs", "StoreLimits", &[]),
    (
        "crates/audit/src/options.rs",
        "AuditOptions",
        &[
            "is_strict",
            "names",
            "principals",
            "clients",
            "key",
            "trace_id",
        ],
    ),
    ("crates/openapi/src/limits.rs", "OpenApiLimits", &[]),
    ("crates/otel/src/telemetry.rs", "TelemetryOptions", &[]),
    (
        "crates/check/src/options.rs",
        "CheckOptions",
        &["level", "only", "revisions", "tools"],
    ),
    (
        "crates/tap/src/options.rs",
        "TapOptions",
        &["keeps_secrets", "display"],
    ),
    (
        "crates/proxy/src/options.rs",
        "ProxyOptions",
        &["is_shared", "list_tools_first"],
    ),
    ("crates/web/src/options.rs", "WebOptions", &[]),
    (
        "crates/showcase/src/options.rs",
        "ShowcaseOptions",
        &["page_size", "state"],
    ),
    ("crates/keys/src/ring_source.rs", "KeyRingOptions", &[]),
];

static STRUCT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bpub struct (\w*(?:Limits|Options))\b").expect("the pattern is valid")
});

/// A public field of a struct of settings.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    kind: String,
}

/// Looks every setting up in the published tables, and checks the forms of their names.
pub(crate) fn check() -> Result<()> {
    let root = Workspace::read()?.root;
    let page = read(&root.join(PAGE))?;
    let mut faults = unknown_structs(&root)?;
    let mut count = 0;
    for &(file, name, others) in SETTINGS {
        let settings = settings(&Code::of(&read(&root.join(file))?), name);
        if settings.is_empty() {
            let cause = format!("{file} does not declare it");
            return Err(Failure::unable(format!("read {name}"), cause));
        }
        let section = section(&page, name);
        let is_bound = |setting: &&Setting| !others.contains(&setting.name.as_str());
        for setting in settings.iter().filter(is_bound) {
            count += 1;
            let place = format!("{name}::{} ({file})", setting.name);
            if !section.contains(&format!("`{}`", setting.name)) {
                faults.push(format!("{place} has no row under `{name}` in {PAGE}"));
            }
            if !setting.has_form() {
                faults.push(format!(
                    "{place} has none of the forms max_, min_, {}",
                    ENDS.join(", ")
                ));
            }
        }
    }
    println!("limits: {count} settings looked up");
    Failure::unless_empty("limits", faults)
}

impl Setting {
    /// Returns true if the name has a form, or the value is not a count, a size or a duration.
    fn has_form(&self) -> bool {
        let numbers = ["usize", "u8", "u16", "u32", "u64", "Duration"];
        let is_bound = numbers.iter().any(|number| self.kind.contains(number));
        !is_bound
            || EXEMPT.contains(&self.name.as_str())
            || BEGINNINGS.iter().any(|begin| self.name.starts_with(begin))
            || ENDS.iter().any(|end| self.name.ends_with(end))
    }
}

/// Structs of settings that the table here lacks.
fn unknown_structs(root: &Path) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    for file in rust_files(&root.join("crates"))? {
        let code = Code::of(&read(&file)?);
        let names = STRUCT
            .captures_iter(code.text())
            .filter_map(|found| found.get(1));
        let is_unknown = |name: &&str| SETTINGS.iter().all(|(_, known, _)| known != name);
        let names = names.map(|name| name.as_str()).filter(is_unknown);
        unknown.extend(
            names.map(|name| format!("{name} ({}) is not in the table of xtask", file.display())),
        );
    }
    Ok(unknown)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).attempting(|| format!("read {}", file.display()))
}

/// The part of the page below the bold line that names a struct.
fn section<'a>(page: &'a str, name: &str) -> &'a str {
    let is_head = |line: &str| line.starts_with("**") || line.starts_with("## ");
    let mut at = 0;
    let mut start = None;
    for line in page.split_inclusive('\n') {
        if let Some(start) = start.filter(|_| is_head(line)) {
            return &page[start..at];
        }
        if line.starts_with("**") && line.contains(&format!("`{name}`")) {
            start = Some(at);
        }
        at += line.len();
    }
    start.map_or("", |start| &page[start..])
}

/// The public fields of a struct.
fn settings(code: &Code, name: &str) -> Vec<Setting> {
    let text = code.text();
    let Some(start) = text.find(&format!("pub struct {name} {{")) else {
        return Vec::new();
    };
    let open = start + text[start..].find('{').expect("it was just found");
    let body = &text[open..closing_brace(text.as_bytes(), open)];
    let declared = body
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub "));
    let fields = declared.filter_map(|field| field.split_once(':'));
    let settings = fields.map(|(name, kind)| Setting {
        name: name.to_owned(),
        kind: kind.trim().trim_end_matches(',').to_owned(),
    });
    settings.collect()
}

#[cfg(test)]
mod tests {
    use super::{Code, STRUCT, Setting, section, settings};

    fn setting(name: &str, kind: &str) -> Setting {
        Setting {
            name: name.to_owned(),
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn the_public_fields_of_one_struct_are_read() {
        let code = "pub struct A {\n    /// x\n    pub one: u8,\n    two: u8,\n}\npub struct B {\n    pub three: u8,\n}\n";

        assert_eq!(settings(&Code::of(code), "A"), [setting("one", "u8")]);
        assert!(settings(&Code::of(code), "C").is_empty());
    }

    #[test]
    fn a_row_stands_in_the_section_of_its_struct() {
        let page = "**A**: `A`\n| `one` |\n**B**: `B`\n| `two` |\n## End\n";

        assert_eq!(section(page, "A"), "**A**: `A`\n| `one` |\n");
        assert!(section(page, "B").ends_with("| `two` |\n"));
        assert_eq!(section(page, "C"), "");
    }

    #[test]
    fn a_bound_has_a_form() {
        for name in [
            "max_calls",
            "min_ttl",
            "drain_timeout",
            "ttl",
            "poll_interval",
        ] {
            assert!(setting(name, "Duration").has_form(), "{name}");
        }
        assert!(!setting("patience", "Option<Duration>").has_form());
        assert!(!setting("calls", "usize").has_form());
        assert!(setting("watch_cache", "bool").has_form());
    }

    #[test]
    fn structs_of_settings_are_known_by_their_names() {
        assert!(STRUCT.is_match("pub struct Limits {") && STRUCT.is_match("pub struct AOptions"));
        assert!(!STRUCT.is_match("pub struct LimitError {"));
    }
}
