//! The prompts that clients see.

use std::borrow::Cow;

use pintle::model::{Error, ListPromptsResult};
use serde_json::value::{RawValue, to_raw_value};

use super::names::Names;
use super::{named, shown, with_name};
use crate::error::{ProxyError, internal};

/// The prompts of the server that clients see, and their names. By default all, unchanged. All names and patterns are
/// those of the server; `*` in a pattern is any text.
#[derive(Debug, Clone, Default)]
pub struct PromptFilter(Names);

impl PromptFilter {
    /// Permits the prompts of this pattern. Without a call of it, all prompts are permitted.
    #[must_use]
    pub fn only(mut self, pattern: impl Into<String>) -> Self {
        self.0.only(pattern.into());
        self
    }

    /// Hides the prompts of this pattern, also those that [`only`](Self::only) permits.
    #[must_use]
    pub fn without(mut self, pattern: impl Into<String>) -> Self {
        self.0.without(pattern.into());
        self
    }

    /// Gives a prompt a new name. Clients do not see the old name, nor another prompt that has the new one.
    #[must_use]
    pub fn rename(mut self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.0.rename(old.into(), new.into());
        self
    }

    pub(crate) fn check(&self) -> Result<(), ProxyError> {
        self.0.check()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the server's name of a prompt.
    ///
    /// # Errors
    ///
    /// -32602 for a prompt that clients do not see.
    pub(super) fn at_server<'n>(&'n self, name: &'n str) -> Result<&'n str, Error> {
        let unknown = || Error::invalid_params(format!("unknown prompt: {}", shown(name)));
        self.0.at_server(name).ok_or_else(unknown)
    }

    /// Returns the parameters of a request for a prompt, for the server.
    ///
    /// # Errors
    ///
    /// -32602 for a prompt that clients do not see, and for other parameters.
    pub(crate) fn get<'p>(&self, params: &'p str) -> Result<Cow<'p, str>, Error> {
        if self.is_empty() {
            return Ok(Cow::Borrowed(params));
        }
        let named = named(params)?;
        let name = self.at_server(&named.name)?;
        match name == named.name {
            true => Ok(Cow::Borrowed(params)),
            false => with_name(params, name, None).map(Cow::Owned),
        }
    }

    /// Returns a page of prompts as clients see it.
    ///
    /// # Errors
    ///
    /// -32603 if the page cannot be read.
    pub(crate) fn list(&self, page: Box<RawValue>) -> Result<Box<RawValue>, Error> {
        if self.is_empty() {
            return Ok(page);
        }
        let unreadable = |error| internal(&format!("invalid prompts of the server: {error}"));
        let mut listed: ListPromptsResult = serde_json::from_str(page.get()).map_err(unreadable)?;
        listed.prompts.retain_mut(|prompt| {
            let name = self.0.at_client(&prompt.name).map(str::to_owned);
            let is_seen = name.is_some();
            prompt.name = name.unwrap_or_default();
            is_seen
        });
        to_raw_value(&listed).map_err(unreadable)
    }
}
