//! The report in the XML of JUnit.

use std::fmt::Write as _;

use super::Report;
use crate::finding::{Finding, Verdict};

/// Renders a report.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pintle check\">\n",
    );
    for revision in &report.revisions {
        let findings = report.findings.iter();
        let findings: Vec<&Finding> = findings
            .filter(|finding| finding.revision == *revision)
            .collect();
        let count =
            |test: fn(&Finding) -> bool| findings.iter().filter(|finding| test(finding)).count();
        // Writing to a `String` does not fail.
        let _ = writeln!(
            out,
            "  <testsuite name=\"{revision} {}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
            report.carrier.as_str(),
            findings.len(),
            count(Finding::is_failed),
            count(|finding| !finding.was_made()),
        );
        findings.iter().for_each(|finding| case(&mut out, finding));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, finding: &Finding) {
    let _ = write!(
        out,
        "    <testcase name=\"{}\" classname=\"{}.{}\"",
        escaped(finding.check),
        finding.revision,
        finding.level
    );
    match &finding.verdict {
        Verdict::Passed => out.push_str("/>\n"),
        Verdict::Skipped { reason } => {
            let _ = writeln!(
                out,
                "><skipped message=\"{}\"/></testcase>",
                escaped(reason)
            );
        }
        Verdict::Failed => {
            let requirements = finding.requirements.join(" ");
            let text = format!(
                "requirements: {requirements}\npage: {}\nsent: {}\ncame: {}",
                finding.page,
                finding.sent.as_deref().unwrap_or_default(),
                finding.came.as_deref().unwrap_or_default()
            );
            let _ = writeln!(
                out,
                "><failure message=\"{}\">{}</failure></testcase>",
                escaped(finding.expected),
                escaped(&text)
            );
        }
    }
}

/// Escapes a text for XML, and drops characters that XML 1.0 forbids.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            character if character.is_control() => {}
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_of_a_server_cannot_leave_its_element() {
        assert_eq!(
            super::escaped("</a>\u{1b}&\"\u{ffff}x"),
            "&lt;/a&gt;&amp;&quot;x"
        );
    }
}
