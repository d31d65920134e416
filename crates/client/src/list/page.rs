//! One page of a list. An item that cannot be read is left out, and the others are used.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_model::{Cursor, Feature, Freshness};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::admit;
use super::item::Item;
use crate::error::Misbehavior;
use crate::result::{RawResult, unreadable};
use crate::state::ClientState;

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
    /// Describes an item that cannot be read.
    pub(super) fn of(raw: &RawValue, reason: String) -> Self {
        let name = name_of(raw);
        tracing::warn!(name, reason, "an item of a list is left out");
        Self { name, reason }
    }

    pub(crate) fn new(name: String, reason: &str) -> Self {
        Self {
            name: Some(name),
            reason: reason.to_owned(),
        }
    }

    /// Describes an item whose name an earlier item has.
    pub(super) fn repeated(name: String) -> Self {
        Self::new(name, "its name is there already")
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

/// A page whose items are not read.
pub(super) struct RawPage {
    items: Box<RawValue>,
    pub(super) next: Option<Cursor>,
    freshness: Option<Freshness>,
}

impl RawPage {
    /// Reads a page of the list of `T`.
    pub(super) fn of<T: Item>(given: &RawResult<'_>) -> Result<Self, Misbehavior> {
        Self::read_member(given, T::MEMBER)
    }

    fn read_member(given: &RawResult<'_>, member: &'static str) -> Result<Self, Misbehavior> {
        let raw = given.raw;
        if given.session.info.revision.has(Feature::ResultType) {
            // Only a complete result is a page; its members are read below.
            let outcome = pintle_model::Outcome::<serde::de::IgnoredAny>::decode(raw);
            if outcome.map_err(unreadable)?.into_complete().is_none() {
                return Err(Misbehavior::UnexpectedQuestion);
            }
        }
        let members: BTreeMap<String, &RawValue> =
            serde_json::from_str(raw.get()).map_err(no_list)?;
        let rest: Rest = serde_json::from_str(raw.get()).map_err(no_list)?;
        let missing = || no_list(serde::de::Error::missing_field(member));
        let items = *members.get(member).ok_or_else(missing)?;
        Ok(Self {
            items: items.to_owned(),
            next: rest.next_cursor,
            freshness: rest.freshness,
        })
    }

    /// Returns the texts of the items.
    pub(super) fn items(&self) -> Result<Vec<&RawValue>, Misbehavior> {
        serde_json::from_str(self.items.get()).map_err(no_list)
    }

    /// Reads the items, which are those of [`RawPage::items`].
    pub(super) fn read<T: Item>(&self, items: &[&RawValue], client: &ClientState) -> Page<T> {
        let mut page = Page {
            items: Vec::with_capacity(items.len()),
            spoiled: Vec::new(),
            next: self.next.clone(),
            freshness: self.freshness,
        };
        for item in items {
            match read_item(item, client) {
                Ok(item) => page.items.push(item),
                Err(reason) => page.spoiled.push(InvalidItem::of(item, reason)),
            }
        }
        page
    }
}

fn no_list(error: serde_json::Error) -> Misbehavior {
    Misbehavior::NoList(Arc::new(error))
}

/// Reads an item of a list, or returns its defect.
pub(super) fn read_item<T: Item>(raw: &RawValue, client: &ClientState) -> Result<T, String> {
    let item = T::read(raw.get()).map_err(|error| error.to_string())?;
    admit(&item, client)?;
    Ok(item)
}

fn name_of(raw: &RawValue) -> Option<String> {
    let named: Named = serde_json::from_str(raw.get()).ok()?;
    named.name.or(named.uri).or(named.uri_template)
}
