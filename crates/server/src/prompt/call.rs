//! One use of a prompt on its way to its function.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

use pintle_model::Error;
use pintle_runtime::Context;
use serde::de::DeserializeOwned;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as Unreadable, MapDeserializer};

use crate::ability::{Ability, ExtractContext};
use crate::erase::{Finish, HandlerKind};
use crate::rejection::Rejection;
use crate::text::{Text, from_text};

use super::Prompt;
use super::result::{IntoPromptResult, PromptReply};

/// A prompt at work.
pub type PromptFuture = Pin<Box<dyn Future<Output = PromptReply> + Send>>;

impl HandlerKind for Prompt {
    type Call<'a> = PromptCall<'a>;
    /// The name of the prompt.
    type Memo = Box<str>;
    type Reply = PromptReply;

    fn memo(call: &PromptCall<'_>) -> Box<str> {
        call.name.into()
    }
}

impl<T: IntoPromptResult> Finish<T> for Prompt {
    fn finish(name: Box<str>, output: T) -> PromptReply {
        let outcome = output.into_prompt_result();
        outcome.map_err(|failure| failure.into_error("prompt", &name))
    }
}

/// The error for a prompt that runs nothing; servers refuse to start with one.
pub(super) fn idle() -> Rejection {
    Rejection::Protocol(Error::internal())
}

/// The error for arguments that were not given.
pub(super) fn missing(names: &[&str]) -> Rejection {
    let (plural, names) = (if names.len() > 1 { "s" } else { "" }, names.join("`, `"));
    invalid(format!("missing required argument{plural} `{names}`"))
}

fn invalid(message: String) -> Rejection {
    Rejection::Protocol(Error::invalid_params(message))
}

/// A use of a prompt: what the parameters of its handler are taken from.
pub struct PromptCall<'a> {
    name: &'a str,
    arguments: &'a BTreeMap<String, String>,
    scope: ExtractContext<'a>,
}

impl<'a> PromptCall<'a> {
    pub(super) fn new(
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
        scope: ExtractContext<'a>,
    ) -> Self {
        Self {
            name,
            arguments,
            scope,
        }
    }

    /// What was filled in, by argument name; perhaps more than the prompt declares.
    pub fn raw_arguments(&self) -> &'a BTreeMap<String, String> {
        self.arguments
    }

    /// The request this call came with.
    pub fn context(&self) -> &'a Context {
        self.scope.context()
    }

    /// Reads an argument from its text: text as it is, numbers and `true`/`false` as JSON has them,
    /// enums by the name of their variant.
    ///
    /// # Errors
    ///
    /// -32602 naming the argument, if it is missing or no `T`.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, Rejection> {
        self.optional(name)?.ok_or_else(|| missing(&[name]))
    }

    /// Reads an argument that may be left out.
    ///
    /// # Errors
    ///
    /// -32602 naming the argument, if it is not a `T`.
    pub fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Rejection> {
        let Some(text) = self.arguments.get(name) else {
            return Ok(None);
        };
        let read = from_text(text);
        read.map(Some)
            .map_err(|error| invalid(format!("invalid argument `{name}`: {error}")))
    }

    /// Reads all arguments as one type.
    ///
    /// # Errors
    ///
    /// -32602, if they are not a `T`.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        let texts = self
            .arguments
            .iter()
            .map(|(name, text)| (name.as_str(), Text(text)));
        let read = T::deserialize(MapDeserializer::<_, Unreadable>::new(texts));
        read.map_err(|error| invalid(format!("invalid arguments: {error}")))
    }

    /// Takes an ability.
    ///
    /// # Errors
    ///
    /// [`Rejection::Missing`] if it is not there for this request.
    pub fn ability<A: Ability>(&self) -> Result<A, Rejection> {
        Ok(A::from_scope(&self.scope)?)
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for Text<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl fmt::Debug for PromptCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The arguments may be anybody's secrets.
        f.debug_struct("PromptCall")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
