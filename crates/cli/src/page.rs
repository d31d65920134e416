//! A text under construction: lines, wrapped paragraphs, aligned rows.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::screen::{Look, Style};
use crate::text;

/// The least number of columns that a paragraph is squeezed into.
const NARROWEST: usize = 24;

/// Maximum width of a name that determines the column of all texts, in columns.
const WIDEST_NAME: usize = 28;

/// A text under construction.
#[derive(Debug)]
pub(crate) struct Page {
    look: Look,
    text: String,
}

/// One row of a list: a name, and a text in a column beside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }
}

impl Page {
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            text: String::new(),
        }
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Returns true if the page has no text yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the properties of the stream that the page is for.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Adds a line. The caller has made it safe to print.
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds an empty line, unless there is one or nothing before it.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a heading, with a text beside it.
    pub(crate) fn heading(&mut self, heading: &str, beside: &str) {
        self.gap();
        let heading = self.look.paint(Style::Heading, &text::line(heading));
        let beside = text::line(beside);
        match beside.is_empty() {
            true => self.line(&heading),
            false => {
                let beside = self.look.paint(Style::Faint, &beside);
                self.line(&format!("{heading}  {beside}"));
            }
        }
    }

    /// Adds a text of several paragraphs, indented and wrapped.
    pub(crate) fn paragraphs(&mut self, indent: usize, text: &str) {
        let columns = self.look.columns.saturating_sub(indent).max(NARROWEST);
        for line in text::clean(text).trim_end().lines() {
            for part in wrapped(line, columns) {
                let blanks = if part.is_empty() { 0 } else { indent };
                self.text.extend(std::iter::repeat_n(' ', blanks));
                self.line(&part);
            }
        }
    }

    /// Adds a faint line that is wrapped.
    pub(crate) fn faint(&mut self, indent: usize, text: &str) {
        let columns = self.look.columns.saturating_sub(indent).max(NARROWEST);
        for part in wrapped(&text::line(text), columns) {
            let part = self.look.paint(Style::Faint, &part);
            self.line(&format!("{}{part}", " ".repeat(indent)));
        }
    }

    /// Adds rows whose texts begin in the same column.
    pub(crate) fn rows(&mut self, indent: usize, rows: &[Row]) {
        let names: Vec<_> = rows.iter().map(|row| text::line(&row.name)).collect();
        let widths = names.iter().map(|name| name.width());
        let aligned = widths
            .filter(|width| *width <= WIDEST_NAME)
            .max()
            .unwrap_or(0);
        for (row, name) in rows.iter().zip(&names) {
            self.row(indent, name, aligned, &row.text);
        }
    }

    fn row(&mut self, indent: usize, name: &str, aligned: usize, text: &str) {
        let column = indent + aligned + 2;
        let columns = self.look.columns.saturating_sub(column).max(NARROWEST);
        let text = text::line(text);
        let mut parts = wrapped(&text, columns).into_iter();
        let mut line = " ".repeat(indent);
        line.push_str(&self.look.paint(Style::Name, name));
        if name.width() <= aligned
            && let Some(first) = parts.next().filter(|first| !first.is_empty())
        {
            line.push_str(&" ".repeat(aligned - name.width() + 2));
            line.push_str(&first);
        }
        self.line(&line);
        for part in parts.filter(|part| !part.is_empty()) {
            self.line(&format!("{}{part}", " ".repeat(column)));
        }
    }
}

/// Splits a line into parts of at most so many columns, at blanks where possible. All parts have the
/// indentation of the line.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    if line.width() <= columns {
        return vec![line.trim_end().to_owned()];
    }
    let indent: String = line
        .chars()
        .take_while(|c| *c == ' ')
        .take(columns / 2)
        .collect();
    let mut parts = Vec::new();
    let mut part = indent.clone();
    for word in line.split_whitespace() {
        let is_first = part.len() == indent.len();
        if !is_first && part.width() + 1 + word.width() > columns {
            parts.push(std::mem::replace(&mut part, indent.clone()));
        } else if !is_first {
            part.push(' ');
        }
        for c in word.chars() {
            if part.width() + c.width().unwrap_or(0) > columns {
                parts.push(std::mem::replace(&mut part, indent.clone()));
            }
            part.push(c);
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(columns: usize, build: impl FnOnce(&mut Page)) -> String {
        let mut page = Page::new(Look {
            columns,
            ..Look::PLAIN
        });
        build(&mut page);
        page.into_text()
    }

    #[test]
    fn rows_are_aligned_and_wrapped() {
        let rows = [
            Row::new("add", "Adds two numbers, and tells what their sum is."),
            Row::new("größer", "x"),
            Row::new("a_name_that_is_far_too_long_to_align", "Beside."),
            Row::new("bare", ""),
        ];
        let text = page(40, |page| page.rows(2, &rows));
        let expected = "  add     Adds two numbers, and tells\n          what their sum is.\n  größer  x\n  a_name_that_is_far_too_long_to_align\n          Beside.\n  bare\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn paragraphs_keep_their_lines() {
        let text = page(30, |page| {
            page.paragraphs(2, "One two three four five six seven\n\n  - a\u{1b}[2J\n")
        });
        assert_eq!(
            text,
            "  One two three four five six\n  seven\n\n    - a\\u{1b}[2J\n"
        );
    }

    #[test]
    fn gaps_do_not_add_up() {
        let text = page(80, |page| {
            page.heading("Tools", "");
            page.gap();
            page.gap();
            page.heading("Prompts", "2\nof 3");
        });
        assert_eq!(text, "Tools\n\nPrompts  2 of 3\n");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_too_wide(line in "[a-z 漢é]{0,200}", columns in 4usize..60) {
            let parts = wrapped(&line, columns);
            prop_assert!(parts.iter().all(|part| part.width() <= columns));
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&parts.concat()), letters(&line));
        }
    }
}
