//! A home directory with planted faults, and the findings about it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pintle_doctor::gather::{NoSignIns, SignIns, examine, prepare};
use pintle_doctor::{DoctorOptions, Facts, Finding, Permission, diagnose, diagnose_files};
use pintle_hosts::{Environment, LocalFiles, Platform, ServerRegistry};

/// A home directory with files of hosts. Dropping it deletes the directory.
pub(crate) struct Planted {
    home: PathBuf,
    vars: BTreeMap<String, String>,
    options: DoctorOptions,
    permission: Permission,
    sign_ins: Box<dyn SignIns>,
}

/// The result of a diagnosis.
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    pub(crate) facts: Vec<Facts>,
    home: PathBuf,
}

impl Planted {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-doctor-{}-{number}", std::process::id());
        let home = std::env::temp_dir().join(name);
        fs::create_dir_all(home.join("work")).expect("made");
        let home = home.canonicalize().expect("there");
        let vars = [("HOME".to_owned(), home.display().to_string())];
        let mut options = DoctorOptions::default();
        options.exit_timeout = Duration::from_secs(1);
        options.request_timeout = Duration::from_secs(5);
        Self {
            home,
            vars: vars.into(),
            options,
            permission: Permission::Use,
            sign_ins: Box::new(NoSignIns),
        }
    }

    /// Writes a file below the home directory. `HOME` in its text is the home directory.
    pub(crate) fn with(self, file: &str, text: &str) -> Self {
        let path = self.home.join(file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        let text = text.replace("HOME", &self.home.display().to_string());
        fs::write(path, text).expect("written");
        self
    }

    /// Writes a program.
    pub(crate) fn program(self, file: &str, text: &str) -> Self {
        let this = self.with(file, &format!("#!/bin/sh\n{text}"));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(this.home.join(file), mode).expect("changed");
        this
    }

    /// Sets the longest time for a start.
    pub(crate) fn within(mut self, time: Duration) -> Self {
        self.options.max_start_timeout = time;
        self
    }

    /// Checks definitions only.
    pub(crate) fn without_permission(mut self) -> Self {
        self.permission = Permission::ReadDefinition;
        self
    }

    pub(crate) fn signed_in(mut self, sign_ins: impl SignIns + 'static) -> Self {
        self.sign_ins = Box::new(sign_ins);
        self
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.home.join(file)
    }

    /// Diagnoses all servers.
    pub(crate) async fn found(&self) -> Found {
        let (cases, mut findings) = self.prepared();
        let mut all = Vec::new();
        for case in cases {
            let facts = examine(case, &self.options).await;
            findings.extend(diagnose(&facts));
            all.push(facts);
        }
        Found {
            findings,
            facts: all,
            home: self.home.clone(),
        }
    }

    fn prepared(&self) -> (Vec<pintle_doctor::gather::Case>, Vec<Finding>) {
        let here = self.home.join("work");
        let env = |name: &str| self.vars.get(name).cloned();
        let environment = Environment {
            platform: Platform::Linux,
            here: &here,
            env: &env,
            disk: &LocalFiles,
        };
        let registry = ServerRegistry::open(&environment);
        let findings = diagnose_files(&registry.errors, &registry.file_faults(&environment));
        let mut silent = |_: &pintle_hosts::Input| Err("which has no answer".to_owned());
        let cases = registry.servers.iter().map(|listed| {
            let sign_ins = self.sign_ins.as_ref();
            prepare(
                listed,
                &registry,
                &environment,
                self.permission,
                sign_ins,
                &mut silent,
            )
        });
        (cases.collect(), findings)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

impl Found {
    /// Returns the finding of a rule, which is at this line of this file.
    pub(crate) fn at(&self, rule: &str, file: &str, line: usize) -> &Finding {
        let found = self.findings.iter().find(|finding| finding.rule.id == rule);
        let finding = found.unwrap_or_else(|| panic!("no {rule}: {:#?}", self.findings));
        let file = self.home.join(file);
        assert_eq!(
            (finding.file.as_path(), finding.line),
            (Path::new(&file), line),
            "{finding:#?}"
        );
        assert!(!finding.remedy.is_empty(), "{finding:#?}");
        finding
    }

    /// Returns the names of the rules with findings.
    pub(crate) fn rules(&self) -> Vec<&str> {
        self.findings
            .iter()
            .map(|finding| finding.rule.id)
            .collect()
    }
}

/// A server in the language of the shell: it answers the handshake with a revision, and the list of tools with `tools`,
/// which is the member `result` or `error` of the answer. `end` follows the end of its input.
pub(crate) fn server(revision: &str, tools: &str, end: &str) -> String {
    format!(
        r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([^,}}]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*)
      printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"no"}}}}\n' "$id";;
    *'"initialize"'*)
      printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"planted","version":"1"}}}}}}\n' "$id";;
    *'"tools/list"'*)
      printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$id" '{tools}';;
  esac
done
{end}
"#
    )
}

/// The result of a list with one tool.
pub(crate) const TOOLS: &str = r#""result":{"tools":[{"name":"add","description":"Adds numbers.","inputSchema":{"type":"object"}}]}"#;

/// The file of a host with one program as its server; `command` is on line 4.
pub(crate) fn one(command: &str, rest: &str) -> String {
    format!(
        "{{\n \"mcpServers\": {{\n  \"a\": {{\n   \"command\": \"{command}\"{rest}\n  }}\n }}\n}}\n"
    )
}
