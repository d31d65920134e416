//! Functions as completers: sync or async, of up to four parameters.

use std::collections::BTreeMap;

use pintle_model::Completion;

use crate::ability::{Ability, RequiredState};
use crate::rejection::Rejection;
use crate::tool::ViaAbility;
use crate::tuples::all_tuples;

use super::result::IntoCompletion;
use super::search::search;
use super::{CompletionCall, CompletionFuture};

/// A source of values for an argument: a list of texts, or a function of up to four parameters.
///
/// Each parameter is a `String`, the text that the user has typed so far; [`OtherArguments`], the
/// arguments that are filled in already; or an ability ([`Context`](pintle_runtime::Context),
/// [`State`](crate::State), …). The function returns something that implements [`IntoCompletion`],
/// or a future of it: the values that fit, the best first.
///
/// A list is searched: values that begin with the typed text come first, then those that contain it. So are the values of a
/// function without a `String` parameter, which returns all of them.
///
/// ```
/// use pintle_server::{OtherArguments, Resource};
///
/// async fn pages(given: OtherArguments) -> Vec<String> {
///     let book = given.get("book").unwrap_or("handbook");
///     ["begin", "end"].map(|page| format!("{book}-{page}")).to_vec()
/// }
///
/// let page = Resource::new("docs://{book}/{page}", "page")
///     .complete("book", ["handbook", "cookbook"])
///     .complete("page", pages);
/// ```
///
/// `M` distinguishes these implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` completes nothing",
    label = "neither a list of texts nor a completer",
    note = "a completer is a function, async or not, such as `async fn(typed: String) -> Vec<String>`",
    note = "its parameters are `String`, `OtherArguments` and abilities; its future is `Send`"
)]
pub trait Completer<M>: Send + Sync + 'static {
    /// Returns the state that the server must hold for the completer.
    fn needs() -> Vec<RequiredState>;

    /// Fills the parameters and begins to complete.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if a parameter cannot be filled.
    fn start(&self, call: &CompletionCall<'_>) -> Result<CompletionFuture, Rejection>;
}

/// A parameter of a [`Completer`]: the typed text, the [`OtherArguments`], or an [`Ability`].
///
/// `Via` distinguishes these implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a completer",
    label = "neither `String`, `OtherArguments` nor an ability"
)]
pub trait FromCompletion<Via>: Sized {
    /// Whether the parameter is the typed text. Without such a parameter the values are searched.
    const IS_TYPED: bool = false;

    /// Returns the state that the server must hold for the parameter.
    fn need() -> Option<RequiredState> {
        None
    }

    /// Extracts the parameter from a call.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if the call does not have it.
    fn from_completion(call: &CompletionCall<'_>) -> Result<Self, Rejection>;
}

/// Marks a `String` parameter: the text that the user has typed for the argument so far.
#[derive(Debug)]
pub enum ViaTyped {}

/// Marks an [`OtherArguments`] parameter.
#[derive(Debug)]
pub enum ViaOtherArguments {}

/// The other arguments that are filled in already. Clients up to 2025-03-26 never send them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OtherArguments(pub BTreeMap<String, String>);

impl OtherArguments {
    /// The text of an argument, if it was filled in.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl FromCompletion<ViaTyped> for String {
    const IS_TYPED: bool = true;

    fn from_completion(call: &CompletionCall<'_>) -> Result<Self, Rejection> {
        Ok(call.typed().to_owned())
    }
}

impl FromCompletion<ViaOtherArguments> for OtherArguments {
    fn from_completion(call: &CompletionCall<'_>) -> Result<Self, Rejection> {
        Ok(Self(call.other_arguments.cloned().unwrap_or_default()))
    }
}

impl<A: Ability> FromCompletion<ViaAbility> for A {
    fn need() -> Option<RequiredState> {
        <A as Ability>::need()
    }

    fn from_completion(call: &CompletionCall<'_>) -> Result<Self, Rejection> {
        call.ability()
    }
}

/// Marks completers that are async functions.
#[derive(Debug)]
pub enum ViaFuture {}

/// Marks completers that are plain functions.
#[derive(Debug)]
pub enum ViaValue {}

/// Returns the typed text, unless a parameter is it.
fn untyped(are_typed: &[bool], call: &CompletionCall<'_>) -> Option<String> {
    (!are_typed.contains(&true)).then(|| call.typed().to_owned())
}

/// Searches the values of a function that did not receive the typed text. A function that states that there are more
/// values chose these itself.
fn searched(completion: Completion, typed: Option<String>) -> Completion {
    match typed {
        Some(typed) if are_all(&completion) => Completion::new(search(&completion.values, &typed)),
        _ => completion,
    }
}

fn are_all(completion: &Completion) -> bool {
    let count = completion.values.len() as u64;
    completion.has_more != Some(true) && completion.total.is_none_or(|total| total <= count)
}

macro_rules! completers {
    ($($param:ident $via:ident),*) => {
        impl<F, Fut, $($param, $via),*> Completer<(ViaFuture, $(($via, $param),)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoCompletion> + Send + 'static,
            $($param: FromCompletion<$via>,)*
        {
            fn needs() -> Vec<RequiredState> {
                let needs: Vec<Option<RequiredState>> = vec![$(<$param as FromCompletion<$via>>::need()),*];
                needs.into_iter().flatten().collect()
            }

            #[allow(unused_variables)]
            fn start(&self, call: &CompletionCall<'_>) -> Result<CompletionFuture, Rejection> {
                let future = self($($param::from_completion(call)?),*);
                let typed = untyped(&[$(<$param as FromCompletion<$via>>::IS_TYPED),*], call);
                Ok(Box::pin(async move { Ok(searched(future.await.into_completion()?, typed)) }))
            }
        }

        impl<F, R, $($param, $via),*> Completer<(ViaValue, $(($via, $param),)*)> for F
        where
            F: Fn($($param),*) -> R + Send + Sync + 'static,
            R: IntoCompletion,
            $($param: FromCompletion<$via>,)*
        {
            fn needs() -> Vec<RequiredState> {
                let needs: Vec<Option<RequiredState>> = vec![$(<$param as FromCompletion<$via>>::need()),*];
                needs.into_iter().flatten().collect()
            }

            #[allow(unused_variables)]
            fn start(&self, call: &CompletionCall<'_>) -> Result<CompletionFuture, Rejection> {
                let completion = self($($param::from_completion(call)?),*).into_completion();
                let typed = untyped(&[$(<$param as FromCompletion<$via>>::IS_TYPED),*], call);
                let completion = completion.map(|completion| searched(completion, typed));
                Ok(Box::pin(std::future::ready(completion)))
            }
        }
    };
}

all_tuples!(completers, up to 4);
