//! Prompts: messages that a person picks from a menu.
//!
//! A [`Prompt`] is a definition and the function that makes its messages. It is built by value and
//! has no identity of its own: servers hold it by its name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pintle_model as model;
use pintle_model::{CompleteParams, Icon, PromptArgument};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ability::{Ability, ExtractContext, RequiredState};
use crate::ask_code::AskCode;
use crate::completion::{CompleteFuture, Completer, Completers};
use crate::rejection::Rejection;
use crate::text::{has_unreadable_member, is_readable};

mod call;
mod derive;
mod fault;
mod handler;
mod result;

pub use call::{PromptCall, PromptFuture};
pub use fault::PromptDefinitionError;
pub use handler::{FromPrompt, PromptHandler};
pub use result::{IntoPromptResult, PromptOutcome, PromptReply};

use crate::erase::{Run, erase};

/// A prompt: its definition, and the function that makes its messages.
///
/// `#[prompt]` on a function makes one; this is the same by hand:
///
/// ```
/// use pintle_server::Prompt;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The code to review.
///     code: String,
///     /// How strict to be.
///     style: Option<String>,
/// }
///
/// let review = Prompt::new("review")
///     .description("Reviews code.")
///     .complete("style", ["kind", "strict"])
///     .handler(async |review: Review| format!("Please review this code:\n\n{}", review.code));
/// assert!(review.check().is_ok());
/// ```
///
/// The server checks a prompt with [`Prompt::check`] when it starts.
#[derive(Clone)]
pub struct Prompt {
    definition: model::Prompt,
    run: Option<Arc<Run<Self>>>,
    /// Present if the handler can return questions.
    pub(crate) ask_code: Option<AskCode>,
    completers: Completers,
    scopes: Vec<Box<str>>,
    pub(crate) tags: Vec<Box<str>>,
    needs: Vec<RequiredState>,
    fault: Option<PromptDefinitionError>,
    /// Whether the arguments come from a type.
    is_derived: bool,
}

