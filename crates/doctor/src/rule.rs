//! The table of rules.

use std::fmt;

use serde::Serialize;

/// A rule of the diagnosis.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// The name of the rule.
    pub id: &'static str,
    /// The weight of its findings.
    pub severity: Severity,
    /// The fault that the rule finds.
    pub summary: &'static str,
}

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The host cannot use the server, or a part of it.
    Error,
    /// The server works in part, in some hosts, or with a risk.
    Warning,
    /// A fact without a judgement.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// Returns all rules, in the order of a diagnosis.
pub fn rules() -> &'static [&'static Rule] {
    ALL
}

macro_rules! table {
    ($( $name:ident: $id:literal, $severity:ident, $summary:literal; )+) => {
        $(
            pub(crate) const $name: &Rule = &Rule {
                id: $id,
                severity: Severity::$severity,
                summary: $summary,
            };
        )+
        const ALL: &[&Rule] = &[$($name),+];
    };
}

table! {
    UNREADABLE: "unreadable-file", Error, "the file cannot be read";
    SYNTAX: "syntax", Error, "the file is not valid JSON, TOML or YAML";
    COMMENT: "comment", Error, "the file has a comment, and its host accepts none";
    TRAILING_COMMA: "trailing-comma", Error, "the file has a trailing comma, and its host accepts none";
    WRONG_KEY: "wrong-key", Error, "servers stand under a key of other hosts";
    DUPLICATE_NAME: "duplicate-name", Error, "a file has two servers of one name, and the first is lost";
    DUPLICATE_SERVER: "duplicate-server", Warning, "two files of a host define different servers of one name";
    DEFINITION: "definition", Error, "a member of the definition is missing or has a wrong form";
    URL_AND_COMMAND: "url-and-command", Error, "the definition has a URL and a command";
    WRONG_TYPE: "wrong-type", Error, "`type` contradicts the definition, or the host does not know it";
    MISSING_TYPE: "missing-type", Warning, "the host reads a URL without `type` as a program";
    NO_URLS: "no-urls", Error, "the file of this host can have programs only";
    UNEXPANDED: "unexpanded-variable", Error, "the server gets the name of a variable instead of its value";
    MISSING_VALUE: "missing-value", Error, "a variable or a file of the definition does not exist";
    PLAIN_HTTP: "plain-http", Warning, "the URL has http, and the server is on another machine";
    NOT_EXAMINED: "not-examined", Note, "the server was not started, because you have not agreed to it";
    NO_DIRECTORY: "no-directory", Error, "the working directory does not exist";
    UNKNOWN_COMMAND: "unknown-command", Error, "the program does not exist";
    OFF_PATH: "off-path", Error, "the program is not in the `PATH` of the host";
    ASSUMED_PATH: "assumed-path", Warning, "the program is not in the usual `PATH` of a desktop";
    NOT_EXECUTABLE: "not-executable", Error, "the program must not be executed";
    WRONG_DIRECTORY: "wrong-directory", Error, "a relative path is in another directory than the working directory";
    CRASH: "crash", Error, "the program ends before the handshake";
    HANG: "hang", Error, "the server does not answer in time";
    STDOUT_NOISE: "stdout-noise", Error, "standard output has lines that are not messages";
    NO_REVISION: "no-revision", Error, "the server has no revision in common with clients";
    OLD_REVISION: "old-revision", Warning, "the server has an old revision only";
    HANDSHAKE: "handshake", Error, "the conversation cannot be opened";
    LIST: "list", Error, "a list that the server announces fails";
    INVALID_ITEM: "invalid-item", Error, "a tool or another item is not valid, so clients drop it";
    REJECTED_TOOL: "rejected-tool", Error, "the host rejects a tool";
    TOOL: "tool", Warning, "a tool has a fault for this host";
    STAYS: "stays", Warning, "the program does not exit after the end of its input";
    LEFT_PROCESS: "left-process", Warning, "the program leaves processes behind";
    INVALID_URL: "invalid-url", Error, "the URL is not valid";
    REFUSED: "refused", Error, "no server listens at the URL";
    NO_ADDRESS: "no-address", Error, "the host name of the URL has no address";
    TLS: "tls", Error, "there is no secure connection";
    PROXY: "proxy", Error, "a proxy of the environment does not connect to the server";
    BROKEN: "broken", Error, "the server closes the connection without a response";
    NEEDS_HTTPS: "needs-https", Error, "the server redirects to https";
    REDIRECT: "redirect", Error, "the server redirects to another URL";
    WRONG_PATH: "wrong-path", Error, "the URL has no MCP server at its path";
    SERVER_ERROR: "server-error", Error, "the server answers with an error of HTTP";
    SIGN_IN: "sign-in", Error, "the server requires a sign-in";
    SIGN_IN_CHAIN: "sign-in-chain", Error, "a step of the authorization is broken";
    EXPIRED_TOKEN: "expired-token", Error, "the token has expired";
    REJECTED_TOKEN: "rejected-token", Error, "the server rejects the token";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The chapter of the book, which has a row for each rule and for each planted fault.
    fn chapter() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src/doctor.md");
        std::fs::read_to_string(path).expect("the chapter")
    }

    #[test]
    fn the_book_has_every_rule() {
        let chapter = chapter();
        for rule in rules() {
            let row = format!("| `{}` | {} | {} |\n", rule.id, rule.severity, rule.summary);
            assert!(chapter.contains(&row), "{row}");
        }
    }

    #[test]
    fn the_book_lists_at_least_twenty_planted_faults_with_their_rules() {
        let chapter = chapter();
        let (_, planted) = chapter.split_once("## Planted faults").expect("a section");
        let rows: Vec<_> = planted
            .lines()
            .filter_map(|line| line.strip_suffix("` |"))
            .collect();
        assert!(rows.len() >= 20, "{}", rows.len());
        for row in rows {
            let id = row.rsplit('`').next().expect("a rule");
            assert!(rules().iter().any(|rule| rule.id == id), "{id}");
        }
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let names: BTreeSet<_> = rules().iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), rules().len());
        for rule in rules() {
            assert!(
                rule.id
                    .bytes()
                    .all(|byte| byte == b'-' || byte.is_ascii_lowercase())
            );
            assert!(!rule.summary.ends_with('.'), "{}", rule.id);
        }
    }
}
