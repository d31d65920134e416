//! The environment of a server: a short list that every program needs, and explicit additions.
//!
//! The host's environment also holds tokens and keys. A server gets only those that the
//! configuration names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables that are passed on if the host has them: directories, programs and the language.
#[cfg(not(windows))]
const INHERITED: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];
/// Variables that are passed on if the host has them: directories, programs and the system.
#[cfg(windows)]
const INHERITED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Rules that produce a server's environment.
#[derive(Debug, Clone, Default)]
pub(super) struct Environment {
    /// Names to pass on besides [`INHERITED`].
    inherited: Vec<OsString>,
    inherits_all: bool,
    value_by_name: BTreeMap<OsString, OsString>,
}

impl Environment {
    pub(super) fn set(&mut self, name: OsString, value: OsString) {
        self.value_by_name.insert(name, value);
    }

    pub(super) fn inherit(&mut self, name: OsString) {
        self.inherited.push(name);
    }

    pub(super) fn inherit_all(&mut self) {
        self.inherits_all = true;
    }

    /// The names added by the configuration, in an order that does not depend on the host.
    pub(super) fn names(&self) -> impl Iterator<Item = &OsStr> {
        let inherited = self.inherited.iter().map(OsString::as_os_str);
        inherited.chain(self.value_by_name.keys().map(OsString::as_os_str))
    }

    /// Returns the server's variables, given those of the host. A set value replaces the host's
    /// value.
    pub(super) fn resolve(
        &self,
        host: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let passed = host
            .into_iter()
            .filter(|(name, value)| self.passes(name, value));
        let passed = passed.filter(|(name, _)| !self.value_by_name.keys().any(|set| is(set, name)));
        let set = &self.value_by_name;
        passed
            .chain(
                set.iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            )
            .collect()
    }

    fn passes(&self, name: &OsStr, value: &OsStr) -> bool {
        if self.inherits_all || self.inherited.iter().any(|added| is(added, name)) {
            return true;
        }
        // A value that begins with `()` is a function that a shell exported, which is code.
        let is_function = value.as_encoded_bytes().starts_with(b"()");
        !is_function && INHERITED.iter().any(|safe| is(OsStr::new(safe), name))
    }
}

/// Returns the value of a variable.
pub(super) fn value<'a>(variables: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    let found = variables.iter().find(|(key, _)| is(key, OsStr::new(name)));
    found.map(|(_, value)| value.as_os_str())
}

/// Whether two names mean the same variable on this system.
fn is(one: &OsStr, other: &OsStr) -> bool {
    if cfg!(windows) {
        one.eq_ignore_ascii_case(other)
    } else {
        one == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Vec<(OsString, OsString)> {
        let variables = [
            ("HOME", "/home/jo"),
            ("PATH", "/usr/bin"),
            ("TERM", "() { :; }; echo shock"),
            ("GITHUB_TOKEN", "secret"),
            ("LD_PRELOAD", "/tmp/evil.so"),
        ];
        variables
            .map(|(name, value)| (name.into(), value.into()))
            .into()
    }

    fn names(variables: &[(OsString, OsString)]) -> Vec<&str> {
        variables
            .iter()
            .map(|(name, _)| name.to_str().expect("text"))
            .collect()
    }

    // hardening: H-74
    #[test]
    fn only_listed_variables_are_passed_on() {
        let variables = Environment::default().resolve(host());

        assert_eq!(names(&variables), ["HOME", "PATH"]);
    }

    // hardening: H-74
    #[test]
    fn named_variables_are_passed_on_or_set() {
        let mut environment = Environment::default();
        environment.inherit("GITHUB_TOKEN".into());
        environment.set("PATH".into(), "/opt/bin".into());
        environment.set("MODE".into(), "test".into());

        let variables = environment.resolve(host());

        assert_eq!(names(&variables), ["HOME", "GITHUB_TOKEN", "MODE", "PATH"]);
        assert_eq!(value(&variables, "PATH"), Some(OsStr::new("/opt/bin")));
        assert_eq!(
            value(&variables, "GITHUB_TOKEN"),
            Some(OsStr::new("secret"))
        );
    }

    #[test]
    fn everything_is_passed_on_if_asked_for() {
        let mut environment = Environment::default();
        environment.inherit_all();

        assert_eq!(environment.resolve(host()).len(), host().len());
    }

    /// A longer list is a decision: this test fails when the list changes.
    // hardening: H-74
    #[cfg(not(windows))]
    #[test]
    fn the_list_matches_the_documentation() {
        let list = "HOME LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LOGNAME PATH SHELL TERM TMPDIR TZ \
             USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME";
        assert_eq!(INHERITED.join(" "), list);
    }
}
