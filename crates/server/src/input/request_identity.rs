//! Which request a sealed state belongs to.

use std::collections::BTreeMap;

use pintle_model::Error;
use pintle_model::RawJson;
use pintle_runtime::Principal;
use serde::Serialize;
use serde_json::Value;

/// The parts of a request that its retry must repeat.
pub(crate) struct RequestIdentity<'a> {
    method: &'static str,
    target: &'a str,
    arguments: Arguments<'a>,
}

enum Arguments<'a> {
    None,
    Raw(RawJson<'a>),
    Words(&'a BTreeMap<String, String>),
}

impl<'a> RequestIdentity<'a> {
    /// A request for the tool, prompt or resource `target`.
    pub(crate) fn new(method: &'static str, target: &'a str) -> Self {
        Self {
            method,
            target,
            arguments: Arguments::None,
        }
    }

    /// With arguments of any kind.
    pub(crate) fn with_arguments(mut self, arguments: Option<RawJson<'a>>) -> Self {
        self.arguments = arguments.map_or(Arguments::None, Arguments::Raw);
        self
    }

    /// With arguments that are words.
    pub(crate) fn with_words(mut self, arguments: &'a BTreeMap<String, String>) -> Self {
        self.arguments = Arguments::Words(arguments);
        self
    }

    /// Returns the bytes that a state is bound to: the same for the same request of the same principal,
    /// and other bytes for any other.
    pub(super) fn binding(&self, principal: Option<&Principal>) -> Result<Vec<u8>, Error> {
        match &self.arguments {
            Arguments::None => self.bind(principal, &Value::Object(Default::default())),
            Arguments::Words(words) => self.bind(principal, words),
            Arguments::Raw(raw) => {
                let mut value: Value = raw
                    .decode()
                    .map_err(|_| Error::invalid_params("the arguments cannot be read"))?;
                // A client may write a retry anew, with other positions of its members.
                value.sort_all_objects();
                self.bind(principal, &value)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    // spec: 2026-07-28 N-MRTR-11, N-ELIC-13
    // spec: 2025-11-25 ELIC-39
    #[test]
    fn a_state_belongs_to_one_principal_and_one_request() {
        let none: [&str; 0] = [];
        let (ada, eve) = (Principal::new("ada", none), Principal::new("eve", none));
        let one = raw(r#"{"a":1,"b":{"c":2,"d":[]}}"#);
        let other = raw(r#"{"a":1,"b":{"c":2,"d":[0]}}"#);
        let bind = |method, target, arguments: Option<&RawValue>, principal| {
            let origin =
                RequestIdentity::new(method, target).with_arguments(arguments.map(RawJson::from));
            origin.binding(principal).expect("a binding")
        };
        let bindings = [
            bind("tools/call", "t", Some(&*one), Some(&ada)),
            bind("tools/call", "t", Some(&*one), Some(&eve)),
            bind("tools/call", "t", Some(&*one), None),
            bind("tools/call", "t", Some(&*other), Some(&ada)),
            bind("tools/call", "t", None, Some(&ada)),
            bind("tools/call", "u", Some(&*one), Some(&ada)),
            bind("prompts/get", "t", Some(&*one), Some(&ada)),
        ];
        for (at, binding) in bindings.iter().enumerate() {
            assert!(!bindings[..at].contains(binding), "row {at}");
        }
    }

    // spec: 2026-07-28 N-MRTR-18
    #[test]
    fn a_retry_may_be_written_anew() {
        let (one, same) = (
            raw(r#"{"a":1,"b":{"c":2,"d":3}}"#),
            raw(r#"{ "b": {"d":3,"c":2}, "a":1 }"#),
        );
        let bind = |arguments: &RawValue| {
            let origin =
                RequestIdentity::new("tools/call", "t").with_arguments(Some(arguments.into()));
            origin.binding(None).expect("a binding")
        };
        assert_eq!(bind(&one), bind(&same));
    }
}
