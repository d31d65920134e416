//! From a URI to variables.
//!
//! Query and fragment are taken apart first, so that neither can be mistaken for the path.

use std::collections::HashSet;

use super::error::{TemplateError, unmatchable};
use super::expression::{Expression, Modifier, Operator, Part};
use super::path::Path;
use super::percent::decode;
use super::query::Query;
use super::variables::Variables;

/// What a template's URIs look like.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    path: Path,
    /// The path with what follows a query that says nothing: `{?x}&y=1` leaves no `?` without `x`.
    unmarked: Option<Path>,
    query: Option<Query>,
    fragment: Option<Fragment>,
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
        let path = Path::new(&zones.path, None)?;
        let query = zones.query.as_deref().map(Query::new).transpose()?;
        let rest = zones.query.as_deref().and_then(behind_mark);
        let unmarked = rest.map(|rest| Path::new(&zones.path, Some(rest)));
        Ok(Self {
            path,
            unmarked: unmarked.transpose()?,
            query,
            fragment: zones.fragment.as_deref().map(Fragment::new).transpose()?,
        })
    }

    pub(super) fn matches(&self, uri: &str) -> Option<Variables> {
        let (rest, fragment) = split(uri, '#');
        let (path, query) = split(rest, '?');
        let without_mark = query.is_none().then(|| self.unmarked(path)).flatten();
        let mut variables = match without_mark {
            Some(variables) => variables,
            None => self.marked(path, query)?,
        };
        match (&self.fragment, fragment) {
            (Some(expected), fragment) => expected.matches(fragment, &mut variables)?,
            (None, Some(_)) => return None,
            (None, None) => {}
        }
        Some(variables)
    }

    fn marked(&self, path: &str, query: Option<&str>) -> Option<Variables> {
        let (mut variables, _) = self.path.matches(path)?;
        match (&self.query, query) {
            (Some(expected), query) => expected.matches(query, &mut variables)?,
            (None, Some(_)) => return None,
            (None, None) => {}
        }
        Some(variables)
    }

    fn unmarked(&self, path: &str) -> Option<Variables> {
        let (mut variables, query) = self.unmarked.as_ref()?.matches(path)?;
        self.query.as_ref()?.matches(query, &mut variables)?;
        Some(variables)
    }

    pub(super) fn may_leave_out(&self, variable: &str) -> bool {
        self.query.as_ref().is_some_and(|query| query.has(variable))
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

/// What follows a query's first expression, if anything does.
fn behind_mark(query: &[Part]) -> Option<&[Part]> {
    match query.split_first()? {
        (Part::Expression(first), rest) if first.operator == Operator::Query => {
            (!rest.is_empty()).then_some(rest)
        }
        _ => None,
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
