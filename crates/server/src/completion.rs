//! Completing arguments of prompts and variables of templates while a person types them.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use pintle_model::{CompleteParams, CompleteResult, Completion, Error};
use pintle_runtime::Context;

use crate::ability::{Ability, ExtractContext};
use crate::rejection::Rejection;

mod completer;
mod list;
mod result;
mod search;

pub use completer::{
    Completer, FromCompletion, OtherArguments, ViaFuture, ViaOtherArguments, ViaTyped, ViaValue,
};
pub use list::ViaList;
pub use result::IntoCompletion;

/// Future of a completer's values.
pub type CompletionFuture = Pin<Box<dyn Future<Output = Result<Completion, Error>> + Send>>;

/// Future of the answer to `completion/complete`.
pub type CompleteFuture = Pin<Box<dyn Future<Output = Result<CompleteResult, Error>> + Send>>;

type Run = dyn Fn(&CompletionCall<'_>) -> Result<CompletionFuture, Rejection> + Send + Sync;

/// A request for values, from which the parameters of a [`Completer`] are extracted.
pub struct CompletionCall<'a> {
    typed: &'a str,
    other_arguments: Option<&'a BTreeMap<String, String>>,
    scope: ExtractContext<'a>,
}

impl<'a> CompletionCall<'a> {
    /// Returns the text that the user has typed so far.
    pub fn typed(&self) -> &'a str {
        self.typed
    }

    /// Returns another argument that is filled in already. Clients up to 2025-03-26 never send any.
    pub fn given(&self, name: &str) -> Option<&'a str> {
        self.other_arguments?.get(name).map(String::as_str)
    }

    /// Returns the context of the request.
    pub fn context(&self) -> &'a Context {
        self.scope.context()
    }

    /// Extracts an ability.
    ///
    /// # Errors
    ///
    /// [`Rejection::Missing`] if the request has no value for it.
    pub fn ability<A: Ability>(&self) -> Result<A, Rejection> {
        Ok(A::from_scope(&self.scope)?)
    }
}

impl fmt::Debug for CompletionCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The typed text is omitted, because it may be a secret.
        f.debug_struct("CompletionCall")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Completers by the name of their argument, in the order of their addition.
#[derive(Clone, Default)]
pub(crate) struct Completers(Vec<(Box<str>, Arc<Run>)>);

impl Completers {
    pub(crate) fn add<M, C: Completer<M>>(&mut self, name: impl Into<Box<str>>, completer: C) {
        let run = move |call: &CompletionCall<'_>| completer.start(call);
        self.0.push((name.into(), Arc::new(run)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the arguments; a name that was added twice occurs twice.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// Answers a request. An argument without a completer has no values.
    pub(crate) fn complete(
        &self,
        params: &CompleteParams,
        scope: ExtractContext<'_>,
    ) -> CompleteFuture {
        let completer = self
            .0
            .iter()
            .find(|(name, _)| **name == *params.argument.name);
        let Some((_, run)) = completer else {
            return answer(Ok(Completion::new([""; 0]).into()));
        };
        let context = params.context.as_ref();
        let call = CompletionCall {
            typed: &params.argument.value,
            other_arguments: context.and_then(|context| context.arguments.as_ref()),
            scope,
        };
        match run(&call) {
            Ok(future) => Box::pin(async move { Ok(within_bounds(future.await?).into()) }),
            Err(rejection) => answer(Err(rejection.into_error())),
        }
    }
}

impl fmt::Debug for Completers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

fn answer(answer: Result<CompleteResult, Error>) -> CompleteFuture {
    Box::pin(std::future::ready(answer))
}

/// Cuts off values beyond the limit of an answer, and sets `hasMore` and `total` then.
fn within_bounds(mut completion: Completion) -> Completion {
    let all = completion.values.len();
    if all > Completion::MAX_VALUES {
        completion.values.truncate(Completion::MAX_VALUES);
        completion.has_more = Some(true);
        let total = completion.total.unwrap_or_default();
        completion.total = Some(total.max(all as u64));
    }
    completion
}

#[cfg(test)]
mod tests;
