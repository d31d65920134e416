//! Reading a template.

use super::error::TemplateError;
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::percent::{Unescaped, encode_into};
use super::{MAX_TEMPLATE, MAX_VARIABLES};

/// Operators that RFC 6570 keeps for extensions.
const RESERVED: [char; 5] = ['=', ',', '!', '@', '|'];

/// The longest prefix that a variable can ask for, in characters.
const MAX_PREFIX: usize = 9_999;

/// Splits a template into its parts.
pub(super) fn parse(source: &str) -> Result<Vec<Part>, TemplateError> {
    if source.len() > MAX_TEMPLATE {
        return Err(TemplateError::TooLong {
            limit: MAX_TEMPLATE,
        });
    }
    let mut parts = Vec::new();
    let mut count = 0;
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let (part, length) = match rest.strip_prefix('{') {
            Some(inner) => expression(inner, at)?,
            None => literal(rest, at)?,
        };
        count += part
            .as_expression()
            .map_or(0, |expression| expression.variables.len());
        if count > MAX_VARIABLES {
            return Err(TemplateError::TooManyVariables {
                limit: MAX_VARIABLES,
            });
        }
        parts.push(part);
        at += length;
    }
    Ok(parts)
}

fn literal(rest: &str, at: usize) -> Result<(Part, usize), TemplateError> {
    let text = &rest[..rest.find(['{', '}']).unwrap_or(rest.len())];
    if text.is_empty() {
        return Err(TemplateError::LoneBrace { at });
    }
    let mut encoded = String::with_capacity(text.len());
    encode_into(&mut encoded, text, Unescaped::Reserved);
    Ok((Part::Literal(encoded), text.len()))
}

fn expression(inner: &str, at: usize) -> Result<(Part, usize), TemplateError> {
    let closed = inner
        .split_once('}')
        .filter(|(body, _)| !body.contains('{'));
    let (body, _) = closed.ok_or(TemplateError::LoneBrace { at })?;
    let (operator, list) = operator(body, at + 1)?;
    let mut offset = at + 1 + (body.len() - list.len());
    let mut variables = Vec::new();
    for text in list.split(',') {
        variables.push(variable(text, offset)?);
        offset += text.len() + 1;
    }
    let expression = Expression {
        operator,
        variables,
    };
    Ok((Part::Expression(expression), body.len() + 2))
}

fn operator(body: &str, at: usize) -> Result<(Operator, &str), TemplateError> {
    let Some(first) = body.chars().next() else {
        return Ok((Operator::Simple, body));
    };
    if RESERVED.contains(&first) {
        return Err(TemplateError::Operator {
            operator: first,
            at,
        });
    }
    Ok(match Operator::of(first) {
        Some(operator) => (operator, &body[1..]),
        None => (Operator::Simple, body),
    })
}

fn variable(text: &str, at: usize) -> Result<Variable, TemplateError> {
    let (name, modifier) = match (text.strip_suffix('*'), text.split_once(':')) {
        (Some(name), _) => (name, Some(Modifier::Explode)),
        (None, Some((name, length))) => (name, prefix(length)),
        (None, None) => (text, Some(Modifier::Whole)),
    };
    match modifier.filter(|_| is_name(name)) {
        Some(modifier) => Ok(Variable {
            name: name.into(),
            modifier,
        }),
        None => Err(TemplateError::Variable {
            found: text.chars().take(64).collect(),
            at,
        }),
    }
}

fn prefix(length: &str) -> Option<Modifier> {
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit()) && !length.starts_with('0');
    let length = length
        .parse()
        .ok()
        .filter(|length| is_number && *length <= MAX_PREFIX)?;
    Some(Modifier::Prefix(length))
}

/// Letters, digits, `_` and escapes, with single dots between them.
fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let mut escapes = part.split('%');
        let head = escapes.next().unwrap_or_default();
        !part.is_empty()
            && head.bytes().all(is_plain)
            && escapes.all(|escape| {
                let is_hex = escape.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
                is_hex && escape.bytes().all(is_plain)
            })
    })
}
