//! `--svg`: the plot of percentiles as a picture that a browser shows, in light and dark.

use std::fmt::Write as _;

use super::plot::{Axes, Curve};
use super::shown;

/// Size of the picture.
const SIZE: (f64, f64) = (720.0, 400.0);
/// The area of the curves: left, top, right and bottom.
const AREA: (f64, f64, f64, f64) = (90.0, 48.0, 700.0, 340.0);
/// Points of a curve.
const POINTS: u32 = 240;
/// Lines of the grid for times.
const LEVELS: u32 = 5;

const STYLE: &str = "<style>text{font:12px sans-serif;fill:#333}.t{font-size:15px}.g{stroke:#ddd}\
    .a,.b{fill:none;stroke-width:2}.a{stroke:#0969da}.b{stroke:#bc4c00}.A{fill:#0969da}.B{fill:#bc4c00}\
    @media(prefers-color-scheme:dark){text{fill:#ccc}.g{stroke:#444}.a{stroke:#58a6ff}.b{stroke:#f0883e}\
    .A{fill:#58a6ff}.B{fill:#f0883e}}</style>\n";

/// Returns the picture. `title` stands above the curves.
pub(super) fn svg(title: &str, curves: &[Curve<'_>]) -> String {
    let (width, height) = SIZE;
    let title = escaped(title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}\">\n{STYLE}"
    );
    add_text(&mut svg, AREA.0, 22.0, "t", "start", &title);
    if let Some(axes) = Axes::of(curves) {
        add_grid(&mut svg, &axes);
        for (curve, class) in curves.iter().zip(["a", "b"]) {
            if curve.latencies.count() > 0 {
                add_curve(&mut svg, &axes, curve, class);
            }
        }
    }
    if curves.len() > 1 {
        add_names(&mut svg, curves);
    }
    svg + "</svg>\n"
}

fn add_grid(svg: &mut String, axes: &Axes) {
    let (left, top, right, bottom) = AREA;
    for level in 0..=LEVELS {
        let part = f64::from(level) / f64::from(LEVELS);
        let y = bottom - part * (bottom - top);
        add_line(svg, (left, y), (right, y));
        add_text(
            svg,
            left - 8.0,
            y + 4.0,
            "",
            "end",
            &shown(axes.time_at(part)),
        );
    }
    for (x, label) in [(0.0, "0")].into_iter().chain(axes.labels()) {
        let x = left + x * (right - left);
        add_line(svg, (x, top), (x, bottom));
        add_text(svg, x, bottom + 18.0, "", "middle", label);
    }
    let middle = f64::midpoint(left, right);
    add_text(
        svg,
        middle,
        bottom + 42.0,
        "",
        "middle",
        "% of calls are at least as fast",
    );
}

fn add_curve(svg: &mut String, axes: &Axes, curve: &Curve<'_>, class: &str) {
    let (left, top, right, bottom) = AREA;
    let points = (0..=POINTS).map(|point| {
        let x = f64::from(point) / f64::from(POINTS);
        let y = axes.y(curve.at(axes.part_at(x)));
        let (x, y) = (left + x * (right - left), bottom - y * (bottom - top));
        format!("{x:.1},{y:.1}")
    });
    let points = points.collect::<Vec<_>>().join(" ");
    // A text cannot fail to grow.
    let _ = writeln!(svg, "<polyline class=\"{class}\" points=\"{points}\"/>");
}

fn add_names(svg: &mut String, curves: &[Curve<'_>]) {
    let (left, top, ..) = AREA;
    for (curve, (class, y)) in curves.iter().zip([("A", top + 14.0), ("B", top + 32.0)]) {
        let _ = writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"4\"/>",
            left + 12.0,
            y - 6.0
        );
        add_text(svg, left + 30.0, y, "", "start", &escaped(curve.name));
    }
}

fn add_line(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        "<line class=\"g\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn add_text(svg: &mut String, x: f64, y: f64, class: &str, anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

/// Returns a text that has no markup and no control characters.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::histogram::Histogram;
    use super::*;

    fn counted(micros: &[u64]) -> Histogram {
        let mut latencies = Histogram::default();
        for micros in micros {
            latencies.add(Duration::from_micros(*micros));
        }
        latencies
    }

    #[test]
    fn a_picture_has_a_curve_for_each_server() {
        let (one, two) = (counted(&[1, 2, 3]), counted(&[9]));
        let curves =
            [("@a", &one), ("@b", &two)].map(|(name, latencies)| Curve { name, latencies });
        let picture = svg("add", &curves);
        assert_eq!(picture.matches("<polyline").count(), 2, "{picture}");
        assert!(picture.contains(">@b</text>") && picture.contains(">90</text>"));
        let alone = svg("add", &curves[..1]);
        assert_eq!(alone.matches("<polyline").count(), 1, "{alone}");
        assert!(!alone.contains("@a"), "{alone}");
        assert!(svg("add", &[]).ends_with("</svg>\n"));
    }

    #[test]
    fn names_do_not_become_markup() {
        let one = counted(&[1]);
        let curve = |name| Curve {
            name,
            latencies: &one,
        };
        let picture = svg("<script>\u{1b}\"&", &[curve("<b>"), curve("\"")]);
        assert!(picture.contains("&lt;script&gt;&quot;&amp;"), "{picture}");
        assert!(!picture.contains("<b>") && !picture.contains("<script"));
    }
}
