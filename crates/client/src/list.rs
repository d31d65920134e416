//! Lists in pages: one page, all of it, or page by page. One bad item does not lose the others.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use pintle_model::method::{
    ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools, Method,
};
use pintle_model::{
    Cursor, ErrorCode, Feature, Freshness, Prompt, Resource, ResourceTemplate, Task, Tool,
};
use pintle_runtime::Connect;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::call::Call;
use crate::client::Client;
use crate::conversation::Session;
use crate::error::{CallError, Misbehavior};
use crate::request::{Request, Waiting};
use crate::result::unreadable;
use crate::state::ClientState;
use crate::tool_lookup::{Lookup, ToolLookup};

/// Something that servers list. Sealed: the protocol has these.
pub trait Item: DeserializeOwned + Send + 'static + sealed::Listed {}

mod sealed {
    use pintle_model::Tool;

    pub trait Listed {
        const METHOD: &'static str;
        const MEMBER: &'static str;
        /// What there is one of in a list.
        fn key(&self) -> &str;
        /// The item, if it is a tool: of those the client learns.
        fn as_tool(&self) -> Option<&Tool> {
            None
        }
    }
}

macro_rules! items {
    ($( $item:ty = $method:ty, $member:literal, $key:ident $(, $as_tool:expr)?; )+) => {
        $(
            impl Item for $item {}
            impl sealed::Listed for $item {
                const METHOD: &'static str = <$method>::NAME;
                const MEMBER: &'static str = $member;
                fn key(&self) -> &str {
                    &self.$key
                }
                $(fn as_tool(&self) -> Option<&Tool> {
                    $as_tool(self)
                })?
            }
        )+
    };
}

items! {
    Tool = ListTools, "tools", name, Some;
    Resource = ListResources, "resources", uri;
    ResourceTemplate = ListResourceTemplates, "resourceTemplates", uri_template;
    Prompt = ListPrompts, "prompts", name;
    Task = ListTasks, "tasks", task_id;
}

/// Whether the client takes an item; what it learns of it.
fn admit<T: Item>(item: &T, client: &ClientState) -> Result<(), String> {
    if let Some(tool) = item.as_tool() {
        let param_headers = client.connect.param_headers(&tool.input_schema)?;
        let fingerprint = client.look_at(tool);
        let (as_of, limit) = (client.cache.tool_changes(), client.options.known_tools);
        client
            .known
            .learn(tool, param_headers, fingerprint, as_of, limit);
    }
    Ok(())
}

/// One page of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Page<T> {
    /// What could be read, in the server's order.
    pub items: Vec<T>,
    /// What could not.
    pub spoiled: Vec<Spoiled>,
    /// Where the next page begins; none on the last.
    pub next: Option<Cursor>,
    /// How long the page may be kept.
    pub freshness: Option<Freshness>,
}

/// All of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Listed<T> {
    /// What could be read, in the server's order. A name is there once: the first item has it.
    pub items: Vec<T>,
    /// What could not.
    pub spoiled: Vec<Spoiled>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            spoiled: Vec::new(),
        }
    }
}

/// An item of a list that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spoiled {
    /// Its name, or its URI, as far as it could be read.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl Spoiled {
    pub(crate) fn new(name: String, reason: &str) -> Self {
        Self {
            name: Some(name),
            reason: reason.to_owned(),
        }
    }
}

/// A list that has not been asked for yet: awaiting it asks for all of it. When the server refuses
/// the cursor of a page, cached pages are dropped and the list begins again, once.
#[must_use = "a list is asked for when it is awaited"]
pub struct List<T> {
    client: Client,
    waiting: Waiting,
    item: std::marker::PhantomData<fn() -> T>,
}

