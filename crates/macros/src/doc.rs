//! Conversion of doc comments into descriptions.
//!
//! A model reads Markdown, but does not need the line breaks of an editor. So the lines of one
//! paragraph are joined. Headings, lists, tables, quotes and code keep their lines.

use syn::{Attribute, Expr, Lit, Meta};

/// Returns the text of the doc comments among `attributes`, if it is not empty.
pub(crate) fn description(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes.iter().filter_map(doc_text).collect();
    let text = lines.join("\n");
    let text = join_paragraphs(&unindent(&text));
    (!text.is_empty()).then_some(text)
}

/// Returns true for a doc comment.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn doc_text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(doc) = &attribute.meta else {
        return None;
    };
    match &doc.value {
        Expr::Lit(value) if is_doc(attribute) => match &value.lit {
            Lit::Str(text) => Some(without_stars(text.value())),
            _ => None,
        },
        _ => None,
    }
}

/// Removes the column of stars that a block comment may have.
fn without_stars(text: String) -> String {
    let mut rest = text.lines().skip(1).map(str::trim_start).peekable();
    if rest.peek().is_none() || !rest.all(|line| line.is_empty() || line.starts_with('*')) {
        return text;
    }
    let star = |line: &str| line.trim_start().trim_start_matches('*').to_owned();
    text.lines().map(star).collect::<Vec<_>>().join("\n")
}

/// Removes the common indentation of all lines, such as the space after `///`.
fn unindent(text: &str) -> String {
    let indents = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(indent);
    let common = indents.min().unwrap_or(0);
    let lines = text
        .lines()
        .map(|line| line.get(common..).unwrap_or("").trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn join_paragraphs(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut in_code = false;
    let mut is_open = false;
    for line in text.trim().lines() {
        let is_fence = line.trim_start().starts_with("```");
        let continues = is_open && !in_code && !is_fence && !starts_block(line);
        if !joined.is_empty() {
            joined.push(if continues { ' ' } else { '\n' });
        }
        joined.push_str(if continues { line.trim_start() } else { line });
        in_code ^= is_fence;
        is_open = !is_fence && !line.is_empty() && !line.starts_with('#');
    }
    joined
}

/// Returns true if a line cannot continue the previous line.
fn starts_block(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0
        && line
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(". "));
    line.is_empty()
        || is_numbered
        || ["# ", "## ", "### ", "- ", "* ", "+ ", "> ", "| "]
            .iter()
            .any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, parse_str};

    use super::*;

    fn of(source: &str) -> Option<String> {
        let item: ItemFn = parse_str(&format!("{source}\nfn f() {{}}")).expect("parses");
        description(&item.attrs)
    }

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        assert_eq!(
            of("/// Adds two\n/// numbers.\n///\n/// Slowly.").as_deref(),
            Some("Adds two numbers.\n\nSlowly.")
        );
    }

    #[test]
    fn lists_headings_and_code_keep_their_lines() {
        let source = "/// # Units\n/// All in\n/// metres:\n/// - a\n/// - b\n///\n/// ```\n/// x\n///   y\n/// ```\n/// end";
        assert_eq!(
            of(source).as_deref(),
            Some("# Units\nAll in metres:\n- a\n- b\n\n```\nx\n  y\n```\nend")
        );
    }

    #[test]
    fn block_comments_lose_their_stars() {
        assert_eq!(of("/** The code. */").as_deref(), Some("The code."));
        assert_eq!(of("/**\n * One\n * two.\n */").as_deref(), Some("One two."));
    }

    #[test]
    fn an_empty_doc_comment_is_not_a_description() {
        assert_eq!(of("///\n/// "), None);
        assert_eq!(of("#[inline]"), None);
    }
}
