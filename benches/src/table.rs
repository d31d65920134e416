//! Tables of measurements in a file of documentation.

use std::path::Path;

use crate::process::Result;

/// The line after a table.
const END: &str = "<!-- until here -->";

/// Replaces the text between the line `<!-- written by PROGRAM -->` of a file and the next line
/// `<!-- until here -->`.
///
/// # Errors
///
/// Any error of reading or writing; a file without the two lines.
pub fn write(file: &Path, program: &str, table: &str) -> Result<()> {
    let begin = format!("<!-- written by {program} -->");
    let text = std::fs::read_to_string(file)?;
    let missing = || format!("{} has no lines {begin} and {END}", file.display());
    let text = replaced(&text, &begin, table).ok_or_else(missing)?;
    Ok(std::fs::write(file, text)?)
}

fn replaced(text: &str, begin: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n\n{table}\n{END}{after}"))
}

/// Returns a figure of a table, with one decimal if it is small.
pub fn figure(value: f64) -> String {
    match value {
        small if small < 100.0 => format!("{small:.1}"),
        large => grouped(large.round() as usize),
    }
}

/// Returns a number with commas between thousands.
pub fn grouped(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

/// Where figures lie.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// The least of them.
    pub least: f64,
    /// The median of them.
    pub median: f64,
    /// The most of them.
    pub most: f64,
}

impl Spread {
    /// Returns the spread of at least one figure.
    pub fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        Self {
            least: figures[0],
            median: figures[figures.len() / 2],
            most: figures[figures.len() - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_text_between_its_lines() {
        let text =
            "a\n<!-- other -->\n<!-- until here -->\n<!-- mine -->\nold\n<!-- until here -->\nb";
        let expected = "a\n<!-- other -->\n<!-- until here -->\n<!-- mine -->\n\nnew\n\n<!-- until here -->\nb";
        let written = replaced(text, "<!-- mine -->", "new\n");
        assert_eq!(written.as_deref(), Some(expected));
        assert_eq!(replaced("no lines", "<!-- mine -->", "new\n"), None);
    }

    #[test]
    fn a_large_figure_has_commas_and_no_decimals() {
        let figures = [9.96, 99.94, 100.4, 1_000.0, 1_234_567.0].map(figure);
        assert_eq!(figures, ["10.0", "99.9", "100", "1,000", "1,234,567"]);
    }
}
