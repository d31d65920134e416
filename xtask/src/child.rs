//! Running other programs, with an end.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Attempt, Failure, Result};

/// What a program prints on its standard output.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let attempted = || format!("run {program} {}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .attempting(attempted)?;
    if !output.status.success() {
        return Err(Failure::unable(attempted(), output.status.to_string()));
    }
    String::from_utf8(output.stdout).attempting(attempted)
}

/// Runs a command to its end.
///
/// # Errors
///
/// When it does not start, ends with anything but success, or takes longer than `ceiling`.
pub(crate) fn run(command: &mut Command, ceiling: Duration) -> Result<()> {
    let name = format!("{command:?}");
    let child = command.spawn().attempting(|| format!("start {name}"))?;
    let status = Guard(child).wait(ceiling, &name)?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::unable(
            format!("finish {name}"),
            status.to_string(),
        ))
    }
}

/// A running program that does not outlive us.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts a program and leaves it running.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = format!("{command:?}");
        command
            .spawn()
            .map(Self)
            .attempting(|| format!("start {name}"))
    }

    /// Whether it has ended on its own.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits for its end, at most until `ceiling`.
    pub(crate) fn wait(
        mut self,
        ceiling: Duration,
        name: &str,
    ) -> Result<std::process::ExitStatus> {
        let began = Instant::now();
        loop {
            let attempted = || format!("wait for {name}");
            if let Some(status) = self.0.try_wait().attempting(attempted)? {
                return Ok(status);
            }
            if began.elapsed() > ceiling {
                return Err(Failure::unable(
                    attempted(),
                    format!("it took over {ceiling:?}"),
                ));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asks it to end, as an operator would.
    pub(crate) fn terminate(&self) -> Result<()> {
        output("kill", &["-TERM", &self.0.id().to_string()]).map(drop)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended already; there is nobody to tell either way.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `path` as text for a command line.
pub(crate) fn text(path: &Path) -> Result<&str> {
    let cause = "its name is not UTF-8";
    path.to_str()
        .ok_or_else(|| Failure::unable(format!("use {}", path.display()), cause))
}