impl<T: Item> List<T> {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            waiting: Waiting::default(),
            item: std::marker::PhantomData,
        }
    }

    /// Waits so long for each page.
    pub fn timeout(mut self, quiet: Duration) -> Self {
        self.waiting.quiet = Some(quiet);
        self
    }

    /// Asks for one page: the first one, or the one at a cursor.
    pub fn page(&self, cursor: Option<Cursor>) -> Call<Page<T>> {
        page(&self.client, self.waiting, cursor)
    }

    /// Asks for page after page, as far as anybody takes them.
    pub fn pages(self) -> Pages<T> {
        let limits = &self.client.0.options;
        Pages {
            bounds: (limits.list_pages, limits.list_items),
            list: self,
            step: Step::At(None),
            seen: HashSet::new(),
            items: 0,
            may_restart: false,
            has_restarted: false,
        }
    }

    /// As [`List::pages`]; after a cursor that the server refuses they begin again, once.
    pub(crate) fn restarting_pages(self) -> Pages<T> {
        Pages {
            may_restart: true,
            ..self.pages()
        }
    }
}

impl<T: Item> IntoFuture for List<T> {
    type Output = Result<Listed<T>, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut pages = self.restarting_pages();
            let (mut listed, mut names) = (Listed::default(), HashSet::new());
            while let Some(page) = pages.next().await {
                let page = page?;
                if pages.has_restarted() {
                    (listed, names) = (Listed::default(), HashSet::new());
                }
                listed.add(page, &mut names);
            }
            Ok(listed)
        })
    }
}

impl ToolLookup for Client {
    fn look_up(&self, name: &str) -> Lookup<'_> {
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

impl<T: Item> Listed<T> {
    fn add(&mut self, page: Page<T>, names: &mut HashSet<String>) {
        self.spoiled.extend(page.spoiled);
        for item in page.items {
            let name = item.key().to_owned();
            if names.insert(name.clone()) {
                self.items.push(item);
            } else {
                self.spoiled
                    .push(Spoiled::new(name, "its name is there already"));
            }
        }
    }
}

fn page<T: Item>(client: &Client, waiting: Waiting, cursor: Option<Cursor>) -> Call<Page<T>> {
    let params = match &cursor {
        None => Ok("{}".into()),
        Some(cursor) => serde_json::to_vec(&serde_json::json!({ "cursor": cursor }))
            .map(Into::into)
            .map_err(|error| error.to_string()),
    };
    let request = Request {
        params,
        patience: waiting,
        is_repeatable: true,
        ..Request::new(T::METHOD)
    };
    Call::new(client.clone(), request, |given| {
        read_page(given.raw, given.session, |item: &T| {
            admit(item, given.state)
        })
    })
}

/// A page beside its items.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    next_cursor: Option<Cursor>,
    #[serde(flatten)]
    freshness: Option<Freshness>,
}

/// What names an item, of whichever kind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    name: Option<String>,
    uri: Option<String>,
    uri_template: Option<String>,
}

fn read_page<T: Item>(
    raw: &RawValue,
    session: &Session,
    admit: impl Fn(&T) -> Result<(), String>,
) -> Result<Page<T>, Misbehavior> {
    let no_list = |error| Misbehavior::NoList(Arc::new(error));
    if session.info.revision.has(Feature::ResultType) {
        // Only a complete result is a page; its members are read below.
        let outcome = pintle_model::Outcome::<serde::de::IgnoredAny>::decode(raw);
        if outcome.map_err(unreadable)?.into_complete().is_none() {
            return Err(Misbehavior::UnexpectedQuestion);
        }
    }
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get()).map_err(no_list)?;
    let rest: Rest = serde_json::from_str(raw.get()).map_err(no_list)?;
    let items = members.get(T::MEMBER);
    let missing = || no_list(serde::de::Error::missing_field(T::MEMBER));
    let items: Vec<&RawValue> =
        serde_json::from_str(items.ok_or_else(missing)?.get()).map_err(no_list)?;
    let mut page = Page {
        items: Vec::with_capacity(items.len()),
        spoiled: Vec::new(),
        next: rest.next_cursor,
        freshness: rest.freshness,
    };
    for item in items {
        match read_item(item, &admit) {
            Ok(item) => page.items.push(item),
            Err(spoiled) => page.spoiled.push(spoiled),
        }
    }
    Ok(page)
}

