//! The members of a request of the page. One reader serves all requests.

use http::StatusCode;
use pintle_model::{JsonObject, RawJson, RawMembers};
use serde_json::Value;

use crate::failure::Failure;

/// The members of a request. Their values are texts until they are used.
pub(crate) struct Asked<'b>(RawMembers<'b>);

impl<'b> Asked<'b> {
    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the status 400 if it is not a JSON object.
    pub(crate) fn read(body: &'b [u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(body).map_err(|error| invalid(&error.to_string()))?;
        let members = RawMembers::read(text).map_err(|error| invalid(&error.to_string()))?;
        Ok(Self(members))
    }

    /// Returns the JSON text of a member.
    pub(crate) fn raw(&self, name: &str) -> Option<RawJson<'b>> {
        self.0.get(name)
    }

    /// Returns a text.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the status 400 if it is missing. The same is true of the other members.
    pub(crate) fn text(&self, name: &str) -> Result<String, Failure> {
        self.optional(name).ok_or_else(|| missing(name))
    }

    /// Returns a text; `None` without one.
    pub(crate) fn optional(&self, name: &str) -> Option<String> {
        Some(self.raw(name)?.as_text()?.into_owned())
    }

    pub(crate) fn whole(&self, name: &str) -> Result<u64, Failure> {
        let number = self.raw(name).and_then(|raw| raw.get().parse().ok());
        number.ok_or_else(|| missing(name))
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|raw| raw.get() == "true")
    }

    /// Returns the JSON text of an object; `None` without the member.
    pub(crate) fn object(&self, name: &str) -> Result<Option<&'b str>, Failure> {
        match self.raw(name).map(RawJson::get) {
            Some(text) if !text.starts_with('{') => Err(missing(name)),
            text => Ok(text),
        }
    }
}

/// Decodes the text of an object; `None` for another value.
pub(crate) fn decoded(object: &str) -> Option<JsonObject> {
    // `parse` is not generic, so that the program has its code once.
    match object.parse() {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    }
}

/// Returns the failure of a request without a valid member.
pub(crate) fn missing(name: &str) -> Failure {
    invalid(&format!("`{name}` is missing or has another type"))
}

fn invalid(reason: &str) -> Failure {
    Failure::new(
        StatusCode::BAD_REQUEST,
        format!("invalid request: {reason}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> Asked<'_> {
        Asked::read(body.as_bytes()).expect("an object")
    }

    #[test]
    fn members_have_their_types() {
        let asked = asked(r#"{"t":"a\nb","n":7,"f":true,"o":{"x":1.50}}"#);
        assert_eq!(asked.text("t").ok().as_deref(), Some("a\nb"));
        assert_eq!(asked.whole("n").ok(), Some(7));
        assert!(asked.is_set("f") && !asked.is_set("t"));
        assert_eq!(asked.object("o").ok(), Some(Some("{\"x\":1.50}")));
        assert_eq!(asked.object("none").ok(), Some(None));
        assert!(asked.text("n").is_err() && asked.whole("t").is_err());
        assert!(asked.object("n").is_err());
    }

    #[test]
    fn a_body_that_is_not_an_object_is_rejected() {
        for body in ["", "[]", "{", "null", "\"a\""] {
            assert!(Asked::read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(Asked::read(b"\xff").is_err());
    }
}
