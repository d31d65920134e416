//! A list whose items stay JSON texts. Each is read once, to check it.

use std::collections::HashSet;
use std::future::poll_fn;

use pintle_model::{Prompt, Resource, ResourceTemplate, Task, Tool};
use pintle_runtime::BoxFuture;
use serde_json::value::RawValue;

use super::item::Item;
use super::page::{InvalidItem, RawPage, read_item};
use super::walk::Walk;
use crate::client::Client;
use crate::error::CallError;
use crate::request::CallTimeouts;
use crate::result::Reader;
use crate::state::ClientState;

/// All of a list, as JSON texts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RawList {
    /// The valid items, as the server sent them and in its order. Each name occurs once.
    pub items: Vec<Box<RawValue>>,
    /// The malformed items.
    pub spoiled: Vec<InvalidItem>,
}

/// A list of the protocol.
struct Kind {
    method: &'static str,
    page: Reader<RawPage>,
    /// Returns the identity of a valid item.
    check: fn(&RawValue, &ClientState) -> Result<String, String>,
}

impl Kind {
    const fn of<T: Item>() -> Self {
        Self {
            method: T::METHOD,
            page: RawPage::of::<T>,
            check: |raw, client| read_item(raw, client).map(|item: T| item.key().to_owned()),
        }
    }
}

const KINDS: [Kind; 5] = [
    Kind::of::<Tool>(),
    Kind::of::<Resource>(),
    Kind::of::<ResourceTemplate>(),
    Kind::of::<Prompt>(),
    Kind::of::<Task>(),
];

impl Client {
    /// Lists everything of a list, by the name of its method: as [`Client::list_tools`] and its siblings, but the items
    /// stay the JSON texts that the server sent. `None` for a method that is not a list.
    ///
    /// # Errors
    ///
    /// Those of [`Client::list_tools`].
    pub fn list_raw(&self, method: &str) -> Option<BoxFuture<'static, Result<RawList, CallError>>> {
        let kind = KINDS.iter().find(|kind| kind.method == method)?;
        Some(Box::pin(collect(self.clone(), kind)))
    }
}

async fn collect(client: Client, kind: &Kind) -> Result<RawList, CallError> {
    let waiting = CallTimeouts::default();
    let mut walk = Walk::new(client.clone(), waiting, kind.method, kind.page).restarting();
    let (mut list, mut names) = (RawList::default(), HashSet::new());
    while let Some(page) = poll_fn(|task| walk.poll_next(task)).await {
        let page = page?;
        if walk.has_restarted() {
            (list, names) = (RawList::default(), HashSet::new());
        }
        for item in walk.items(&page)? {
            match (kind.check)(item, &client.0) {
                Ok(name) if names.insert(name.clone()) => list.items.push(item.to_owned()),
                Ok(name) => list.spoiled.push(InvalidItem::repeated(name)),
                Err(reason) => list.spoiled.push(InvalidItem::of(item, reason)),
            }
        }
    }
    Ok(list)
}
