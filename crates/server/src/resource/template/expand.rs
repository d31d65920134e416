//! From variables to a URI, as RFC 6570, section 3, describes it.

use super::MAX_URI;
use super::error::TemplateError;
use super::expression::{Expression, Modifier, Operator, Part, Variable};
use super::percent::{Unescaped, encode_into};
use super::variables::{VariableValue, Variables};

/// Expands all parts.
pub(super) fn expand(parts: &[Part], variables: &Variables) -> Result<String, TemplateError> {
    let mut uri = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => uri.push_str(text),
            Part::Expression(expression) => write_expression(&mut uri, expression, variables)?,
        }
        if uri.len() > MAX_URI {
            return Err(TemplateError::UriTooLong { limit: MAX_URI });
        }
    }
    Ok(uri)
}

fn write_expression(
    uri: &mut String,
    expression: &Expression,
    variables: &Variables,
) -> Result<(), TemplateError> {
    let operator = expression.operator;
    let mut before = operator.first();
    for variable in &expression.variables {
        let value = variables
            .value(&variable.name)
            .filter(|value| is_defined(value));
        if let Some(value) = value {
            uri.push_str(before);
            before = operator.separator();
            write_value(uri, operator, variable, value)?;
        }
    }
    Ok(())
}

/// An empty list says nothing; an empty text does.
fn is_defined(value: &VariableValue) -> bool {
    match value {
        VariableValue::Text(_) => true,
        VariableValue::List(texts) => !texts.is_empty(),
        VariableValue::Map(pairs) => !pairs.is_empty(),
    }
}

fn write_value(
    uri: &mut String,
    operator: Operator,
    variable: &Variable,
    value: &VariableValue,
) -> Result<(), TemplateError> {
    match (value, variable.modifier) {
        (VariableValue::Text(text), Modifier::Prefix(length)) => {
            let prefix: String = text.chars().take(length).collect();
            write_named(uri, operator, &variable.name, &prefix);
        }
        (VariableValue::Text(text), _) => write_named(uri, operator, &variable.name, text),
        (_, Modifier::Prefix(_)) => {
            return Err(TemplateError::PrefixOfMany {
                name: variable.name.to_string(),
            });
        }
        (VariableValue::List(texts), Modifier::Explode) => {
            separated(uri, operator.separator(), texts, |uri, text| {
                write_named(uri, operator, &variable.name, text);
            });
        }
        (VariableValue::List(texts), Modifier::Whole) => {
            write_name(uri, operator, &variable.name, "=");
            separated(uri, ",", texts, |uri, text| encode(uri, operator, text));
        }
        (VariableValue::Map(pairs), modifier) => {
            write_map(
                uri,
                operator,
                variable,
                pairs,
                modifier == Modifier::Explode,
            );
        }
    }
    Ok(())
}

fn write_map(
    uri: &mut String,
    operator: Operator,
    variable: &Variable,
    pairs: &[(String, String)],
    explode: bool,
) {
    let (between, equals) = if explode {
        (operator.separator(), "=")
    } else {
        (",", ",")
    };
    if !explode {
        write_name(uri, operator, &variable.name, "=");
    }
    separated(uri, between, pairs, |uri, (name, text)| {
        encode(uri, operator, name);
        uri.push_str(equals);
        encode(uri, operator, text);
    });
}

fn separated<T>(uri: &mut String, between: &str, items: &[T], write: impl Fn(&mut String, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            uri.push_str(between);
        }
        write(uri, item);
    }
}

fn write_named(uri: &mut String, operator: Operator, name: &str, text: &str) {
    let equals = if text.is_empty() {
        operator.if_empty()
    } else {
        "="
    };
    write_name(uri, operator, name, equals);
    encode(uri, operator, text);
}

fn write_name(uri: &mut String, operator: Operator, name: &str, equals: &str) {
    if operator.is_named() {
        uri.push_str(name);
        uri.push_str(equals);
    }
}

fn encode(uri: &mut String, operator: Operator, text: &str) {
    let keep = if operator.keeps_reserved() {
        Unescaped::Reserved
    } else {
        Unescaped::Unreserved
    };
    encode_into(uri, text, keep);
}
