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

pub use completer::{
    Completer, FromCompletion, OtherArguments, ViaFuture, ViaOtherArguments, ViaTyped, ViaValue,
};
pub use list::ViaList;
pub use result::IntoCompletion;

/// A completion at work.
pub type CompletionFuture = Pin<Box<dyn Future<Output = Result<Completion, Error>> + Send>>;

/// The answer to `completion/complete`, being made.
pub type CompleteFuture = Pin<Box<dyn Future<Output = Result<CompleteResult, Error>> + Send>>;

type Run = dyn Fn(&CompletionCall<'_>) -> Result<CompletionFuture, Rejection> + Send + Sync;

/// A completion: what the parameters of a [`Completer`] are taken from.
pub struct CompletionCall<'a> {
    typed: &'a str,
    other_arguments: Option<&'a BTreeMap<String, String>>,
    scope: ExtractContext<'a>,
}

impl<'a> CompletionCall<'a> {
    /// What has been typed so far.
    pub fn typed(&self) -> &'a str {
        self.typed
    }

    /// Another argument that was filled in before. Clients up to 2025-03-26 never tell.
    pub fn given(&self, name: &str) -> Option<&'a str> {
        self.other_arguments?.get(name).map(String::as_str)
    }

    /// The request this call came with.
    pub fn context(&self) -> &'a Context {
        self.scope.context()
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

impl fmt::Debug for CompletionCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is being typed may be anybody's secret.
        f.debug_struct("CompletionCall")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Completers by the name of what they complete, in the order they were added.
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

    /// What is completed; twice, if it was added twice.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// Answers a request. What has no completer has no values.
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

/// Cuts off what is more than an answer may hold, and says so.
fn within_bounds(mut completion: Completion) -> Completion {
    let all = completion.values.len();
    if all > Completion::MAX_VALUES {
        completion.values.truncate(Completion::MAX_VALUES);
        completion.has_more = Some(true);
        let known = completion.total.unwrap_or_default();
        completion.total = Some(known.max(all as u64));
    }
    completion
}

#[cfg(test)]
mod tests;
