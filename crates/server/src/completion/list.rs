//! Completers that are a list of texts.

use std::future::ready;

use pintle_model::Completion;

use crate::ability::RequiredState;
use crate::rejection::Rejection;

use super::completer::Completer;
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

/// Returns the texts that begin with the typed text, in their order, then those that contain it.
/// Upper and lower case of ASCII letters are the same.
fn search<'l, S: AsRef<str>>(list: &'l [S], typed: &str) -> Vec<&'l str> {
    let typed = typed.to_ascii_lowercase();
    let longest = list
        .iter()
        .map(|text| text.as_ref().len())
        .max()
        .unwrap_or_default();
    if typed.len() > longest {
        return Vec::new();
    }
    let place = |text: &'l S| {
        Some((
            text.as_ref().to_ascii_lowercase().find(&typed)?,
            text.as_ref(),
        ))
    };
    let found = list.iter().filter_map(place);
    let (first, rest): (Vec<_>, Vec<_>) = found.partition(|(place, _)| *place == 0);
    first
        .into_iter()
        .chain(rest)
        .map(|(_, text)| text)
        .collect()
}
