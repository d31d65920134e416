//! A recording of the terminal: commands are run, and the picture shows them and their output.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::escaped;
use crate::child;
use crate::failure::{Attempt, Failure, Result};

/// The commands, each with its lines. The last two need `grain-pier` as a berth of the showcase.
const COMMANDS: [&[&str]; 5] = [
    &["pintle list -- target/debug/calculator"],
    &["pintle call add a=1 b=2 -- target/debug/calculator"],
    &["pintle call add a=one b=2 -- target/debug/calculator"],
    &[
        "pintle call allot_berth call_sign=RULE --revision 2025-11-25 \\",
        "    --answer '{\"berth\":\"grain-pier\",\"hours\":6}' -- pintle serve --stdio",
    ],
    &[
        "pintle call allot_berth call_sign=RULE --revision 2026-07-28 \\",
        "    --answer '{\"berth\":\"grain-pier\",\"hours\":6}' -- pintle serve --stdio",
    ],
];

/// Longest time to compile the programs.
const BUILD: Duration = Duration::from_secs(30 * 60);
/// Time of one character that is typed, in milliseconds.
const TYPING: usize = 35;
/// Time between a command and its output, in milliseconds.
const RUNNING: usize = 300;
/// Time to read the output, in milliseconds.
const READING: usize = 1_800;
/// Time before the recording begins again, in milliseconds.
const END: usize = 6_000;

/// A line of the picture, and the time at which it begins and is complete.
struct Line {
    kind: &'static str,
    text: String,
    begin: usize,
    end: usize,
}

/// Runs the commands, and returns the picture.
pub(super) fn picture(root: &Path) -> Result<String> {
    let mut build = Command::new("cargo");
    build.args([
        "build",
        "--quiet",
        // The selection of the tests: another one has other features, and builds dependencies again. A test is a part
        // of it, because features of dev-dependencies count only then. This test is empty.
        "--workspace",
        "--test",
        "interleavings",
        "--bin",
        "pintle",
        "--bin",
        "calculator",
    ]);
    // The commands of the recording name this folder.
    build.args(["--target-dir", "target"]);
    child::run(build.current_dir(root), BUILD)?;
    let (mut lines, mut now) = (Vec::new(), 500);
    for command in COMMANDS {
        record(root, command, &mut lines, &mut now)?;
    }
    Ok(svg(&lines, now + END))
}

/// Adds a command and its output.
fn record(root: &Path, command: &[&str], lines: &mut Vec<Line>, now: &mut usize) -> Result<()> {
    for (number, part) in command.iter().enumerate() {
        let kind = if number == 0 { "c" } else { "m" };
        let end = *now + part.chars().count() * TYPING;
        lines.push(line(kind, part, *now, end));
        *now = end;
    }
    *now += RUNNING;
    let (output, errors) = run(root, &command.join("\n"))?;
    for (kind, text) in [("o", output), ("e", errors)] {
        lines.extend(text.lines().map(|text| line(kind, text, *now, *now)));
    }
    *now += READING;
    Ok(())
}

fn line(kind: &'static str, text: &str, begin: usize, end: usize) -> Line {
    let text = text.to_owned();
    Line {
        kind,
        text,
        begin,
        end,
    }
}

/// Returns the output and the errors of a command.
fn run(root: &Path, command: &str) -> Result<(String, String)> {
    let programs = root.join("target/debug");
    let others = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(root);
    shell.env("PATH", format!("{}:{others}", programs.display()));
    let ended = shell.output().attempting(|| format!("run {command}"))?;
    let text =
        |bytes| String::from_utf8(bytes).attempting(|| format!("read the output of {command}"));
    let (output, errors) = (text(ended.stdout)?, text(ended.stderr)?);
    if output.is_empty() && errors.is_empty() {
        return Err(Failure::unable(
            format!("record {command}"),
            "it prints nothing",
        ));
    }
    Ok((output, errors))
}

const STYLE: &str =
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}
.c,.m{fill:#e6edf3}.o{fill:#adbac7}.e{fill:#ffa198}.p{fill:#7ee787}
@media (prefers-reduced-motion:reduce){text{animation:none!important}}
";

/// Draws the lines. A program that shows no animation shows all of them.
fn svg(lines: &[Line], time: usize) -> String {
    let columns = lines.iter().map(|line| line.text.chars().count()).max();
    let (width, height) = ((columns.unwrap_or(0) + 2) * 8 + 32, lines.len() * 18 + 30);
    let (mut rules, mut texts) = (String::new(), String::new());
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(rules, "{}", rule(number, line, time));
        let (kind, y, text) = (line.kind, number * 18 + 30, escaped(&line.text));
        let prompt = match kind {
            "c" => "<tspan class=\"p\">$</tspan> ",
            "m" => "&gt; ",
            _ => "",
        };
        let _ = writeln!(
            texts,
            "<text id=\"l{number}\" class=\"{kind}\" x=\"16\" y=\"{y}\" xml:space=\"preserve\">{prompt}{text}</text>"
        );
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" \
         aria-label=\"pintle lists and calls the tools of a server, and answers a question in two revisions\">\n\
         <style>\n{STYLE}{rules}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n{texts}</svg>\n"
    )
}

/// Returns the rule that types a command, or shows a line of output.
fn rule(number: usize, line: &Line, time: usize) -> String {
    let percent = |at: usize| format!("{:.2}%", at as f64 * 100.0 / time as f64);
    let (begin, end) = (percent(line.begin), percent(line.end));
    let steps = line.text.chars().count() + 2;
    let frames = if line.begin == line.end {
        format!("0%{{opacity:0}}{begin}{{opacity:1}}100%{{opacity:1}}")
    } else {
        let hidden = "clip-path:inset(0 100% 0 0)";
        let steps = format!("animation-timing-function:steps({steps})");
        format!("0%{{{hidden}}}{begin}{{{hidden};{steps}}}{end},100%{{clip-path:inset(0)}}")
    };
    format!(
        "@keyframes k{number}{{{frames}}}#l{number}{{animation:k{number} {time}ms step-end infinite}}\n"
    )
}
