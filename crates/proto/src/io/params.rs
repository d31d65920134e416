//! The parameters of a request or notification.

use serde::Deserialize;
use serde_json::value::RawValue;

use pintle_model::jsonrpc::{Member, Outline, ParamsRef};
use pintle_model::{Error, RawJson, ReadJson};

/// Parameters, still raw: an object or nothing.
#[derive(Debug, Clone, Default)]
pub struct Params {
    text: Option<Box<str>>,
    outline: Outline,
}

impl Params {
    /// The JSON text, `{}` without parameters.
    #[inline]
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or("{}")
    }

    /// Returns the members whose positions are recorded; `None` if one of them occurs twice.
    #[inline]
    pub fn members(&self) -> Option<Members<'_>> {
        let members = Members {
            text: self.text(),
            outline: &self.outline,
        };
        (!self.outline.is_ambiguous()).then_some(members)
    }

    /// Reads the parameters as `T`.
    ///
    /// # Errors
    ///
    /// -32602 with the reason.
    pub fn decode<'de, T: Deserialize<'de>>(&'de self) -> Result<T, Error> {
        serde_json::from_str(self.text()).map_err(|error| invalid(&error))
    }

    /// As [`Params::decode`], for a type of the protocol.
    ///
    /// # Errors
    ///
    /// -32602 with the reason.
    pub fn read<T: ReadJson>(&self) -> Result<T, Error> {
        T::read_json(self.text()).map_err(|error| invalid(&error))
    }
}

fn invalid(error: &serde_json::Error) -> Error {
    Error::invalid_params(format!("invalid params: {error}"))
}

impl From<Option<ParamsRef<'_>>> for Params {
    #[inline]
    fn from(params: Option<ParamsRef<'_>>) -> Self {
        params.map_or_else(Self::default, |params| Self {
            text: Some(params.get().into()),
            outline: *params.outline(),
        })
    }
}

impl From<&RawValue> for Params {
    fn from(params: &RawValue) -> Self {
        Some(ParamsRef::read(params)).into()
    }
}

/// The members of parameters, each at most once.
#[derive(Debug, Clone, Copy)]
pub struct Members<'a> {
    text: &'a str,
    outline: &'a Outline,
}

impl<'a> Members<'a> {
    /// Returns the value of a member; `None` if it is absent or null.
    #[inline]
    pub fn get(self, member: Member) -> Option<RawJson<'a>> {
        self.outline
            .get(self.text, member)
            .filter(|value| !value.is_null())
    }
}
