//! Files of variables: `NAME=value` on each line, as VS Code and Cursor take them.

/// Returns the variables in order. Lines without an assignment are skipped, as hosts do.
pub(super) fn read(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().filter_map(assignment).collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    if line.starts_with('#') {
        return None;
    }
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| (name.to_owned(), unquoted(value.trim())))
}

fn unquoted(value: &str) -> String {
    if let Some(inside) = between(value, '\'') {
        return inside.to_owned();
    }
    if let Some(inside) = between(value, '"') {
        return unescaped(inside);
    }
    let comment = value.find(" #");
    let end = comment.unwrap_or(value.len());
    value[..end].trim_end().to_owned()
}

/// Returns the text between two quotes; text after the second quote is ignored.
fn between(value: &str, quote: char) -> Option<&str> {
    let rest = value.strip_prefix(quote)?;
    let mut is_escaped = false;
    let end = rest.find(|c| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped && quote == '"';
        is_end
    })?;
    Some(&rest[..end])
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, rest.clone().next()) {
            ('\\', Some(next @ ('"' | '\\' | '$'))) => plain.push(next),
            ('\\', Some('n')) => plain.push('\n'),
            ('\\', Some('r')) => plain.push('\r'),
            ('\\', Some('t')) => plain.push('\t'),
            _ => {
                plain.push(c);
                continue;
            }
        }
        rest.next();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_assignments() {
        let text = "\u{feff}# keys\nA=1\n export B = two words # why\n\nC='a # \\n'\nD=\"x\\n\\\"y\\\"\" # z\r\nE=\nF=a#b\nno assignment\n=x\n";
        let read = read(text);
        let pairs: Vec<_> = read.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "a # \\n"),
            ("D", "x\n\"y\""),
            ("E", ""),
            ("F", "a#b"),
        ];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_text() {
        assert_eq!(read("A=\"b"), [("A".to_owned(), "\"b".to_owned())]);
        assert_eq!(read("A=\"b\\"), [("A".to_owned(), "\"b\\".to_owned())]);
    }
}
