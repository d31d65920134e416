//! One page of a list. An item that cannot be read is left out, and the others are used.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_model::{Cursor, Feature, Freshness};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::item::Item;
use crate::conversation::Conversation;
use crate::error::Misbehavior;
use crate::result::unreadable;

/// One page of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Page<T> {
    /// The valid items, in the server's order.
    pub items: Vec<T>,
    /// The malformed items.
    pub spoiled: Vec<InvalidItem>,
    /// Where the next page begins; none on the last.
    pub next: Option<Cursor>,
    /// How long the page may be kept.
    pub freshness: Option<Freshness>,
}

/// An item of a list that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidItem {
    /// Name or URI of the item, if readable.
    pub name: Option<String>,
    /// The defect of the item.
    pub reason: String,
}

impl InvalidItem {
    pub(crate) fn new(name: String, reason: &str) -> Self {
        Self {
            name: Some(name),
            reason: reason.to_owned(),
        }
    }
}

/// A page beside its items.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    next_cursor: Option<Cursor>,
    #[serde(flatten)]
    freshness: Option<Freshness>,
}

/// The members that name an item of any kind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    name: Option<String>,
    uri: Option<String>,
    uri_template: Option<String>,
}

pub(super) fn read_page<T: Item>(
    raw: &RawValue,
    session: &Conversation,
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
) -> Result<T, InvalidItem> {
    let read: Result<T, _> = serde_json::from_str(raw.get());
    let read = read.map_err(|error| error.to_string());
    read.and_then(|item| admit(&item).map(|()| item))
        .map_err(|reason| {
            let name = name_of(raw);
            tracing::warn!(name, reason, "an item of a list is left out");
            InvalidItem { name, reason }
        })
}

fn name_of(raw: &RawValue) -> Option<String> {
    let named: Named = serde_json::from_str(raw.get()).ok()?;
    named.name.or(named.uri).or(named.uri_template)
}
