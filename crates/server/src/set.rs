//! A named, ordered, pageable set that may change while it is served.
//!
//! A reader holds one snapshot; a change replaces it. A snapshot renders its first page once per
//! revision, so that this list costs a copy of a pointer.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use pintle_model::{CacheScope, Cursor, Error, Freshness, Revision, errors};
use pintle_proto::{Rendered, ResultBody};
use pintle_runtime::Principal;
use pintle_runtime::sync::Mutex;

use crate::page::paginate_by;

/// An item that is listed under a name.
pub(crate) trait Listed: Send + Sync + 'static {
    /// The form of the item in a list.
    type Definition: Clone;
    /// The result that contains the list.
    type List: ResultBody;

    /// Returns the key of the item, unique in its set.
    fn key(&self) -> &str;

    /// Returns the form of the item in its list.
    fn definition(&self) -> &Self::Definition;

    /// Returns the scopes that a caller needs; the item does not exist for other callers.
    fn scopes(&self) -> &[Box<str>];

    /// Makes the result of one page.
    fn page(
        definitions: Vec<Self::Definition>,
        next: Option<Cursor>,
        freshness: Freshness,
    ) -> Self::List;

    /// Returns true if `principal` may see and use the item.
    fn is_visible(&self, principal: Option<&Principal>) -> bool {
        let may = |scope: &str| principal.is_some_and(|principal| principal.has_scope(scope));
        self.scopes().iter().all(|scope| may(scope))
    }
}

/// The items of one kind.
#[derive(Debug)]
pub(crate) struct Set<T> {
    snapshot: Mutex<Arc<Snapshot<T>>>,
    page_size: NonZeroUsize,
    freshness: Freshness,
}

/// The items at one time.
#[derive(Debug)]
pub(crate) struct Snapshot<T> {
    items: Vec<Entry<T>>,
    next_place: u64,
    // A fast hash, because only the author of the server adds keys.
    index_by_key: KeyIndex,
    /// Whether all callers see the same list.
    is_public: bool,
    first_pages: [OnceLock<Rendered>; Revision::ALL.len()],
}

/// The index of each item by its key.
type KeyIndex = HashMap<Box<str>, usize, RandomState>;

/// An item and its place in the order; a place is never used again.
#[derive(Debug)]
struct Entry<T> {
    place: u64,
    item: Arc<T>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            place: self.place,
            item: Arc::clone(&self.item),
        }
    }
}

errors! {
    /// Two items of one kind have the same name.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DuplicateNameError(pub name: Box<str>)
        => "`{name}` is offered already: one of the two needs another name";
}

impl<T: Listed> Set<T> {
    /// A set of items in their order.
    ///
    /// # Errors
    ///
    /// [`DuplicateNameError`] when two have the same name.
    pub(crate) fn new(
        items: Vec<Arc<T>>,
        page_size: NonZeroUsize,
        freshness: Freshness,
    ) -> Result<Self, DuplicateNameError> {
        let entries: Vec<_> = (0u64..)
            .zip(items)
            .map(|(place, item)| Entry { place, item })
            .collect();
        let next_place = entries.len() as u64;
        let snapshot = Mutex::new(Arc::new(Snapshot::new(entries, next_place)?));
        Ok(Self {
            snapshot,
            page_size,
            freshness,
        })
    }

