//! One text, ready for the rules: without code, URLs and placeholders, on one line.

/// Stands in a text for something that was removed. It is not part of a word.
const REMOVED: char = '`';

/// A text as the rules read it, and the line of the file for each of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Prose {
    pub(crate) text: String,
    lines: Vec<usize>,
}

impl Prose {
    /// Cleans the lines of one text; each has its number in the file.
    pub(crate) fn of(raw: &[(usize, &str)]) -> Self {
        let mut all = Self::default();
        for (line, text) in raw {
            for c in text.chars().chain(['\n']) {
                all.push(c, *line);
            }
        }
        all.without_code()
            .without_placeholders()
            .without_urls()
            .on_one_line()
    }

    /// The line of the file on which the byte at `at` stands.
    pub(crate) fn line(&self, at: usize) -> usize {
        let last = self.lines.last().copied().unwrap_or(1);
        self.lines.get(at).copied().unwrap_or(last)
    }

    fn push(&mut self, c: char, line: usize) {
        let c = c.to_ascii_lowercase();
        self.text.push(c);
        self.lines.resize(self.text.len(), line);
    }

    /// Copies the text, and replaces each range that `end` finds at its first byte.
    fn without(self, end: impl Fn(&str, usize) -> Option<usize>) -> Self {
        let mut kept = Self::default();
        let mut next = 0;
        for (at, c) in self.text.char_indices() {
            if at < next {
                continue;
            }
            match end(&self.text, at) {
                Some(to) => {
                    kept.push(REMOVED, self.line(at));
                    next = to;
                }
                None => kept.push(c, self.line(at)),
            }
        }
        kept
    }

    fn without_code(self) -> Self {
        self.without(code_end)
    }

    fn without_placeholders(self) -> Self {
        self.without(|text, at| {
            let rest = text[at..].strip_prefix('{')?;
            let close = rest.find(['{', '}', '\n'])?;
            rest[close..].starts_with('}').then_some(at + close + 2)
        })
    }

    fn without_urls(self) -> Self {
        self.without(|text, at| {
            let rest = &text[at..];
            if let Some(target) = rest.strip_prefix("](") {
                return target.find(')').map(|close| at + close + 3);
            }
            let is_url = rest.starts_with("https://") || rest.starts_with("http://");
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ')' | '>'));
            is_url.then(|| at + end.unwrap_or(rest.len()))
        })
    }

    fn on_one_line(self) -> Self {
        let mut joined = Self::default();
        for (at, c) in self.text.char_indices() {
            let is_space = c.is_whitespace();
            if !is_space {
                joined.push(c, self.line(at));
            } else if !joined.text.is_empty() && !joined.text.ends_with(' ') {
                joined.push(' ', self.line(at));
            }
        }
        joined
    }
}

/// One past the code span that begins at `at`.
fn code_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let width = backquotes(rest);
    if width == 0 {
        return None;
    }
    let fence = &rest[..width];
    let mut from = width;
    loop {
        let close = from + rest[from..].find(fence)?;
        let run = backquotes(&rest[close..]);
        if run == width {
            return Some(at + close + width);
        }
        from = close + run;
    }
}

/// How many backquotes a text begins with.
fn backquotes(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

#[cfg(test)]
mod tests {
    use super::Prose;

    fn clean(text: &str) -> String {
        Prose::of(&[(1, text)]).text.trim().to_owned()
    }

    #[test]
    fn code_urls_and_placeholders_are_removed() {
        assert_eq!(clean("A `what is` and ``x ` y`` stay"), "a ` and ` stay");
        assert_eq!(clean("see https://told.example/said."), "see `");
        assert_eq!(
            clean("the [page](docs/told.md) of {told:?}"),
            "the [page` of `"
        );
    }

    #[test]
    fn an_open_backquote_removes_nothing() {
        assert_eq!(clean("a ` of one"), "a ` of one");
    }

    #[test]
    fn a_phrase_may_cross_lines() {
        let prose = Prose::of(&[(4, "One  what"), (5, "is two")]);

        let at = prose.text.find("is").expect("the phrase is there");
        assert_eq!(prose.text.trim(), "one what is two");
        assert_eq!((prose.line(0), prose.line(at)), (4, 5));
    }
}
