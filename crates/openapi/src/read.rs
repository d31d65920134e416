//! The operations of a document.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::arguments::Arguments;
use crate::definitions::Definitions;
use crate::error::{OpenApiError, UnsupportedOperationError};
use crate::filter::OperationFacts;
use crate::openapi::OpenApi;
use crate::operation::Operation;
use crate::parts::{Api, Parts};
use crate::path::PathTemplate;
use crate::reference::follow;
use crate::scopes;

const METHODS: [(&str, &str); 7] = [
    ("get", "GET"),
    ("put", "PUT"),
    ("post", "POST"),
    ("delete", "DELETE"),
    ("options", "OPTIONS"),
    ("head", "HEAD"),
    ("patch", "PATCH"),
];
/// Names of tools that every host accepts have at most this number of characters.
const MAX_NAME: usize = 64;
/// Maximum size of a description, in characters.
const MAX_DESCRIPTION: usize = 4_000;

impl OpenApi {
    /// Returns the operations, in the order of the document.
    ///
    /// # Errors
    ///
    /// [`OpenApiError`] if a limit is exceeded, there is no base URL, or an operation cannot be a tool.
    pub fn operations(&self) -> Result<Vec<Operation>, OpenApiError> {
        read(self)
    }
}

fn read(source: &OpenApi) -> Result<Vec<Operation>, OpenApiError> {
    let (url, network) = source.base.resolve(&source.document)?;
    let mut reader = Reader {
        source,
        api: Arc::new(Api {
            url,
            network: source.network.unwrap_or(network),
            fixed: source.fixed.clone(),
            limits: source.limits,
        }),
        is_3_0: source.document["openapi"]
            .as_str()
            .is_some_and(|version| version.starts_with("3.0.")),
        values_left: source.limits.max_schema_values,
        names: BTreeSet::new(),
        ids: BTreeSet::new(),
        operations: Vec::new(),
    };
    reader.read_all()?;
    let missing = source.named.iter().find(|id| !reader.ids.contains(&***id));
    match missing {
        Some(id) => Err(OpenApiError::NoOperation(id.clone())),
        None => Ok(reader.operations),
    }
}

struct Reader<'d> {
    source: &'d OpenApi,
    api: Arc<Api>,
    is_3_0: bool,
    values_left: usize,
    names: BTreeSet<String>,
    /// The ids of all operations, also of those that a filter leaves out.
    ids: BTreeSet<&'d str>,
    operations: Vec<Operation>,
}

impl<'d> Reader<'d> {
    fn read_all(&mut self) -> Result<(), OpenApiError> {
        let document = &*self.source.document;
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            let item = match follow(document, item) {
                Ok(item) => item,
                Err(cause) => {
                    self.source
                        .leave_out(path.chars().take(200).collect(), cause)?;
                    continue;
                }
            };
            for (member, method) in METHODS {
                if let Some(operation) = item.get(member) {
                    self.read_one(path, method, item, operation)?;
                }
            }
        }
        Ok(())
    }

    fn read_one(
        &mut self,
        path: &'d str,
        method: &'static str,
        item: &'d Value,
        operation: &'d Value,
    ) -> Result<(), OpenApiError> {
        let id = operation["operationId"].as_str();
        self.ids.extend(id);
        let tags = tags(operation);
        let is_deprecated = operation["deprecated"] == true;
        let facts = OperationFacts {
            id,
            method,
            path,
            tags: &tags,
            is_deprecated,
        };
        if !self.source.filter.accepts(&facts) {
            return Ok(());
        }
        let limit = self.source.limits.max_operations;
        if self.operations.len() >= limit {
            return Err(OpenApiError::TooManyOperations(limit));
        }
        match self.operation(&facts, item, operation) {
            Ok(operation) => self.operations.push(operation),
            Err(UnsupportedOperationError::TooManyValues) => {
                return Err(OpenApiError::TooManySchemas(
                    self.source.limits.max_schema_values,
                ));
            }
            Err(cause) => self.source.leave_out(facts.label(), cause)?,
        }
        Ok(())
    }

    fn operation(
        &mut self,
        facts: &OperationFacts<'_>,
        item: &Value,
        operation: &Value,
    ) -> Result<Operation, UnsupportedOperationError> {
        let document = &*self.source.document;
        let definitions = Definitions::new(document, self.is_3_0, &mut self.values_left);
        let arguments =
            Arguments::read(document, item, operation, &self.source.fixed, definitions)?;
        let path = PathTemplate::parse(facts.path, &arguments.parameters)?;
        let scopes = self.scopes(operation)?;
        Ok(Operation::new(Parts {
            name: self.name(facts),
            method: facts.method,
            description: description(operation, facts.is_deprecated),
            tags: [facts.tags, &*self.source.added_tags].concat(),
            path,
            arguments,
            scopes,
            api: Arc::clone(&self.api),
        }))
    }

    fn scopes(&self, operation: &Value) -> Result<Vec<Box<str>>, UnsupportedOperationError> {
        let sources = &self.source.scopes;
        let mut all = match sources.are_ignored {
            true => Vec::new(),
            false => scopes::of_security(&self.source.document, operation)?,
        };
        for member in &sources.members {
            all.extend(scopes::of_member(operation, member)?);
        }
        Ok(all)
    }

    /// Returns the name of a tool, which no other operation has.
    fn name(&mut self, facts: &OperationFacts<'_>) -> String {
        let without_id = || format!("{}{}", facts.method.to_ascii_lowercase(), facts.path);
        let text = facts.id.map_or_else(without_id, str::to_owned);
        let is_allowed =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let allowed = |letter: char| if is_allowed(letter) { letter } else { '_' };
        let name: String = text.chars().take(MAX_NAME).map(allowed).collect();
        let name = name.trim_matches('_');
        let name = if name.is_empty() { "operation" } else { name };
        let mut unique = name.to_owned();
        let mut number = self.operations.len();
        while !self.names.insert(unique.clone()) {
            number += 1;
            let start: String = name.chars().take(MAX_NAME - 8).collect();
            unique = format!("{start}_{number}");
        }
        unique
    }
}

fn tags(operation: &Value) -> Vec<Box<str>> {
    let tags = operation["tags"].as_array().into_iter().flatten();
    tags.filter_map(Value::as_str).map(Into::into).collect()
}

fn description(operation: &Value, is_deprecated: bool) -> Option<String> {
    let texts = ["summary", "description"].map(|member| operation[member].as_str());
    let [summary, description] =
        texts.map(|text| text.map(str::trim).filter(|text| !text.is_empty()));
    // Some documents repeat the summary.
    let description = description.filter(|text| Some(*text) != summary);
    let note = is_deprecated.then_some("Deprecated.");
    let texts: Vec<&str> = [summary, description, note].into_iter().flatten().collect();
    let text: String = texts.join("\n\n").chars().take(MAX_DESCRIPTION).collect();
    (!text.is_empty()).then_some(text)
}
