//! Lists in pages: one page, all of it, or page by page. One bad item does not lose the others.

mod item;
mod page;
mod pages;
mod raw;
mod walk;

use std::collections::HashSet;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use pintle_model::{Cursor, Tool};
use pintle_runtime::{BoxFuture, Connect};

use crate::call::Call;
use crate::client::Client;
use crate::error::CallError;
use crate::request::{CallTimeouts, Request};
use crate::state::ClientState;
use crate::tool_lookup::ToolLookup;

pub use item::Item;
use page::RawPage;
pub use page::{InvalidItem, Page};
pub use pages::Pages;
pub use raw::RawList;

/// Whether the client takes an item; what it learns of it.
pub(crate) fn admit<T: Item>(item: &T, client: &ClientState) -> Result<(), String> {
    if let Some(tool) = item.as_tool() {
        let param_headers = client.connect.param_headers(&tool.input_schema)?;
        let fingerprint = client.look_at(tool);
        let (as_of, limit) = (client.cache.tool_changes(), client.options.max_cached_tools);
        client
            .tool_cache
            .learn(tool, param_headers, fingerprint, as_of, limit);
    }
    Ok(())
}

/// All of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompleteList<T> {
    /// The valid items, in the server's order. Each name occurs once: the first item has it.
    pub items: Vec<T>,
    /// The malformed items.
    pub spoiled: Vec<InvalidItem>,
}

impl<T> Default for CompleteList<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            spoiled: Vec::new(),
        }
    }
}

/// A list that has not been asked for yet: awaiting it asks for all of it. When the server refuses
/// the cursor of a page, cached pages are dropped and the list begins again, once.
#[must_use = "a list is asked for when it is awaited"]
pub struct List<T> {
    client: Client,
    waiting: CallTimeouts,
    item: std::marker::PhantomData<fn() -> T>,
}

impl<T: Item> List<T> {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            waiting: CallTimeouts::default(),
            item: std::marker::PhantomData,
        }
    }

    /// Waits so long for each page.
    pub fn timeout(mut self, idle: Duration) -> Self {
        self.waiting.idle = Some(idle);
        self
    }

    /// Asks for one page: the first one, or the one at a cursor.
    pub fn page(&self, cursor: Option<Cursor>) -> Call<Page<T>> {
        let request = request(T::METHOD, self.waiting, cursor);
        Call::new(self.client.clone(), request, |given| {
            let page = RawPage::of::<T>(given)?;
            Ok(page.read(&page.items()?, given.state))
        })
    }

    /// Returns the list as a stream, which requests each page when it is polled.
    pub fn pages(self) -> Pages<T> {
        Pages::new(self)
    }

    /// As [`List::pages`]; after a cursor that the server refuses they begin again, once.
    pub(crate) fn restarting_pages(self) -> Pages<T> {
        self.pages().restarting()
    }
}

impl<T: Item> IntoFuture for List<T> {
    type Output = Result<CompleteList<T>, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut pages = self.restarting_pages();
            let (mut listed, mut names) = (CompleteList::default(), HashSet::new());
            while let Some(page) = pages.next().await {
                let page = page?;
                if pages.has_restarted() {
                    (listed, names) = (CompleteList::default(), HashSet::new());
                }
                listed.add(page, &mut names);
            }
            Ok(listed)
        })
    }
}

impl ToolLookup for Client {
    fn look_up(&self, name: &str) -> BoxFuture<'_, Result<Option<Tool>, CallError>> {
        let name = name.to_owned();
        Box::pin(async move {
            let mut pages = List::<Tool>::new(self.clone()).restarting_pages();
            while let Some(page) = pages.next().await {
                let mut tools = page?.items.into_iter();
                if let Some(tool) = tools.find(|tool| tool.name == name) {
                    return Ok(Some(tool));
                }
            }
            Ok(None)
        })
    }
}

impl<T: Item> CompleteList<T> {
    fn add(&mut self, page: Page<T>, names: &mut HashSet<String>) {
        self.spoiled.extend(page.spoiled);
        for item in page.items {
            let name = item.key().to_owned();
            if names.insert(name.clone()) {
                self.items.push(item);
            } else {
                self.spoiled.push(InvalidItem::repeated(name));
            }
        }
    }
}

/// Returns the request of one page.
fn request(method: &str, waiting: CallTimeouts, cursor: Option<Cursor>) -> Request {
    let params = match &cursor {
        None => Ok("{}".into()),
        Some(cursor) => serde_json::to_vec(&serde_json::json!({ "cursor": cursor }))
            .map(Into::into)
            .map_err(|error| error.to_string()),
    };
    Request {
        params,
        timeouts: waiting,
        is_repeatable: true,
        ..Request::new(method)
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").finish_non_exhaustive()
    }
}

impl<T> IntoIterator for CompleteList<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<T> std::ops::Deref for CompleteList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}
