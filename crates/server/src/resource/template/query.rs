//! The query of a URI: parameters in any order, each of which may be left out.

use super::error::{TemplateError, unmatchable};
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::percent::decode;
use super::variables::{VariableValue, Variables};

/// What a template's queries look like.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    parameters: Vec<Parameter>,
    /// Pairs that the template spells out, which have to be there.
    fixed: Vec<(String, String)>,
}

/// A parameter that holds a variable.
#[derive(Debug, Clone)]
struct Parameter {
    key: String,
    variable: Box<str>,
    is_list: bool,
}

impl Query {
    pub(super) fn new(parts: &[Part]) -> Result<Self, TemplateError> {
        let mut query = Self::default();
        for piece in pieces(parts) {
            match piece.as_slice() {
                [] => {}
                [Part::Expression(expression)] if has_own_mark(expression) => {
                    query.add_named(expression)?;
                }
                [Part::Literal(pair)] => query
                    .fixed
                    .push(decoded_pair(pair).ok_or_else(|| broken(pair))?),
                [Part::Literal(key), Part::Expression(expression)] => {
                    query.add_valued(key, expression)?;
                }
                _ => {
                    return Err(unmatchable(
                        "the query",
                        "a value is neither fixed nor one variable",
                    ));
                }
            }
        }
        Ok(query)
    }

    /// Adds the variables of a query to those of the path. `None` if it does not fit.
    pub(super) fn matches(&self, query: Option<&str>, variables: &mut Variables) -> Option<()> {
        let pieces = query
            .unwrap_or_default()
            .split('&')
            .filter(|piece| !piece.is_empty());
        let pairs = pieces.map(decoded_pair).collect::<Option<Vec<_>>>()?;
        for parameter in &self.parameters {
            parameter.read(&pairs, variables)?;
        }
        self.fixed
            .iter()
            .all(|pair| pairs.contains(pair))
            .then_some(())
    }

    pub(super) fn has(&self, variable: &str) -> bool {
        self.parameters
            .iter()
            .any(|parameter| &*parameter.variable == variable)
    }

    fn add_named(&mut self, expression: &Expression) -> Result<(), TemplateError> {
        for variable in &expression.variables {
            self.add(&variable.name, variable)?;
        }
        Ok(())
    }

    /// Adds a pair that is written out: `key={variable}`.
    fn add_valued(&mut self, key: &str, expression: &Expression) -> Result<(), TemplateError> {
        let is_plain = matches!(expression.operator, Operator::Simple | Operator::Reserved);
        let key = key
            .strip_suffix('=')
            .filter(|key| is_plain && !key.contains('='));
        match (key, expression.variables.as_slice()) {
            (Some(key), [variable]) => self.add(key, variable),
            _ => Err(unmatchable(
                "the query",
                "a value is neither fixed nor one variable",
            )),
        }
    }

    fn add(&mut self, key: &str, variable: &Variable) -> Result<(), TemplateError> {
        let is_list = match variable.modifier {
            Modifier::Whole => false,
            Modifier::Explode => true,
            Modifier::Prefix(_) => {
                return Err(unmatchable(
                    &variable.name,
                    "a prefix says nothing of the rest",
                ));
            }
        };
        self.parameters.push(Parameter {
            key: decode(key).ok_or_else(|| broken(key))?,
            variable: variable.name.clone(),
            is_list,
        });
        Ok(())
    }
}

impl Parameter {
    fn read(&self, pairs: &[(String, String)], variables: &mut Variables) -> Option<()> {
        let ours = pairs.iter().filter(|(key, _)| *key == self.key);
        let values: Vec<String> = ours.map(|(_, value)| value.clone()).collect();
        match (values.as_slice(), self.is_list) {
            ([], _) => {}
            (_, true) => variables.insert(&*self.variable, VariableValue::List(values)),
            ([only], false) => variables.insert(&*self.variable, only.as_str()),
            // Readers disagree on which of two counts, so neither does.
            (_, false) => return None,
        }
        Some(())
    }
}

/// Whether an expression brings the `?` or `&` before each of its pairs.
fn has_own_mark(expression: &Expression) -> bool {
    matches!(
        expression.operator,
        Operator::Query | Operator::Continuation
    )
}

/// The parts between two `&`.
fn pieces(parts: &[Part]) -> Vec<Vec<Part>> {
    let mut done = Vec::new();
    let mut open = Vec::new();
    for part in parts {
        match part {
            Part::Literal(text) => {
                for (index, piece) in text.split('&').enumerate() {
                    if index > 0 {
                        done.push(std::mem::take(&mut open));
                    }
                    if !piece.is_empty() {
                        open.push(Part::Literal(piece.to_owned()));
                    }
                }
            }
            Part::Expression(expression) if has_own_mark(expression) => {
                done.push(std::mem::replace(&mut open, vec![part.clone()]));
            }
            Part::Expression(_) => open.push(part.clone()),
        }
    }
    done.push(open);
    done
}

fn decoded_pair(pair: &str) -> Option<(String, String)> {
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    Some((decode(key)?, decode(value)?))
}

fn broken(text: &str) -> TemplateError {
    unmatchable(text, "its percent-encoding is broken")
}
