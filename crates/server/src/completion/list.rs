//! Completers that are a list of texts.

use std::future::ready;

use pintle_model::Completion;

use crate::ability::RequiredState;
use crate::rejection::Rejection;

use super::completer::Completer;
use super::search::search;
use super::{CompletionCall, CompletionFuture};

/// Marks completers that are a list.
#[derive(Debug)]
pub enum ViaList {}

macro_rules! lists {
    ($([$($generics:tt)*] $name:ty),+ $(,)?) => {
        $(impl<$($generics)*> Completer<ViaList> for $name {
            fn needs() -> Vec<RequiredState> {
                Vec::new()
            }

            fn start(&self, call: &CompletionCall<'_>) -> Result<CompletionFuture, Rejection> {
                let found = Completion::new(search(self, call.typed()));
                Ok(Box::pin(ready(Ok(found))))
            }
        })+
    };
}

lists! {
    [const N: usize] [&'static str; N],
    [] &'static [&'static str],
    [] Vec<&'static str>,
    [] Vec<String>,
}
