//! Runs the program of `chaos/`, which has dependencies that this one must not have.

use std::process::Command;

use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

/// Builds and runs the program with these arguments.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let workspace = Workspace::read()?;
    let mut command = Command::new("cargo");
    command
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "pintle-chaos",
            "--",
        ])
        .args(arguments)
        .current_dir(&workspace.root);
    let status = command.status().attempting(|| "run chaos".to_owned())?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(Failure::Faults {
            rule: "calls have faults, as the table shows",
            faults: Vec::new(),
        }),
        _ => Err(Failure::unable("finish chaos", status.to_string())),
    }
}