fn read_item<T: Item>(
    raw: &RawValue,
    admit: impl Fn(&T) -> Result<(), String>,
) -> Result<T, Spoiled> {
    let read: Result<T, _> = serde_json::from_str(raw.get());
    let read = read.map_err(|error| error.to_string());
    read.and_then(|item| admit(&item).map(|()| item))
        .map_err(|reason| {
            let name = name_of(raw);
            tracing::warn!(name, reason, "an item of a list is left out");
            Spoiled { name, reason }
        })
}

fn name_of(raw: &RawValue) -> Option<String> {
    let named: Named = serde_json::from_str(raw.get()).ok()?;
    named.name.or(named.uri).or(named.uri_template)
}

/// The pages of a list, one after the other. After an error there is nothing more. When the server
/// refuses a cursor, the cached pages are dropped, and another list begins at the first page.
///
/// # Errors
///
/// Those of the calls; [`Misbehavior::RepeatedCursor`] when a cursor comes twice,
/// [`Misbehavior::EndlessList`] past the client's bounds.
#[must_use = "pages are asked for when they are taken"]
pub struct Pages<T> {
    list: List<T>,
    step: Step<T>,
    /// What the cursors come to: enough to see one again.
    seen: HashSet<u64>,
    items: usize,
    bounds: (usize, usize),
    may_restart: bool,
    has_restarted: bool,
}

enum Step<T> {
    At(Option<Cursor>),
    Asking(Pin<Box<dyn Future<Output = Result<Page<T>, CallError>> + Send>>),
    Done,
}

impl<T: Item> Pages<T> {
    /// Waits for the next page; none after the last.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Page<T>, CallError>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Whether the pages began again with the page that came last.
    fn has_restarted(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
    }

    /// Begins again if the server refused the cursor of a page: it may be that of an earlier list,
    /// whose cached pages were dropped with this error.
    fn restart_after(&mut self, error: &CallError) -> bool {
        let is_refused = matches!(error,
            CallError::Answered { error, .. } if error.code == ErrorCode::INVALID_PARAMS);
        let restarts = is_refused && self.may_restart && !self.seen.is_empty();
        if restarts {
            self.seen.clear();
            (self.step, self.items) = (Step::At(None), 0);
            (self.may_restart, self.has_restarted) = (false, true);
        }
        restarts
    }

    /// What follows a page.
    fn after(&mut self, page: &Page<T>) -> Result<Step<T>, Misbehavior> {
        let (pages, items) = self.bounds;
        self.items += page.items.len() + page.spoiled.len();
        if self.items > items {
            return Err(endless(items, "items"));
        }
        let Some(next) = &page.next else {
            return Ok(Step::Done);
        };
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return Err(Misbehavior::RepeatedCursor);
        }
        if self.seen.len() >= pages {
            return Err(endless(pages, "pages"));
        }
        Ok(Step::At(Some(next.clone())))
    }
}

fn endless(limit: usize, unit: &'static str) -> Misbehavior {
    Misbehavior::EndlessList { limit, unit }
}

impl<T: Item> Stream for Pages<T> {
    type Item = Result<Page<T>, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match &mut this.step {
                Step::Done => return Poll::Ready(None),
                Step::At(cursor) => {
                    let call = this.list.page(cursor.take());
                    this.step = Step::Asking(call.into_future());
                }
                Step::Asking(call) => {
                    let page = ready!(call.as_mut().poll(task));
                    this.step = Step::Done;
                    let page = match page {
                        Ok(page) => page,
                        Err(error) if this.restart_after(&error) => continue,
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    };
                    match this.after(&page) {
                        Ok(step) => this.step = step,
                        Err(source) => {
                            return Poll::Ready(Some(Err(CallError::Misbehaved {
                                method: T::METHOD.into(),
                                source,
                            })));
                        }
                    }
                    return Poll::Ready(Some(Ok(page)));
                }
            }
        }
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl<T> IntoIterator for Listed<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<T> std::ops::Deref for Listed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}
