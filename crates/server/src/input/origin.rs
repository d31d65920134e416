//! Which request a sealed state belongs to.

use std::collections::BTreeMap;

use pintle_model::Error;
use pintle_runtime::Principal;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A request, as far as its retry must be the same.
pub(crate) struct Origin<'a> {
    method: &'static str,
    target: &'a str,
    arguments: Arguments<'a>,
}

enum Arguments<'a> {
    None,
    Raw(&'a RawValue),
    Words(&'a BTreeMap<String, String>),
}

impl<'a> Origin<'a> {
    /// A request for the tool, prompt or resource `target`.
    pub(crate) fn new(method: &'static str, target: &'a str) -> Self {
        Self {
            method,
            target,
            arguments: Arguments::None,
        }
    }

    /// With arguments of any kind.
    pub(crate) fn with_arguments(mut self, arguments: Option<&'a RawValue>) -> Self {
        self.arguments = arguments.map_or(Arguments::None, Arguments::Raw);
        self
    }

    /// With arguments that are words.
    pub(crate) fn with_words(mut self, arguments: &'a BTreeMap<String, String>) -> Self {
        self.arguments = Arguments::Words(arguments);
        self
    }

    /// What a state is bound to: the same bytes for the same request of the same principal, and
    /// other bytes for any other.
    pub(super) fn binding(&self, principal: Option<&Principal>) -> Result<Vec<u8>, Error> {
        match &self.arguments {
            Arguments::None => self.bind(principal, &Value::Object(Default::default())),
            Arguments::Words(words) => self.bind(principal, words),
            Arguments::Raw(raw) => {
                let value = serde_json::from_str(raw.get())
                    .map_err(|_| Error::invalid_params("the arguments cannot be read"))?;
                self.bind(principal, &sorted(value))
            }
        }
    }

    fn bind(
        &self,
        principal: Option<&Principal>,
        arguments: &impl Serialize,
    ) -> Result<Vec<u8>, Error> {
        let parts = (
            principal.map(Principal::id),
            self.method,
            self.target,
            arguments,
        );
        serde_json::to_vec(&parts).map_err(|_| Error::internal())
    }
}

/// The same value with its members in order: a client may write a retry anew.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().collect();
            let members = members.into_iter();
            Value::Object(members.map(|(name, value)| (name, sorted(value))).collect())
        }
        other => other,
    }
}
