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

/// The doc comment of a function.
pub(crate) struct Documentation {
    pub(crate) description: Option<String>,
    /// The names and descriptions of the section `# Arguments`.
    pub(crate) arguments: Vec<(String, String)>,
}

/// Returns the parts of the doc comments among `attributes`.
///
/// A section `# Arguments` is a list of names and descriptions. A section with other text belongs to the description.
pub(crate) fn documentation(attributes: &[Attribute]) -> Documentation {
    let lines: Vec<String> = attributes.iter().filter_map(doc_text).collect();
    let text = unindent(&lines.join("\n"));
    let (rest, arguments) = without_arguments(&text).unwrap_or((text, Vec::new()));
    let description = join_paragraphs(&rest);
    Documentation {
        description: (!description.is_empty()).then_some(description),
        arguments,
    }
}

/// Splits a text at its section of arguments. Returns `None` without such a section.
fn without_arguments(text: &str) -> Option<(String, Vec<(String, String)>)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_start = |line: &&str| {
        let title = line.trim_start_matches('#');
        line.starts_with('#') && ["Arguments", "Parameters"].contains(&title.trim())
    };
    let start = lines.iter().position(is_start)?;
    let (before, section) = lines.split_at(start);
    let section = section.get(1..)?;
    let end = section.iter().position(|line| line.starts_with('#'));
    let (section, after) = section.split_at(end.unwrap_or(section.len()));
    let mut items: Vec<(String, String)> = Vec::new();
    for line in section.iter().filter(|line| !line.trim().is_empty()) {
        match (item(line), items.last_mut()) {
            (Some(item), _) => items.push(item),
            (None, Some((_, last))) if line.starts_with(' ') => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => return None,
        }
    }
    let rest = [before, after].concat().join("\n");
    (!items.is_empty()).then_some((rest, items))
}

/// Returns the name and the description of a line such as ``- `city`: The name of the city.``
fn item(line: &str) -> Option<(String, String)> {
    let line = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))?;
    let line = line.trim_start().strip_prefix('`')?;
    let (name, text) = line.split_once('`')?;
    let text = text
        .trim_start()
        .trim_start_matches([':', '-', '–', '—'])
        .trim();
    (!text.is_empty()).then(|| (name.to_owned(), text.to_owned()))
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
    use syn::parse_str;

    use super::*;
    use crate::item::Function;

    fn of(source: &str) -> Option<String> {
        let item: Function = parse_str(&format!("{source}\nfn f() {{}}")).expect("parses");
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
    fn a_list_of_arguments_is_not_in_the_description() {
        let source = "/// Moves a ship.\n///\n/// # Arguments\n///\n/// - `name`: The ship,\n///   or its call sign.\n/// * `to` - The berth.\n///\n/// # Notes\n/// Slowly.";
        let item: Function = parse_str(&format!("{source}\nfn f() {{}}")).expect("parses");
        let documentation = documentation(&item.attrs);
        let description = documentation.description.as_deref();
        assert_eq!(description, Some("Moves a ship.\n\n# Notes\nSlowly."));
        let expected = [
            ("name", "The ship, or its call sign."),
            ("to", "The berth."),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(documentation.arguments, expected);
    }

    #[test]
    fn a_section_of_arguments_with_other_text_is_description() {
        let source = "/// Moves.\n/// # Arguments\n/// None.";
        let item: Function = parse_str(&format!("{source}\nfn f() {{}}")).expect("parses");
        let documentation = documentation(&item.attrs);
        assert_eq!(
            documentation.description.as_deref(),
            Some("Moves.\n# Arguments\nNone.")
        );
        assert!(documentation.arguments.is_empty());
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
