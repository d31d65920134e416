//! The arguments of an operation: its parameters and its body, with one schema for all.

use std::collections::BTreeMap;

use pintle_model::JsonObject;
use serde_json::{Map, Value, json};

use crate::definitions::Definitions;
use crate::error::UnsupportedOperationError;
use crate::fixed::FixedParameter;
use crate::parameter::{Parameter, Place, Style, is_free_header, schema};
use crate::reference::follow;
use crate::schema::References as _;

/// Maximum number of parameters of an operation.
const MAX_PARAMETERS: usize = 256;

type Result<T> = std::result::Result<T, UnsupportedOperationError>;

/// The arguments of an operation.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    pub(crate) schema: JsonObject,
}

/// The body of a request.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    /// The name of the argument.
    pub(crate) argument: Box<str>,
    pub(crate) content_type: Box<str>,
}

/// The schemas of arguments, while they are collected.
#[derive(Default)]
struct Properties {
    schemas: Map<String, Value>,
    required: Vec<Value>,
}

impl Properties {
    fn add(&mut self, name: &str, mut schema: Value, description: &Value, is_required: bool) {
        if let (Value::Object(schema), Value::String(text)) = (&mut schema, description) {
            schema.insert("description".to_owned(), text.as_str().into());
        }
        self.schemas.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name.into());
        }
    }

    fn finish(self, definitions: Map<String, Value>) -> JsonObject {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.schemas.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema
    }
}

impl Arguments {
    /// Reads the parameters and the body of an operation. Parameters that the program sets are not arguments.
    pub(crate) fn read(
        document: &Value,
        item: &Value,
        operation: &Value,
        fixed: &[FixedParameter],
        mut definitions: Definitions<'_>,
    ) -> Result<Self> {
        let mut properties = Properties::default();
        let mut parameters: Vec<Parameter> = Vec::new();
        let declared = declared(document, item, operation)?;
        for ((name, place), parameter) in &declared {
            if fixed.iter().any(|fixed| fixed.sets(*place, name)) {
                continue;
            }
            let Some(style) = supported(parameter, *place, name)? else {
                continue;
            };
            let mut others = Place::ALL.iter().filter(|other| *other != place);
            let is_ambiguous = others.any(|other| declared.contains_key(&(*name, *other)));
            let argument = match is_ambiguous {
                true => format!("{name}_{}", place.name()),
                false => (*name).to_owned(),
            };
            let is_required = *place == Place::Path || parameter["required"] == true;
            definitions.count_text(name)?;
            definitions.count_text(text(&parameter["description"]))?;
            let schema = definitions.schema(schema(parameter)?)?;
            properties.add(&argument, schema, &parameter["description"], is_required);
            let (argument, name) = (argument.into(), (*name).into());
            parameters.push(Parameter {
                argument,
                name,
                place: *place,
                style,
            });
        }
        let body = body(document, operation, &mut properties, &mut definitions)?;
        let schema = properties.finish(definitions.finish()?);
        Ok(Self {
            parameters,
            body,
            schema,
        })
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

type Declared<'d> = BTreeMap<(&'d str, Place), &'d Value>;

/// Returns the parameters of the path and of the operation, which replace those of the path. Cookies are not arguments.
fn declared<'d>(
    document: &'d Value,
    item: &'d Value,
    operation: &'d Value,
) -> Result<Declared<'d>> {
    let malformed = || UnsupportedOperationError::malformed("parameters");
    let mut declared = BTreeMap::new();
    for listed in [item.get("parameters"), operation.get("parameters")]
        .into_iter()
        .flatten()
    {
        for parameter in listed.as_array().ok_or_else(malformed)? {
            let parameter = follow(document, parameter)?;
            let name = parameter["name"].as_str().ok_or_else(malformed)?;
            if declared.len() >= MAX_PARAMETERS {
                return Err(malformed());
            }
            match Place::of(parameter) {
                Some(place) => {
                    declared.insert((name, place), parameter);
                }
                None if parameter["required"] == true => {
                    return Err(UnsupportedOperationError::Parameter(name.into()));
                }
                None => {}
            }
        }
    }
    Ok(declared)
}

/// Returns the style of a parameter; `None` for an optional one that no argument can fill.
fn supported(parameter: &Value, place: Place, name: &str) -> Result<Option<Style>> {
    let lower_case = name.to_ascii_lowercase();
    if place == Place::Header && ["accept", "authorization", "content-type"].contains(&&*lower_case)
    {
        // OpenAPI ignores parameters of these names.
        return Ok(None);
    }
    let is_free = place != Place::Header || is_free_header(name);
    let style = Style::of(parameter, place).filter(|_| is_free);
    if style.is_none() && (place == Place::Path || parameter["required"] == true) {
        return Err(UnsupportedOperationError::Parameter(name.into()));
    }
    Ok(style)
}

fn body(
    document: &Value,
    operation: &Value,
    properties: &mut Properties,
    definitions: &mut Definitions<'_>,
) -> Result<Option<Body>> {
    let Some(body) = operation.get("requestBody") else {
        return Ok(None);
    };
    let body = follow(document, body)?;
    let is_required = body["required"] == true;
    let Some((content_type, media)) = json_content(&body["content"]) else {
        return if is_required {
            Err(UnsupportedOperationError::Body)
        } else {
            Ok(None)
        };
    };
    definitions.count_text(text(&body["description"]))?;
    let any = Value::Bool(true);
    let schema = definitions.schema(media.get("schema").unwrap_or(&any))?;
    let is_taken = properties.schemas.contains_key("body");
    let argument = if is_taken { "request_body" } else { "body" };
    if properties.schemas.contains_key(argument) {
        return Err(UnsupportedOperationError::Parameter(argument.into()));
    }
    properties.add(argument, schema, &body["description"], is_required);
    Ok(Some(Body {
        argument: argument.into(),
        content_type,
    }))
}

/// Returns the content type of JSON, and its description.
fn json_content(content: &Value) -> Option<(Box<str>, &Value)> {
    let content = content.as_object()?;
    let essence = |name: &str| {
        name.split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let exact = content
        .iter()
        .find(|(name, _)| essence(name) == "application/json");
    let is_json = |name: &str| {
        let name = essence(name);
        name.ends_with("+json") || ["application/*", "*/*"].contains(&&*name)
    };
    let (name, media) = exact.or_else(|| content.iter().find(|(name, _)| is_json(name)))?;
    let is_plain = name
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let content_type = match name.contains('*') || !is_plain {
        true => "application/json",
        false => name,
    };
    Some((content_type.into(), media))
}
