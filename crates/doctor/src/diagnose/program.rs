//! Rules for programs: search, start, output and end.

use super::Findings;
use crate::facts::{Ending, Failure, Lookup, ProgramFacts, RunFacts};
use crate::rule;

/// Number of lines of standard error in a finding.
const STDERR_LINES: usize = 6;

impl Findings<'_> {
    pub(super) fn check_program(&mut self, program: &ProgramFacts) {
        if !program.has_directory {
            self.add(
                rule::NO_DIRECTORY,
                Some("cwd"),
                format!(
                    "the working directory {} does not exist",
                    program.directory.display()
                ),
                "change `cwd` to a directory that exists".to_owned(),
            );
        }
        self.check_lookup(program);
        if let Some(run) = &program.run {
            self.check_run(program, run);
        }
    }

    fn check_lookup(&mut self, program: &ProgramFacts) {
        let command = &program.command;
        let host = self.facts.place.host;
        let (rule, message, remedy) = match &program.lookup {
            Lookup::Found(_) => return,
            Lookup::Missing => (
                rule::UNKNOWN_COMMAND,
                format!("there is no program `{command}`"),
                "install it, or correct its name".to_owned(),
            ),
            Lookup::NotExecutable(file) => (
                rule::NOT_EXECUTABLE,
                format!("{} must not be executed", file.display()),
                format!(
                    "run `chmod +x {}`, or start it with its interpreter",
                    file.display()
                ),
            ),
            Lookup::WrongDirectory(found) => (
                rule::WRONG_DIRECTORY,
                format!(
                    "`{command}` is not in {}, the working directory of {host}",
                    program.directory.display()
                ),
                format!("write the whole path: {}", found.display()),
            ),
            Lookup::OffPath { found, is_assumed } => (
                match is_assumed {
                    true => rule::ASSUMED_PATH,
                    false => rule::OFF_PATH,
                },
                format!(
                    "`{command}` is not in the PATH of {host}; it is {}",
                    found.display()
                ),
                format!("write the whole path: {}", found.display()),
            ),
        };
        self.add(rule, self.command_key(), message, remedy);
    }

    fn check_run(&mut self, program: &ProgramFacts, run: &RunFacts) {
        self.check_noise(run);
        match &run.conversation {
            Ok(conversation) => self.check_conversation(conversation),
            Err(failure) => self.check_failure(program, run, failure),
        }
        self.check_ending(&run.ending);
    }

    fn check_noise(&mut self, run: &RunFacts) {
        let Some(first) = run.strays.first() else {
            return;
        };
        let key = self.command_key();
        self.add(
            rule::STDOUT_NOISE,
            key,
            format!("standard output has {}: {first}", counted(run.stray_count)),
            "standard output is for messages only: write logs to standard error, or start the program with its \
             quiet option"
                .to_owned(),
        );
    }

    fn check_failure(&mut self, program: &ProgramFacts, run: &RunFacts, failure: &Failure) {
        if let Some(missing) = &program.missing_file {
            let found = missing.elsewhere.as_ref();
            let remedy = match found {
                Some(found) => format!("write the whole path: {}", found.display()),
                None => "write the whole path of the file".to_owned(),
            };
            let message = format!(
                "`{}` is not in {}, the working directory of {}",
                missing.argument,
                program.directory.display(),
                self.facts.place.host
            );
            self.add(rule::WRONG_DIRECTORY, Some("args"), message, remedy);
        }
        let key = self.command_key();
        match (failure, &run.crash) {
            (Failure::Ended, _) | (_, Some(_)) => {
                let status = run.crash.as_deref().unwrap_or("its output is closed");
                let message = format!("the program ended before the handshake ({status}){}", tail(&run.stderr));
                self.add(rule::CRASH, key, message, advice(&run.stderr).to_owned());
            }
            (Failure::TimedOut, None) => self.add(
                rule::HANG,
                key,
                format!("no answer within {:?}{}", run.start_timeout, tail(&run.stderr)),
                "start the program by hand and see where it waits; a package runner may download first: raise \
                 the time limit of the host"
                    .to_owned(),
            ),
            (failure, None) => self.check_refusal(failure, key),
        }
    }

    /// Checks the end of a program whose input has ended.
    fn check_ending(&mut self, ending: &Ending) {
        let key = self.command_key();
        if ending.stays {
            self.add(
                rule::STAYS,
                key,
                "the program does not exit after the end of its input, so hosts have to kill it"
                    .to_owned(),
                "the program has to exit when its standard input ends".to_owned(),
            );
        }
        if !ending.left.is_empty() {
            let left = ending.left.iter();
            let left = left.map(|process| format!("{} ({})", process.program, process.id));
            let left = left.collect::<Vec<_>>().join(", ");
            self.add(
                rule::LEFT_PROCESS,
                key,
                format!("processes continue after the program has ended: {left}"),
                "the program has to end the processes that it starts; a shell as a wrapper needs `exec`".to_owned(),
            );
        }
    }
}

fn counted(lines: usize) -> String {
    match lines {
        1 => "one line that is not a message".to_owned(),
        lines => format!("{lines} lines that are not messages"),
    }
}

/// The last lines of standard error, as the end of a sentence.
fn tail(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|line| is_telling(line)).collect();
    let last = &lines[lines.len().saturating_sub(STDERR_LINES)..];
    match last.is_empty() {
        true => "; it wrote nothing to standard error".to_owned(),
        false => format!("; its last lines are:\n{}", last.join("\n")),
    }
}

/// Whether a line can explain the end: neither a frame of a stack nor an advertisement.
fn is_telling(line: &str) -> bool {
    let line = line.trim();
    let noise = ["at ", "npm notice", "npm warn", "}", "Node.js v"];
    !line.is_empty() && !noise.iter().any(|noise| line.starts_with(noise))
}

/// The remedy for a program that ended, by its standard error.
fn advice(stderr: &str) -> &'static str {
    let lower = stderr.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&[
        "env: ",
        "no such file or directory: 'node",
        "command not found",
    ]) {
        "the interpreter is not in the PATH of the server: add a PATH with its directory to `env`"
    } else if has(&[
        "cannot find module",
        "modulenotfounderror",
        "no module named",
    ]) {
        "a part of the program is not installed where it is started: install it, or correct the path"
    } else if has(&[
        "environment variable",
        "api key",
        "api_key",
        "missing required",
        "not set",
    ]) {
        "set the variable that the message names in `env`"
    } else {
        "correct what the message names, and run the command by hand in the same directory"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_decides_the_remedy() {
        assert!(advice("/usr/bin/env: \u{2018}node\u{2019}: No such file").contains("PATH"));
        assert!(advice("Error: Cannot find module './x'").contains("not installed"));
        assert!(advice("TOKEN environment variable is missing").contains("`env`"));
        assert!(advice("boom").contains("by hand"));
        let text: String = (1..=20).map(|line| format!("line {line}\n\n")).collect();
        assert!(tail(&text).ends_with("line 19\nline 20"));
        assert!(!tail(&text).contains("line 14\n"));
        let text = "Error: no such file\n    at run (x.js:1:2)\nnpm notice new version\n";
        assert!(
            tail(text).ends_with(":\nError: no such file"),
            "{}",
            tail(text)
        );
    }
}