    /// The items as they are now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot<T>> {
        Arc::clone(&self.snapshot.lock())
    }

    /// Adds an item at the end.
    ///
    /// # Errors
    ///
    /// [`DuplicateNameError`] when there is one of its name.
    pub(crate) fn add(&self, item: T) -> Result<(), DuplicateNameError> {
        self.replace(&|_| false, vec![item]).map(drop)
    }

    /// Removes the item of a name; returns false without one. Calls that run on the item finish.
    pub(crate) fn remove(&self, key: &str) -> bool {
        self.replace(&|item| item.key() == key, Vec::new())
            .expect("a part of a set has no duplicates")
    }

    /// Removes the items for which `is_old` returns true, and adds others at the end, in one step. Returns true
    /// if an item was removed.
    ///
    /// # Errors
    ///
    /// [`DuplicateNameError`] when two have the same name. The set does not change then.
    pub(crate) fn replace(
        &self,
        is_old: &dyn Fn(&T) -> bool,
        items: Vec<T>,
    ) -> Result<bool, DuplicateNameError> {
        let mut snapshot = self.snapshot.lock();
        let mut entries = snapshot.items.clone();
        entries.retain(|entry| !is_old(&entry.item));
        let is_removed = entries.len() < snapshot.items.len();
        if !is_removed && items.is_empty() {
            return Ok(false);
        }
        let mut place = snapshot.next_place;
        for item in items {
            let item = Arc::new(item);
            entries.push(Entry { place, item });
            place += 1;
        }
        *snapshot = Arc::new(Snapshot::new(entries, place)?);
        Ok(is_removed)
    }

    /// One page of the list, as `principal` sees it.
    ///
    /// # Errors
    ///
    /// -32602 for a cursor that is not one of ours.
    pub(crate) fn list(
        &self,
        cursor: Option<&Cursor>,
        revision: Revision,
        principal: Option<&Principal>,
    ) -> Result<Rendered, Error> {
        let snapshot = self.snapshot();
        if cursor.is_some() || !snapshot.is_public {
            return self.render(&snapshot, cursor, revision, principal);
        }
        let place = snapshot.first_page(revision);
        if let Some(rendered) = place.get() {
            return Ok(rendered.clone());
        }
        let rendered = self.render(&snapshot, None, revision, None)?;
        Ok(place.get_or_init(|| rendered).clone())
    }

    fn render(
        &self,
        snapshot: &Snapshot<T>,
        cursor: Option<&Cursor>,
        revision: Revision,
        principal: Option<&Principal>,
    ) -> Result<Rendered, Error> {
        let page = self.page(snapshot, cursor, principal)?;
        Rendered::new(page, revision).map(Rendered::into_shared)
    }

    /// Returns one page of the list, as `principal` sees it.
    ///
    /// # Errors
    ///
    /// -32602 for a cursor that is not one of ours.
    pub(crate) fn page(
        &self,
        snapshot: &Snapshot<T>,
        cursor: Option<&Cursor>,
        principal: Option<&Principal>,
    ) -> Result<T::List, Error> {
        let visible: Vec<_> = snapshot
            .items
            .iter()
            .filter(|entry| entry.item.is_visible(principal))
            .collect();
        // Places, not names: pages follow the order in which items were added.
        let key_at = |index: usize| format!("{:016x}", visible[index].place);
        let cursor = cursor.map(Cursor::as_str);
        let span = paginate_by(visible.len(), &key_at, cursor, self.page_size)?;
        let page = visible.get(span.range).unwrap_or_default();
        let definitions = page.iter().map(|entry| entry.item.definition().clone());
        let freshness = self.freshness_of(snapshot);
        let next = span.next.map(Cursor::from);
        Ok(T::page(definitions.collect(), next, freshness))
    }
}

impl<T> Set<T> {
    /// Returns the hint of a list; lists that differ between callers are private in caches, too.
    fn freshness_of(&self, snapshot: &Snapshot<T>) -> Freshness {
        if snapshot.is_public {
            return self.freshness;
        }
        Freshness {
            scope: CacheScope::Private,
            ..self.freshness
        }
    }
}

impl<T: Listed> Snapshot<T> {
    fn new(items: Vec<Entry<T>>, next_place: u64) -> Result<Self, DuplicateNameError> {
        let keys = items.iter().map(|entry| entry.item.key()).collect();
        let index_by_key = index_of(keys)?;
        let is_public = items.iter().all(|entry| entry.item.scopes().is_empty());
        Ok(Self {
            items,
            next_place,
            index_by_key,
            is_public,
            first_pages: Default::default(),
        })
    }

    /// Returns the item of a name, if `principal` may see it: a hidden item does not exist.
    pub(crate) fn find(&self, key: &str, principal: Option<&Principal>) -> Option<&Arc<T>> {
        self.get(key).filter(|item| item.is_visible(principal))
    }

    /// Returns the item of a name without a check of scopes.
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<T>> {
        let entry = self.items.get(*self.index_by_key.get(key)?)?;
        Some(&entry.item)
    }

    /// The items in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.items.iter().map(|entry| &entry.item)
    }

    fn first_page(&self, revision: Revision) -> &OnceLock<Rendered> {
        &self.first_pages[revision as usize]
    }
}

/// Returns the index of keys. A function of its own, because it is compiled once for all kinds of items.
fn index_of(keys: Vec<&str>) -> Result<KeyIndex, DuplicateNameError> {
    let mut index_by_key = HashMap::with_capacity_and_hasher(keys.len(), RandomState::default());
    for (index, key) in keys.into_iter().enumerate() {
        if index_by_key.insert(Box::from(key), index).is_some() {
            return Err(DuplicateNameError(key.into()));
        }
    }
    Ok(index_by_key)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Tool;
    use crate::entry::{Entry, MountContext};

    fn listed(tool: Tool, principal: &Principal) -> String {
        let entry = Arc::new(Entry::new(tool, Arc::new(MountContext::default())));
        let size = NonZeroUsize::new(10).expect("not zero");
        let freshness = Freshness::public(Duration::from_secs(60));
        let set = Set::new(vec![entry], size, freshness).expect("one name");
        let list = set.list(None, Revision::LATEST, Some(principal));
        String::from_utf8(list.expect("a list").json().to_vec()).expect("text")
    }

    // spec: 2026-07-28 N-CACHE-10, N-CACHE-13, N-CACHE-16
    #[test]
    fn a_list_that_depends_on_the_principal_is_private() {
        let alice = Principal::new("alice", ["write"]);
        let tool = || Tool::new("edit").handler(async || "done");
        assert!(listed(tool(), &alice).contains("\"cacheScope\":\"public\""));
        let scoped = listed(tool().scopes(["write"]), &alice);
        assert!(scoped.contains("edit") && scoped.contains("\"cacheScope\":\"private\""));
    }
}
