//! The floors of the crates, drawn from the table that `cargo xtask floors` checks.

use std::fmt::Write as _;

use super::escaped;
use crate::floors::{FLOORS, SIDEWAYS};

/// Each floor from the top, with a word and a line about it.
const CAPTIONS: [(u8, &str, &str); 6] = [
    (5, "Programs", "the command, examples, benchmarks, trials"),
    (
        4,
        "For users",
        "pintle re-exports all that a server or a client needs",
    ),
    (
        3,
        "Parts",
        "no part depends on another; their seams are traits of the runtime",
    ),
    (
        2,
        "Drivers",
        "tokio begins here: bytes, time, handlers, replicas",
    ),
    (
        1,
        "Engine",
        "the rules of a conversation, and JSON Schema: no I/O and no clock",
    ),
    (
        0,
        "Data",
        "the messages of five revisions, and the contract of stores",
    ),
];

const WIDTH: usize = 880;
const BOX: usize = 28;
/// Width of a character of the names.
const CHARACTER: usize = 8;
const LEFT: usize = 132;

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#e6edf3}.n{font-family:ui-monospace,Menlo,Consolas,monospace}
.f{font-weight:600}.c{fill:#adbac7;font-size:12px}";

/// Returns the picture.
pub(super) fn picture() -> String {
    let (mut body, mut y) = (String::new(), 16);
    for (floor, word, about) in CAPTIONS {
        y += draw(&mut body, y, floor, word, about);
    }
    let height = y + 34;
    let down = format!(
        "Dependencies point down only, except for {} pairs on one floor: pintle-testkit may use pintle, for instance.",
        SIDEWAYS.len()
    );
    let _ = writeln!(
        body,
        "<text class=\"c\" x=\"20\" y=\"{}\">{down}</text>",
        y + 12
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"img\" \
         aria-label=\"the crates of Pintle on six floors\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n{body}</svg>\n"
    )
}

/// Draws a floor at `y`, and returns its height.
fn draw(body: &mut String, y: usize, floor: u8, word: &str, about: &str) -> usize {
    let (mut x, mut row, mut boxes) = (LEFT, 0, String::new());
    let mut names: Vec<&str> = FLOORS
        .iter()
        .filter(|it| it.1 == floor)
        .map(|it| it.0)
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let width = name.len() * CHARACTER + 20;
        if x + width > WIDTH - 24 {
            (x, row) = (LEFT, row + 1);
        }
        let (top, text) = (y + 32 + row * (BOX + 8), escaped(name));
        let _ = writeln!(
            boxes,
            "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{BOX}\" rx=\"5\" fill=\"#2d4f67\"/>\
             <text class=\"n\" x=\"{}\" y=\"{}\">{text}</text>",
            x + 10,
            top + 19
        );
        x += width + 8;
    }
    let height = 32 + (row + 1) * (BOX + 8) + 4;
    let _ = writeln!(
        body,
        "<rect x=\"12\" y=\"{y}\" width=\"{}\" height=\"{height}\" rx=\"6\" fill=\"#22272e\"/>\n\
         <text class=\"f\" x=\"20\" y=\"{}\">{floor}  {word}</text>\
         <text class=\"c\" x=\"{LEFT}\" y=\"{}\">{}</text>\n{boxes}",
        WIDTH - 24,
        y + 21,
        y + 21,
        escaped(about)
    );
    height + 8
}
