//! From a URI to variables.
//!
//! The path is matched by a regular expression, in linear time; query and fragment are taken apart
//! first, so that neither can be mistaken for the path.

use std::collections::HashSet;

use regex_lite::{Captures, Regex};

use super::error::TemplateError;
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::percent::decode;
use super::query::Query;
use super::variables::{VariableValue, Variables};

/// What a template's URIs look like.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    path: Regex,
    // One for each group of the expression.
    groups: Vec<Group>,
    query: Option<Query>,
    fragment: Option<Fragment>,
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

#[derive(Debug, Clone)]
enum Fragment {
    Fixed(String),
    Variable(Box<str>),
}

impl Matcher {
    pub(super) fn new(parts: &[Part]) -> Result<Self, TemplateError> {
        check_names(parts)?;
        let zones = Zones::of(parts)?;
        let stop = stop(&zones.path);
        let mut pattern = String::from("^");
        let mut groups = Vec::new();
        for part in &zones.path {
            match part {
                Part::Literal(text) => pattern.push_str(&regex_lite::escape(text)),
                Part::Expression(expression) => add(&mut pattern, &mut groups, expression, stop)?,
            }
        }
        pattern.push('$');
        let path = Regex::new(&pattern).map_err(|_| unmatchable("the path", "it is too large"))?;
        Ok(Self {
            path,
            groups,
            query: zones.query.as_deref().map(Query::new).transpose()?,
            fragment: zones.fragment.as_deref().map(Fragment::new).transpose()?,
        })
    }

    pub(super) fn matches(&self, uri: &str) -> Option<Variables> {
        let (rest, fragment) = split(uri, '#');
        let (path, query) = split(rest, '?');
        let captures = self.path.captures(path)?;
        let mut variables = Variables::new();
        for (index, group) in self.groups.iter().enumerate() {
            if let Some(value) = group.value(&captures, index + 1)? {
                variables.insert(&*group.name, value);
            }
        }
        match (&self.query, query) {
            (Some(expected), query) => expected.matches(query, &mut variables)?,
            (None, Some(_)) => return None,
            (None, None) => {}
        }
        match (&self.fragment, fragment) {
            (Some(expected), fragment) => expected.matches(fragment, &mut variables)?,
            (None, Some(_)) => return None,
            (None, None) => {}
        }
        Some(variables)
    }

