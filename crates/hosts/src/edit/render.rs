//! A server as the members that its host reads.

use pintle_model::JsonObject;
use serde_json::{Value, json};

use super::error::EditError;
use crate::dialect::{Dialect, Extras};
use crate::entry::{Text, UnexpandedTarget};
use crate::host::Host;
use crate::variable_syntax::{Piece, Variable, VariableSyntax, pieces};

/// Writes servers for one host.
pub(super) struct Renderer<'a> {
    host: &'static Host,
    dialect: Dialect,
    /// The syntaxes in which the definition refers to variables.
    from: &'a [VariableSyntax],
}

impl<'a> Renderer<'a> {
    pub(super) fn new(host: &'static Host, from: &'a [VariableSyntax]) -> Self {
        Self {
            host,
            dialect: host.dialect(),
            from,
        }
    }

    /// Returns the members of a server.
    ///
    /// # Errors
    ///
    /// [`EditError::Unsupported`] if the host has no form for a part of the definition.
    pub(super) fn members(
        &self,
        name: &str,
        target: &UnexpandedTarget,
    ) -> Result<JsonObject, EditError> {
        let mut members = JsonObject::new();
        if self.dialect.extras == Extras::Extension {
            members.insert("name".to_owned(), json!(name));
            members.insert("description".to_owned(), json!(""));
            members.insert("enabled".to_owned(), json!(true));
        }
        match target {
            UnexpandedTarget::Program { .. } => self.program(&mut members, target)?,
            UnexpandedTarget::Url {
                url,
                headers,
                is_sse,
            } => self.url(&mut members, url, headers, *is_sse)?,
        }
        match self.dialect.extras {
            Extras::Tools => members.insert("tools".to_owned(), json!(["*"])),
            Extras::Enabled => members.insert("enabled".to_owned(), json!(true)),
            Extras::Extension => members.insert("timeout".to_owned(), json!(300)),
            _ => None,
        };
        Ok(members)
    }

    fn program(
        &self,
        members: &mut JsonObject,
        target: &UnexpandedTarget,
    ) -> Result<(), EditError> {
        let UnexpandedTarget::Program {
            command,
            arguments,
            environment,
            env_file,
            directory,
        } = target
        else {
            return Ok(());
        };
        if self.dialect.extras == Extras::Source {
            members.insert("source".to_owned(), json!("custom"));
        }
        insert(members, "type", self.dialect.program_type);
        let arguments = arguments.iter().map(|text| self.text(text));
        let mut arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let command = self.text(command)?;
        if let Some(list) = self.dialect.command.strip_suffix("[]") {
            arguments.insert(0, command);
            members.insert(list.to_owned(), json!(arguments));
        } else {
            members.insert(self.dialect.command.to_owned(), json!(command));
            members.insert("args".to_owned(), json!(arguments));
        }
        self.environment(members, environment)?;
        self.path(members, "envFile", env_file, self.dialect.has_env_file)?;
        self.path(members, "cwd", directory, self.dialect.has_directory)
    }

    fn path(
        &self,
        members: &mut JsonObject,
        key: &str,
        path: &Option<String>,
        is_known: bool,
    ) -> Result<(), EditError> {
        match path {
            Some(path) if is_known => {
                members.insert(key.to_owned(), json!(self.text(path)?));
                Ok(())
            }
            Some(_) => Err(self.unsupported(format!("`{key}`"))),
            None => Ok(()),
        }
    }

    fn environment(
        &self,
        members: &mut JsonObject,
        environment: &[(String, Text)],
    ) -> Result<(), EditError> {
        let (mut values, mut names) = (JsonObject::new(), Vec::new());
        for (name, text) in environment {
            match self.normal(text) {
                Text::Env(variable)
                    if self.dialect.extras == Extras::EnvNames && variable == *name =>
                {
                    names.push(variable);
                }
                text => {
                    values.insert(name.clone(), json!(self.value(&text)?));
                }
            }
        }
        insert_filled(members, "env_vars", json!(names));
        insert_filled(members, self.dialect.environment, Value::Object(values));
        Ok(())
    }

    fn url(
        &self,
        members: &mut JsonObject,
        url: &str,
        headers: &[(String, Text)],
        is_sse: bool,
    ) -> Result<(), EditError> {
        let Some(key) = self.dialect.url else {
            return Err(self.unsupported("a URL".to_owned()));
        };
        if is_sse && !self.dialect.has_sse {
            return Err(self.unsupported("the transport HTTP+SSE".to_owned()));
        }
        let kind = match is_sse {
            true => Some("sse"),
            false => self.dialect.url_type,
        };
        insert(members, "type", kind);
        members.insert(key.to_owned(), json!(self.text(url)?));
        self.headers(members, headers)
    }

