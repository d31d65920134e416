//! The path of an operation, and its variables.

use pintle_model::JsonObject;
use serde_json::Value;

use crate::encode::encode;
use crate::error::{OpenApiCallError, UnsupportedOperationError, refused};
use crate::parameter::{Parameter, Place};

type Result<T> = std::result::Result<T, OpenApiCallError>;

/// A path with variables.
#[derive(Debug, Clone)]
pub(crate) struct PathTemplate(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(Box<str>),
    /// The index of a parameter.
    Variable(usize),
}

impl PathTemplate {
    /// Parses a path. Each variable needs a parameter, and each parameter of the path a variable.
    pub(crate) fn parse(
        path: &str,
        parameters: &[Parameter],
    ) -> std::result::Result<Self, UnsupportedOperationError> {
        let invalid = || UnsupportedOperationError::PathTemplate(path.chars().take(200).collect());
        let mut rest = path;
        let mut pieces = Vec::new();
        while let Some((text, tail)) = rest.split_once('{') {
            let (name, tail) = tail.split_once('}').ok_or_else(invalid)?;
            let is_it =
                |parameter: &Parameter| parameter.place == Place::Path && *parameter.name == *name;
            let index = parameters.iter().position(is_it).ok_or_else(invalid)?;
            pieces.extend([Piece::Text(text.into()), Piece::Variable(index)]);
            rest = tail;
        }
        pieces.push(Piece::Text(rest.into()));
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"?#\\\"<>^`|{}".contains(&byte);
        let is_text = |piece: &Piece| match piece {
            Piece::Text(text) => text.bytes().all(is_plain),
            Piece::Variable(_) => true,
        };
        let is_used = |(index, parameter): (usize, &Parameter)| {
            let is_it = |piece: &Piece| matches!(piece, Piece::Variable(own) if *own == index);
            parameter.place != Place::Path || pieces.iter().any(is_it)
        };
        let is_valid = path.starts_with('/') && pieces.iter().all(is_text);
        if !is_valid || !parameters.iter().enumerate().all(is_used) {
            return Err(invalid());
        }
        Ok(Self(pieces))
    }

    /// Fills the variables. An argument stays within its segment.
    pub(crate) fn fill(&self, parameters: &[Parameter], arguments: &JsonObject) -> Result<String> {
        let mut path = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => path.push_str(text),
                Piece::Variable(index) => {
                    if let Some(parameter) = parameters.get(*index) {
                        path.push_str(&segment(parameter, arguments)?);
                    }
                }
            }
        }
        // Servers and proxies resolve these segments to another path, in the encoded form as well.
        if path
            .split('/')
            .any(|segment| segment == "." || segment == "..")
        {
            let first = parameters
                .iter()
                .find(|parameter| parameter.place == Place::Path);
            let name = first.map_or("path", |parameter| &parameter.argument);
            return Err(refused(name, "`.` and `..` are not allowed in the path"));
        }
        Ok(path)
    }
}

fn segment(parameter: &Parameter, arguments: &JsonObject) -> Result<String> {
    let value = arguments.get(&*parameter.argument).unwrap_or(&Value::Null);
    let text = match value {
        Value::Null => String::new(),
        value => parameter.style.text(value, encode),
    };
    if text.is_empty() {
        // Without it, the path is that of another operation.
        return Err(refused(
            &parameter.argument,
            "it is empty, and a part of the path",
        ));
    }
    Ok(text)
}