    pub(super) fn may_leave_out(&self, variable: &str) -> bool {
        self.query.as_ref().is_some_and(|query| query.has(variable))
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

impl Fragment {
    fn new(parts: &[Part]) -> Result<Self, TemplateError> {
        match parts {
            [] => Ok(Self::Fixed(String::new())),
            [Part::Literal(text)] => Ok(Self::Fixed(text.clone())),
            [Part::Expression(only)] => match (only.operator, only.variables.as_slice()) {
                (Operator::Fragment, [variable]) if variable.modifier == Modifier::Whole => {
                    Ok(Self::Variable(variable.name.clone()))
                }
                _ => Err(unmatchable("the fragment", "it is not one `{#variable}`")),
            },
            _ => Err(unmatchable("the fragment", "it is not one `{#variable}`")),
        }
    }

    fn matches(&self, fragment: Option<&str>, variables: &mut Variables) -> Option<()> {
        match (self, fragment) {
            (Self::Fixed(expected), Some(found)) => (expected == found).then_some(()),
            (Self::Fixed(_), None) => None,
            (Self::Variable(name), Some(found)) => {
                variables.insert(&**name, decode(found)?);
                Some(())
            }
            (Self::Variable(_), None) => Some(()),
        }
    }
}

/// A template's parts by where they stand in a URI.
#[derive(Default)]
struct Zones {
    path: Vec<Part>,
    query: Option<Vec<Part>>,
    fragment: Option<Vec<Part>>,
}

impl Zones {
    fn of(parts: &[Part]) -> Result<Self, TemplateError> {
        let mut zones = Self::default();
        for part in parts {
            match part {
                Part::Literal(text) => zones.add_text(text),
                Part::Expression(expression) => zones.add_expression(expression)?,
            }
        }
        Ok(zones)
    }

    fn add_text(&mut self, text: &str) {
        if let Some(fragment) = &mut self.fragment {
            return push_text(fragment, text);
        }
        let (rest, fragment) = split(text, '#');
        match &mut self.query {
            Some(query) => push_text(query, rest),
            None => {
                let (path, query) = split(rest, '?');
                push_text(&mut self.path, path);
                if let Some(query) = query {
                    push_text(self.query.insert(Vec::new()), query);
                }
            }
        }
        if let Some(fragment) = fragment {
            push_text(self.fragment.insert(Vec::new()), fragment);
        }
    }

    fn add_expression(&mut self, expression: &Expression) -> Result<(), TemplateError> {
        let name = expression
            .variables
            .first()
            .map_or("", |variable| &variable.name);
        let part = Part::Expression(expression.clone());
        match (expression.operator, &mut self.query, &mut self.fragment) {
            (Operator::Fragment, _, fragment) => fragment.get_or_insert_default().push(part),
            (_, _, Some(_)) => return Err(unmatchable(name, "it comes after the fragment")),
            (Operator::Query, query @ None, _) => *query = Some(vec![part]),
            (Operator::Query, Some(_), _) => {
                return Err(unmatchable(name, "a second query begins; write `{&…}`"));
            }
            (_, Some(query), _) => query.push(part),
            (Operator::Continuation, None, _) => {
                return Err(unmatchable(name, "no query has begun; write `{?…}`"));
            }
            (_, None, _) => self.path.push(part),
        }
        Ok(())
    }
}

/// Adds the pattern of an expression in the path.
fn add(
    pattern: &mut String,
    groups: &mut Vec<Group>,
    expression: &Expression,
    stop: &str,
) -> Result<(), TemplateError> {
    let operator = expression.operator;
    let mut before = operator.first();
    for variable in &expression.variables {
        let is_alone = expression.variables.len() == 1;
        let apart = if is_alone { "" } else { operator.separator() };
        let class = class(operator, &[stop, apart]);
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
            Modifier::Explode => many(operator, variable, stop),
            Modifier::Whole => (one(operator, variable, before, &class), Split::Whole),
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

fn one(operator: Operator, variable: &Variable, before: &str, class: &str) -> String {
    let before = regex_lite::escape(before);
    match operator {
        Operator::Matrix => {
            let name = regex_lite::escape(&variable.name);
            format!("{before}{name}(?:=([^/?#;]*))?")
        }
        _ => format!("{before}({class}+)"),
    }
}

fn many(operator: Operator, variable: &Variable, stop: &str) -> (String, Split) {
    let separator = operator.separator();
    let class = class(operator, &[stop, separator]);
    match operator {
        Operator::Matrix => {
            let name = regex_lite::escape(&variable.name);
            (format!("((?:;{name}(?:=[^/?#;]*)?)*)"), Split::Named)
        }
        Operator::Path | Operator::Label => {
            let before = regex_lite::escape(separator);
            (format!("((?:{before}{class}+)*)"), Split::Before(separator))
        }
        _ => (format!("({class}+(?:,{class}+)*)"), Split::Between(",")),
    }
}

/// The characters of one value: those of a path segment, or of a path, but for these.
fn class(operator: Operator, without: &[&str]) -> String {
    let slash = if operator == Operator::Reserved {
        ""
    } else {
        "/"
    };
    format!("[^{slash}?#{}]", without.concat())
}

/// What ends every value of a path: where `;name=value` can follow, it must not be swallowed.
fn stop(path: &[Part]) -> &'static str {
    let mut expressions = path.iter().filter_map(Part::as_expression);
    match expressions.any(|expression| expression.operator == Operator::Matrix) {
        true => ";",
        false => "",
    }
}

fn check_names(parts: &[Part]) -> Result<(), TemplateError> {
    let mut seen = HashSet::new();
    let expressions = parts.iter().filter_map(Part::as_expression);
    let mut variables = expressions.flat_map(|expression| &expression.variables);
    match variables.find(|variable| !seen.insert(&variable.name)) {
        Some(twice) => Err(unmatchable(&twice.name, "it occurs twice")),
        None => Ok(()),
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Literal(text.to_owned()));
    }
}

fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}

pub(super) fn unmatchable(place: &str, reason: &'static str) -> TemplateError {
    TemplateError::Unmatchable {
        place: place.to_owned(),
        reason,
    }
}
