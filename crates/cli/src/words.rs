//! Splits a line into words with the quotes of shells. No other feature of shells is supported.

/// Returns the words of a line, or nothing if a quote is not closed.
///
/// Blanks separate words, and quotes join them. `\` escapes the next character, except in single quotes. On
/// Windows it does so only in double quotes, because it separates the parts of paths.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => word
                .get_or_insert_default()
                .push_str(&quoted(&mut rest, c)?),
            '\\' if !cfg!(windows) => word.get_or_insert_default().push(rest.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn quoted(rest: &mut std::str::Chars<'_>, quote: char) -> Option<String> {
    let mut inside = String::new();
    loop {
        match rest.next()? {
            c if c == quote => return Some(inside),
            '\\' if quote == '"' => {
                // In double quotes only `"` and `\` need an escape.
                match rest.next()? {
                    c @ ('"' | '\\') => inside.push(c),
                    c => inside.extend(['\\', c]),
                }
            }
            c => inside.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split;

    #[test]
    fn a_line_has_words() {
        for (line, words) in [
            ("", ""),
            ("  call add a=1\tb=2 ", "call|add|a=1|b=2"),
            ("llm -m 'a b' \"c \\\" \\n d\" ''", "llm|-m|a b|c \" \\n d|"),
            ("a='{\"b\": 1}'", "a={\"b\": 1}"),
        ] {
            assert_eq!(
                split(line).map(|words| words.join("|")).as_deref(),
                Some(words),
                "{line}"
            );
        }
        #[cfg(unix)]
        assert_eq!(split("e\\ f"), Some(vec!["e f".to_owned()]));
        for line in ["'a", "\"a", "\"a\\"] {
            assert_eq!(split(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_are_split_unchanged(words in prop::collection::vec("[^']{0,8}", 0..5)) {
            let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(split(&line.join(" ")), Some(words));
        }
    }
}
