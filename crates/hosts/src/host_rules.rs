//! The rules by which hosts read entries and start programs. They are documented, or were reported.

use std::time::Duration;

use pintle_model::JsonObject;
use serde_json::Value;

use super::host::Host;

/// The rules by which a host reads an entry and starts a program. A rule that is not known is the most common one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostRules {
    /// The variables that a program gets besides those of its entry.
    pub environment: ChildEnvironment,
    /// The directories in which the host looks up a program.
    pub path: PathSource,
    /// The time that a server has until the handshake is over.
    pub start_timeout: Duration,
    /// The extensions of JSON that the host accepts.
    pub json: JsonForm,
    /// The value of `type` for a program, if entries have it.
    pub program_type: Option<&'static str>,
    /// The value of `type` for a URL, if entries have it.
    pub url_type: Option<&'static str>,
    /// Whether `type` can be `sse`.
    pub has_sse: bool,
    /// Whether the file can have servers at URLs.
    pub has_urls: bool,
    /// Whether a URL without `type` is read as a program.
    pub needs_type: bool,
}

/// The variables of the environment that a host passes to programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEnvironment {
    /// All of its own.
    All,
    /// A short list, such as `HOME`, `PATH`, `SHELL` and `USER`.
    Few,
}

/// The origin of a host's `PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathSource {
    /// The shell of the user: the host runs in a terminal, or reads the environment of the shell.
    Shell,
    /// The desktop, which does not read the files of the shell.
    Desktop,
}

/// The extensions of JSON that a host accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonForm {
    /// The host accepts no extension.
    Strict,
    /// The host accepts comments.
    Comments,
    /// Comments and trailing commas. Also a host of which nothing else is known.
    Lenient,
}

impl Host {
    /// Returns the rules of this host.
    pub fn rules(&self) -> HostRules {
        let dialect = self.dialect();
        HostRules {
            environment: self.environment(),
            path: self.path_source(),
            start_timeout: Duration::from_secs(self.start_seconds()),
            json: self.json_form(),
            program_type: dialect.program_type,
            url_type: dialect.url_type,
            has_sse: dialect.has_sse,
            has_urls: dialect.url.is_some(),
            needs_type: matches!(self.id, "claude-code" | "roo" | "kilo"),
        }
    }

    /// Returns the time to start that an entry states, if it states one.
    pub(super) fn start_time(&self, members: &JsonObject) -> Option<Duration> {
        let number = |key: &str| members.get(key).and_then(Value::as_f64);
        let milliseconds = |key| number(key).map(|time| time / 1000.0);
        let seconds = match self.id {
            "codex" => number("startup_timeout_sec").or(milliseconds("startup_timeout_ms")),
            "goose" | "cline" | "roo" | "kilo" => number("timeout"),
            "gemini" | "qwen" | "opencode" => milliseconds("timeout"),
            _ => None,
        };
        let time = Duration::try_from_secs_f64(seconds?).ok();
        time.filter(|time| !time.is_zero())
    }

    fn environment(&self) -> ChildEnvironment {
        match self.id {
            "claude" | "codex" | "cline" | "lmstudio" | "windsurf" => ChildEnvironment::Few,
            _ => ChildEnvironment::All,
        }
    }

    fn path_source(&self) -> PathSource {
        match self.id {
            "claude" | "lmstudio" => PathSource::Desktop,
            _ => PathSource::Shell,
        }
    }

    fn start_seconds(&self) -> u64 {
        match self.id {
            "codex" => 10,
            "claude" | "claude-code" => 30,
            _ => 60,
        }
    }

    fn json_form(&self) -> JsonForm {
        match self.id {
            "claude" | "claude-code" | "cline" | "roo" | "kilo" | "amazonq" => JsonForm::Strict,
            "gemini" | "qwen" => JsonForm::Comments,
            _ => JsonForm::Lenient,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(id: &str) -> HostRules {
        Host::by_id(id).expect("a known host").rules()
    }

    #[test]
    fn the_rules_of_hosts_differ() {
        assert_eq!(rules("claude").path, PathSource::Desktop);
        assert!(!rules("claude").has_urls && rules("cursor").has_urls);
        assert_eq!(rules("vscode").url_type, Some("http"));
        assert_eq!(rules("vscode").json, JsonForm::Lenient);
        assert_eq!(rules("gemini").json, JsonForm::Comments);
        assert_eq!(rules("codex").start_timeout, Duration::from_secs(10));
        assert!(rules("claude-code").needs_type);
    }

    #[test]
    fn an_entry_can_state_its_time_to_start() {
        let time = |id: &str, members: Value| {
            let members = members.as_object().expect("an object").clone();
            Host::by_id(id).expect("a known host").start_time(&members)
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            time("codex", json!({ "startup_timeout_sec": 20 })),
            seconds(20)
        );
        assert_eq!(
            time("codex", json!({ "startup_timeout_ms": 5000 })),
            seconds(5)
        );
        assert_eq!(time("gemini", json!({ "timeout": 3000 })), seconds(3));
        assert_eq!(time("goose", json!({ "timeout": 3 })), seconds(3));
        for odd in [json!(0), json!(-1), json!("x"), json!(1e300)] {
            assert_eq!(time("goose", json!({ "timeout": odd })), None);
        }
        assert_eq!(time("cursor", json!({ "timeout": 3 })), None);
    }
}