impl Prompt {
    /// Begins a prompt of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            definition: model::Prompt::new(name),
            run: None,
            ask_code: None,
            completers: Completers::default(),
            scopes: Vec::new(),
            tags: Vec::new(),
            needs: Vec::new(),
            fault: None,
            is_derived: false,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets the description of the prompt.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Adds a picture to show for it.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.get_or_insert_default().push(icon);
        self
    }

    /// Adds a member to `_meta`, or replaces it.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self.definition.meta.get_or_insert_default();
        meta.insert(key, value);
        self
    }

    /// Adds an argument that the user fills in.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.definition
            .arguments
            .get_or_insert_default()
            .push(argument);
        self
    }

    /// Takes the arguments from the fields of a type: their names, descriptions, and which must be
    /// given. Arguments that were declared by hand stay.
    #[must_use]
    pub fn arguments<T: JsonSchema>(mut self) -> Self {
        if std::mem::replace(&mut self.is_derived, true) {
            self.fail(PromptDefinitionError::Ambiguous);
        }
        match derive::arguments::<T>() {
            Ok(derived) => derived
                .into_iter()
                .fold(self, Self::argument_unless_declared),
            Err(error) => {
                self.fail(PromptDefinitionError::Arguments(error));
                self
            }
        }
    }

    /// Checks that an argument can be read as this type, so that one that cannot is an error at
    /// start. Arguments of prompts are text: lists, maps and structs cannot be read from it.
    #[must_use]
    pub fn argument_type<T: DeserializeOwned>(mut self, name: impl Into<Box<str>>) -> Self {
        if !is_readable::<T>() {
            self.fail(PromptDefinitionError::NotText { name: name.into() });
        }
        self
    }

    /// As [`Prompt::argument_type`], for every field of a type that takes all arguments.
    fn field_types<T: DeserializeOwned>(mut self) -> Self {
        let mut names = self.declared().iter().map(|argument| &*argument.name);
        if let Some(name) = names.find(|name| has_unreadable_member::<T>(name)) {
            let name = name.into();
            self.fail(PromptDefinitionError::NotText { name });
        }
        self
    }

    /// Lets only callers with all these scopes see and use it.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Completes an argument: see [`Completer`].
    #[must_use]
    pub fn complete<M, C: Completer<M>>(
        mut self,
        argument: impl Into<Box<str>>,
        completer: C,
    ) -> Self {
        self.needs.extend(C::needs());
        self.completers.add(argument, completer);
        self
    }

    /// Asks the server for an ability, so that its absence is an error at start.
    #[must_use]
    pub fn needs<A: Ability>(mut self) -> Self {
        self.needs.extend(A::need());
        self
    }

    /// Makes the messages with a function: see [`PromptHandler`].
    #[must_use]
    pub fn handler<M, H: PromptHandler<M>>(self, handler: H) -> Self {
        H::describe(self).on_get(move |call: &PromptCall<'_>| handler.start(call))
    }

    /// Makes the messages with a function that extracts its parameters from the call itself and
    /// returns the future of the rest. [`Prompt::handler`] and `#[prompt]` expand to this.
    #[must_use]
    pub fn on_get<F, Fut>(mut self, start: F) -> Self
    where
        F: Fn(&PromptCall<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoPromptResult,
    {
        self.run = Some(erase::<Self, _, _>(start));
        self.ask_code = Fut::Output::ASK_CODE;
        self
    }

    fn argument_unless_declared(self, argument: PromptArgument) -> Self {
        let is_declared = self
            .declared()
            .iter()
            .any(|listed| listed.name == argument.name);
        if is_declared {
            self
        } else {
            self.argument(argument)
        }
    }

    /// Keeps the first fault: the others may follow from it.
    fn fail(&mut self, fault: PromptDefinitionError) {
        self.fault.get_or_insert(fault);
    }
}

impl Prompt {
    /// Returns the name that clients request the prompt by.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The definition that is listed.
    pub fn definition(&self) -> &model::Prompt {
        &self.definition
    }

    /// The scopes a caller needs to see and use it.
    pub fn required_scopes(&self) -> &[Box<str>] {
        &self.scopes
    }

    /// Returns the state that the server must hold for the prompt.
    pub fn required_state(&self) -> &[RequiredState] {
        &self.needs
    }

    /// The same prompt under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.definition.name = name.into();
        self
    }

    /// Whether something can be completed.
    pub fn has_completers(&self) -> bool {
        !self.completers.is_empty()
    }

    /// Checks that the prompt can be offered.
    ///
    /// # Errors
    ///
    /// The first [`PromptDefinitionError`]; the author of the prompt must correct it.
    pub fn check(&self) -> Result<(), PromptDefinitionError> {
        fault::check(self)
    }

    /// Makes the messages. Arguments that the prompt does not declare are ignored.
    ///
    /// # Errors
    ///
    /// - -32602 with the names of the missing arguments, or of the one with an invalid value.
    /// - -32603 if the handler fails; the peer does not learn the cause.
    /// - The [`ProtocolError`](crate::ProtocolError) that the handler returned.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the handler.
    ///
    /// Spec: [2026-07-28, Prompts, Error handling][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#error-handling
    pub fn get(
        &self,
        arguments: BTreeMap<String, String>,
        scope: ExtractContext<'_>,
    ) -> PromptFuture {
        match self.start(&arguments, scope) {
            Ok(future) => future,
            Err(rejection) => Box::pin(std::future::ready(Err(rejection.into_error()))),
        }
    }

    /// Completes an argument. One without a completer has no values.
    pub fn completion(&self, params: &CompleteParams, scope: ExtractContext<'_>) -> CompleteFuture {
        self.completers.complete(params, scope)
    }

    fn start(
        &self,
        arguments: &BTreeMap<String, String>,
        scope: ExtractContext<'_>,
    ) -> Result<PromptFuture, Rejection> {
        let is_missing = |argument: &&PromptArgument| {
            argument.is_required() && !arguments.contains_key(&argument.name)
        };
        let missing: Vec<&str> = self
            .declared()
            .iter()
            .filter(is_missing)
            .map(|argument| &*argument.name)
            .collect();
        if !missing.is_empty() {
            return Err(call::missing(&missing));
        }
        let run = self.run.as_ref().ok_or_else(call::idle)?;
        run(&PromptCall::new(self.name(), arguments, scope))
    }

    fn declared(&self) -> &[PromptArgument] {
        self.definition.arguments.as_deref().unwrap_or_default()
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("definition", &self.definition)
            .field("completers", &self.completers)
            .field("scopes", &self.scopes)
            .field("needs", &self.needs)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
