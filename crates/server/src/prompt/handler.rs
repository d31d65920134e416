//! Functions as handlers of prompts: any async function of up to eight parameters.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::ability::Ability;
use crate::rejection::Rejection;
use crate::tool::{Args, ViaAbility, ViaArgs, ViaArguments};
use crate::tuples::all_tuples;

use super::Prompt;
use super::call::PromptCall;
use super::result::IntoPromptResult;

/// A maker of the messages of a prompt: an async function or closure of up to eight parameters.
///
/// Every parameter is an ability ([`Context`](pintle_runtime::Context), [`State`](crate::State), …)
/// except at most one, which takes all arguments as a type that derives `Deserialize` and
/// `JsonSchema`. The prompt's arguments are the fields of that type, unless declared by hand. Each
/// is read from its text.
///
/// `M` tells functions of different parameters apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the handler of a prompt",
    label = "no handler",
    note = "a handler is an async function of up to 8 parameters; all but one are abilities, one takes the arguments",
    note = "it returns something that implements `IntoPromptResult`, and its future is `Send`"
)]
pub trait PromptHandler<M>: Send + Sync + 'static {
    /// One use of the prompt.
    type Future: Future<Output: IntoPromptResult> + Send + 'static;

    /// Tells the prompt what the parameters ask of it.
    fn describe(prompt: Prompt) -> Prompt;

    /// Fills the parameters and begins to make messages.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if a parameter cannot be filled.
    fn start(&self, call: &PromptCall<'_>) -> Result<Self::Future, Rejection>;
}

/// A parameter of a [`PromptHandler`]: an [`Ability`], [`Args`], or the arguments plain.
///
/// `Via` tells these apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a prompt",
    label = "neither an ability nor readable from the arguments",
    note = "the arguments are taken as a type that derives `Deserialize` and `JsonSchema`"
)]
pub trait FromPrompt<Via>: Sized {
    /// Tells the prompt what this parameter asks of it.
    fn describe(prompt: Prompt) -> Prompt;

    /// Takes the parameter out of a call.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if it is not in there.
    fn from_prompt(call: &PromptCall<'_>) -> Result<Self, Rejection>;
}

impl<A: Ability> FromPrompt<ViaAbility> for A {
    fn describe(prompt: Prompt) -> Prompt {
        prompt.needs::<A>()
    }

    fn from_prompt(call: &PromptCall<'_>) -> Result<Self, Rejection> {
        call.ability()
    }
}

impl<T: DeserializeOwned + JsonSchema> FromPrompt<ViaArgs> for Args<T> {
    fn describe(prompt: Prompt) -> Prompt {
        prompt.arguments::<T>().field_types::<T>()
    }

    fn from_prompt(call: &PromptCall<'_>) -> Result<Self, Rejection> {
        call.arguments().map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema> FromPrompt<ViaArguments> for T {
    fn describe(prompt: Prompt) -> Prompt {
        prompt.arguments::<T>().field_types::<T>()
    }

    fn from_prompt(call: &PromptCall<'_>) -> Result<Self, Rejection> {
        call.arguments()
    }
}

macro_rules! handlers {
    ($($param:ident $via:ident),*) => {
        impl<F, Fut, $($param, $via),*> PromptHandler<($(($via, $param),)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoPromptResult> + Send + 'static,
            $($param: FromPrompt<$via>,)*
        {
            type Future = Fut;

            fn describe(prompt: Prompt) -> Prompt {
                $(let prompt = $param::describe(prompt);)*
                prompt
            }

            #[allow(unused_variables)]
            fn start(&self, call: &PromptCall<'_>) -> Result<Fut, Rejection> {
                Ok(self($($param::from_prompt(call)?),*))
            }
        }
    };
}

all_tuples!(handlers, up to 8);
