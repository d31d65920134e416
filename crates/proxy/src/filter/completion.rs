//! Completions for prompts and resources that clients see.

use std::borrow::Cow;

use pintle::model::{Error, RawJson, RawMembers};
use serde::Deserialize;

use super::Filters;

/// The reference of a completion. A repeated member is an error, because the server could read the other.
#[derive(Deserialize)]
struct Completing<'a> {
    #[serde(borrow)]
    r#ref: Reference<'a>,
}

#[derive(Deserialize)]
struct Reference<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
}

impl Filters {
    /// Returns the parameters of a completion for the server.
    ///
    /// # Errors
    ///
    /// -32602 for a prompt or template that clients do not see, and for other references.
    pub(crate) fn complete<'p>(&self, params: &'p str) -> Result<Cow<'p, str>, Error> {
        if self.prompts.is_empty() && self.resources.is_empty() {
            return Ok(Cow::Borrowed(params));
        }
        let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
        let completing: Completing<'p> = serde_json::from_str(params).map_err(invalid)?;
        match completing.r#ref {
            Reference {
                r#type,
                uri: Some(uri),
                name: None,
            } if r#type == "ref/resource" => {
                self.resources.check_template(&uri)?;
                Ok(Cow::Borrowed(params))
            }
            Reference {
                r#type,
                name: Some(name),
                uri: None,
            } if r#type == "ref/prompt" => match self.prompts.at_server(&name)? {
                same if same == name => Ok(Cow::Borrowed(params)),
                other => renamed(params, other).map(Cow::Owned),
            },
            _ => Err(Error::invalid_params("unknown reference of a completion")),
        }
    }
}

/// Returns the parameters with another name of the prompt.
fn renamed(params: &str, name: &str) -> Result<String, Error> {
    let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
    let mut members = RawMembers::read(params).map_err(invalid)?;
    let reference = members.get("ref").map_or("{}", RawJson::get);
    let reference = super::with_name(reference, name, None)?;
    let reference = serde_json::value::RawValue::from_string(reference).map_err(invalid)?;
    members.insert("ref", &*reference);
    String::from_utf8(members.to_vec()).map_err(|_| Error::internal())
}