    fn headers(
        &self,
        members: &mut JsonObject,
        headers: &[(String, Text)],
    ) -> Result<(), EditError> {
        let (mut values, mut names) = (JsonObject::new(), JsonObject::new());
        let has_names = self.dialect.extras == Extras::EnvNames;
        for (name, text) in headers {
            match self.normal(text) {
                Text::Bearer(variable)
                    if has_names && name.eq_ignore_ascii_case("authorization") =>
                {
                    members.insert("bearer_token_env_var".to_owned(), json!(variable));
                }
                Text::Env(variable) if has_names => {
                    names.insert(name.clone(), json!(variable));
                }
                text => {
                    values.insert(name.clone(), json!(self.value(&text)?));
                }
            }
        }
        insert_filled(members, "env_http_headers", Value::Object(names));
        let mut value = Value::Object(values);
        if value.as_object().is_some_and(|values| !values.is_empty()) {
            let (key, outer) = self.dialect.headers.split_first().unwrap_or((&"", &[]));
            for outer in outer {
                value = json!({ *outer: value });
            }
            members.insert((*key).to_owned(), value);
        }
        Ok(())
    }

    /// Returns the value that is a single variable as that variable.
    fn normal(&self, text: &Text) -> Text {
        let Text::Written(written) = text else {
            return text.clone();
        };
        match pieces(written, self.from).as_slice() {
            [Piece::Variable(variable)] => match plain_variable(variable) {
                Some(name) => Text::Env(name.to_owned()),
                None => text.clone(),
            },
            [Piece::Text("Bearer "), Piece::Variable(variable)] => match plain_variable(variable) {
                Some(name) => Text::Bearer(name.to_owned()),
                None => text.clone(),
            },
            _ => text.clone(),
        }
    }

    fn value(&self, text: &Text) -> Result<String, EditError> {
        match text {
            Text::Written(text) => self.text(text),
            Text::Env(name) => self.variable(name, None),
            Text::Bearer(name) => Ok(format!("Bearer {}", self.variable(name, None)?)),
        }
    }

    /// Returns a text with its variables in the syntax of the host.
    fn text(&self, text: &str) -> Result<String, EditError> {
        let found = pieces(text, self.from);
        let mut written = String::new();
        for piece in &found {
            match piece {
                Piece::Text(text) => written.push_str(text),
                Piece::Variable(Variable::Env { name, default }) => {
                    written.push_str(&self.variable(name, *default)?);
                }
                Piece::Variable(Variable::Secret(name)) => {
                    written.push_str(&self.variable(name, None)?);
                }
                Piece::Variable(_) if self.from == self.host.syntaxes => return Ok(text.to_owned()),
                Piece::Variable(_) => return Err(self.unsupported(format!("the text `{text}`"))),
            }
        }
        match are_alike(&pieces(&written, self.host.syntaxes), &found) {
            true => Ok(written),
            false => Err(self.unsupported(format!("the text `{text}` without variables"))),
        }
    }

    fn variable(&self, name: &str, default: Option<&str>) -> Result<String, EditError> {
        let mut syntaxes = self.host.syntaxes.iter();
        let written = syntaxes.find_map(|syntax| match (syntax, default) {
            (VariableSyntax::Braces, None) => Some(format!("${{{name}}}")),
            (VariableSyntax::Braces, Some(default)) => Some(format!("${{{name}:-{default}}}")),
            (VariableSyntax::Dollar, None) => Some(format!("${name}")),
            (VariableSyntax::Editor, None) => Some(format!("${{env:{name}}}")),
            (VariableSyntax::Curly, None) => Some(format!("{{env:{name}}}")),
            (VariableSyntax::Secrets, None) => Some(format!("${{{{ secrets.{name} }}}}")),
            (_, Some(_)) => None,
        });
        let what = || match default {
            Some(_) => format!("the variable `{name}` with a default"),
            None => format!("a reference to the variable `{name}`"),
        };
        written.ok_or_else(|| self.unsupported(what()))
    }

    fn unsupported(&self, what: String) -> EditError {
        EditError::Unsupported {
            host: self.host.name,
            what,
        }
    }
}

/// Whether the same texts and as many variables stand in both.
fn are_alike(left: &[Piece<'_>], right: &[Piece<'_>]) -> bool {
    let is_alike = |(left, right): (&Piece<'_>, &Piece<'_>)| match (left, right) {
        (Piece::Variable(_), Piece::Variable(_)) => true,
        (left, right) => left == right,
    };
    left.len() == right.len() && left.iter().zip(right).all(is_alike)
}

fn plain_variable<'t>(variable: &Variable<'t>) -> Option<&'t str> {
    match variable {
        Variable::Env {
            name,
            default: None,
        }
        | Variable::Secret(name) => Some(name),
        _ => None,
    }
}

fn insert(members: &mut JsonObject, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        members.insert(key.to_owned(), json!(value));
    }
}

/// Inserts a list or an object that is not empty.
fn insert_filled(members: &mut JsonObject, key: &str, value: Value) {
    let is_empty = match &value {
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        _ => false,
    };
    if !is_empty {
        members.insert(key.to_owned(), value);
    }
}
