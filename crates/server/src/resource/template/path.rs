//! What comes before the query of a URI: one regular expression, matched in linear time.

use regex_lite::{Captures, Regex};

use super::error::{TemplateError, unmatchable};
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::percent::decode;
use super::variables::{VariableValue, Variables};

/// What comes before the query, and in some templates the rest of the query with it.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pattern: Regex,
    // One for each group of the expression but for the rest of the query, which comes last.
    groups: Vec<Group>,
}

/// How the text of one group becomes the value of one variable.
#[derive(Debug, Clone)]
struct Group {
    name: Box<str>,
    split: Split,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Split {
    /// One text.
    Whole,
    /// Texts with this between them.
    Between(&'static str),
    /// Texts with this before each.
    Before(&'static str),
    /// Texts with `;name=` before each.
    Named,
}

impl Path {
    /// The path of a template, with the rest of its query if there is one to follow at once.
    pub(super) fn new(parts: &[Part], rest: Option<&[Part]>) -> Result<Self, TemplateError> {
        let mut pattern = String::from("^");
        let mut groups = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let ends = Ends {
                stop: stop(parts),
                and: if rest.is_some() { "&" } else { "" },
                is_short: rest.is_some() && at + 1 == parts.len(),
            };
            match part {
                Part::Literal(text) => pattern.push_str(&regex_lite::escape(text)),
                Part::Expression(expression) => add(&mut pattern, &mut groups, expression, &ends)?,
            }
        }
        if let Some(rest) = rest {
            pattern.push('(');
            pattern.extend(rest.iter().map(trailing));
            pattern.push(')');
        }
        pattern.push('$');
        let pattern =
            Regex::new(&pattern).map_err(|_| unmatchable("the path", "it is too large"))?;
        Ok(Self { pattern, groups })
    }

    /// The variables of a path, and the rest of the query if that is a part of it.
    pub(super) fn matches<'u>(&self, path: &'u str) -> Option<(Variables, Option<&'u str>)> {
        let captures = self.pattern.captures(path)?;
        let mut variables = Variables::new();
        for (index, group) in self.groups.iter().enumerate() {
            if let Some(value) = group.value(&captures, index + 1)? {
                variables.insert(&*group.name, value);
            }
        }
        let rest = captures.get(self.groups.len() + 1);
        Some((variables, rest.map(|rest| rest.as_str())))
    }
}

impl Group {
    /// The value of the group; `Some(None)` if it took no part, `None` if it cannot be decoded.
    fn value(&self, captures: &Captures<'_>, index: usize) -> Option<Option<VariableValue>> {
        let text = captures.get(index).map_or("", |group| group.as_str());
        let texts: Vec<&str> = match self.split {
            Split::Whole => return Some(Some(VariableValue::Text(decode(text)?))),
            _ if text.is_empty() => return Some(None),
            Split::Between(separator) => text.split(separator).collect(),
            Split::Before(separator) => text.split(separator).skip(1).collect(),
            Split::Named => {
                let pairs = text.split(';').skip(1);
                pairs
                    .map(|pair| pair.split_once('=').map_or("", |(_, text)| text))
                    .collect()
            }
        };
        let decoded = texts.into_iter().map(decode).collect::<Option<Vec<_>>>()?;
        Some(Some(VariableValue::List(decoded)))
    }
}

/// What ends a value of a path.
struct Ends {
    /// Is part of no value.
    stop: &'static str,
    /// Is part of no value but a reserved one: in others it is encoded.
    and: &'static str,
    /// Whether a reserved value ends as soon as it can, because something may follow it.
    is_short: bool,
}

/// Adds the pattern of an expression in the path.
fn add(
    pattern: &mut String,
    groups: &mut Vec<Group>,
    expression: &Expression,
    ends: &Ends,
) -> Result<(), TemplateError> {
    let operator = expression.operator;
    let mut before = operator.first();
    for variable in &expression.variables {
        let is_alone = expression.variables.len() == 1;
        let apart = if is_alone { "" } else { operator.separator() };
        let (text, split) = match variable.modifier {
            Modifier::Prefix(_) => {
                return Err(unmatchable(
                    &variable.name,
                    "a prefix says nothing of the rest",
                ));
            }
            Modifier::Explode if !is_alone => {
                return Err(unmatchable(&variable.name, "a list has to stand alone"));
            }
            Modifier::Explode => many(operator, variable, ends),
            Modifier::Whole => (one(operator, variable, before, apart, ends), Split::Whole),
        };
        pattern.push_str(&text);
        groups.push(Group {
            name: variable.name.clone(),
            split,
        });
        before = operator.separator();
    }
    Ok(())
}

fn one(operator: Operator, variable: &Variable, before: &str, apart: &str, ends: &Ends) -> String {
    let before = regex_lite::escape(before);
    match operator {
        Operator::Matrix => {
            let name = regex_lite::escape(&variable.name);
            format!("{before}{name}(?:=([^/?#;{}]*))?", ends.and)
        }
        _ => format!("{before}({})", ends.text(operator, apart)),
    }
}

fn many(operator: Operator, variable: &Variable, ends: &Ends) -> (String, Split) {
    let separator = operator.separator();
    let text = ends.text(operator, separator);
    match operator {
        Operator::Matrix => {
            let name = regex_lite::escape(&variable.name);
            let and = ends.and;
            (format!("((?:;{name}(?:=[^/?#;{and}]*)?)*)"), Split::Named)
        }
        Operator::Path | Operator::Label => {
            let before = regex_lite::escape(separator);
            (format!("((?:{before}{text})*)"), Split::Before(separator))
        }
        _ => {
            let short = ends.short(operator);
            (format!("({text}(?:,{text})*{short})"), Split::Between(","))
        }
    }
}

impl Ends {
    /// The pattern of one value: the characters of a path segment, or of a path, but for what ends it.
    fn text(&self, operator: Operator, apart: &str) -> String {
        let (stop, short) = (self.stop, self.short(operator));
        match operator {
            Operator::Reserved => format!("[^?#{stop}{apart}]+{short}"),
            _ => format!("[^/?#{stop}{apart}{}]+", self.and),
        }
    }

    fn short(&self, operator: Operator) -> &'static str {
        match operator {
            Operator::Reserved if self.is_short => "?",
            _ => "",
        }
    }
}

/// The pattern of a part of a query as it expands.
fn trailing(part: &Part) -> String {
    let expression = match part {
        Part::Literal(text) => return regex_lite::escape(text),
        Part::Expression(expression) => expression,
    };
    if expression.operator != Operator::Continuation {
        return "[^?#]*".to_owned();
    }
    let pairs = expression.variables.iter().map(|variable| {
        let name = regex_lite::escape(&variable.name);
        match variable.modifier {
            // A map's members have names of their own.
            Modifier::Explode => "(?:&[^?#]*)?".to_owned(),
            _ => format!("(?:&{name}=[^&?#]*)?"),
        }
    });
    pairs.collect()
}

/// What ends every value of a path: where `;name=value` can follow, it must not be swallowed.
fn stop(path: &[Part]) -> &'static str {
    let mut expressions = path.iter().filter_map(Part::as_expression);
    match expressions.any(|expression| expression.operator == Operator::Matrix) {
        true => ";",
        false => "",
    }
}
