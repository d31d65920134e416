//! One member: its client, and the stored names and URIs of its items.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pintle_model::{Prompt, Resource, ResourceTemplate, Tool};
use pintle_proto::SendError;
use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

use super::gather::MemberItem;
use super::names::{give, may_be_folded};
use super::options::GroupOptions;
use crate::client::Client;
use crate::error::CallError;
use crate::list::{CompleteList, InvalidItem, Item, List};

/// A member of a group.
pub(super) struct Member {
    pub(super) name: Arc<str>,
    pub(super) client: Client,
    cache: Mutex<MemberCache>,
}

#[derive(Default)]
struct MemberCache {
    /// The member's own names, by the rest of those that the group gave, where that is not the same.
    tools: HashMap<String, String>,
    prompts: HashMap<String, String>,
    uris: HashSet<String>,
    templates: HashSet<String>,
    /// True if the member was asked for its resources, with any result.
    was_asked: bool,
}

/// The items of a member, as the group offers them.
pub(super) struct Share<T> {
    pub(super) items: Vec<MemberItem<T>>,
    pub(super) spoiled: Vec<InvalidItem>,
}

impl Member {
    pub(super) fn new(name: &str, client: Client) -> Self {
        Self {
            name: name.into(),
            client,
            cache: Mutex::default(),
        }
    }

    /// Lists the member's items of a kind; none if the member does not offer the kind.
    ///
    /// # Errors
    ///
    /// [`CallError`], also after [`GroupOptions::member_timeout`].
    pub(super) async fn list<T: Shared>(
        &self,
        options: &GroupOptions,
    ) -> Result<Share<T>, CallError> {
        let limit = options.member_timeout;
        let list = List::<T>::new(self.client.clone()).into_future();
        match timeout(limit, list).await {
            Ok(Ok(listed)) => Ok(T::share(self, listed, options)),
            Ok(Err(CallError::NotSent {
                source: SendError::NotOffered { .. } | SendError::NoSuchMethod { .. },
                ..
            })) => Ok(T::share(self, CompleteList::default(), options)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(CallError::TimedOut {
                method: T::METHOD.into(),
                timeout: limit,
            }),
        }
    }

    /// Lists its resources and its templates, so that they are known.
    pub(super) async fn ask_for_resources(&self, options: &GroupOptions) {
        self.lock().was_asked = true;
        let resources = self.list::<Resource>(options).await.map(drop);
        let templates = self.list::<ResourceTemplate>(options).await.map(drop);
        if let Err(error) = resources.and(templates) {
            tracing::debug!(member = &*self.name, %error, "what a member lists is not known");
        }
    }

    pub(super) fn was_asked_for_resources(&self) -> bool {
        self.lock().was_asked
    }

    /// The member's own name of the tool that the group gave; where it may have to be remembered
    /// and is not, the tools are listed.
    pub(super) async fn own_tool(&self, rest: &str, options: &GroupOptions) -> String {
        if let Some(own) = self.lock().tools.get(rest) {
            return own.clone();
        }
        if may_be_folded(rest) && self.list::<Tool>(options).await.is_ok() {
            let own_name = self.lock().tools.get(rest).cloned();
            return own_name.unwrap_or_else(|| rest.to_owned());
        }
        rest.to_owned()
    }

    /// As [`Member::own_tool`], of prompts.
    pub(super) async fn own_prompt(&self, rest: &str, options: &GroupOptions) -> String {
        if let Some(own) = self.lock().prompts.get(rest) {
            return own.clone();
        }
        if may_be_folded(rest) && self.list::<Prompt>(options).await.is_ok() {
            let own_name = self.lock().prompts.get(rest).cloned();
            return own_name.unwrap_or_else(|| rest.to_owned());
        }
        rest.to_owned()
    }

    /// Returns true if the member lists the resource, or a template with exactly this text.
    pub(super) fn lists(&self, uri: &str) -> bool {
        let cache = self.lock();
        cache.uris.contains(uri) || cache.templates.contains(uri)
    }

    /// How much of a URI is the literal beginning of a template that it lists; none if no template
    /// begins like it.
    pub(super) fn template_match(&self, uri: &str) -> Option<usize> {
        let cache = self.lock();
        let beginnings = cache.templates.iter().map(|template| {
            let end = template.find('{').unwrap_or(template.len());
            &template[..end]
        });
        let fitting = beginnings.filter(|beginning| uri.starts_with(beginning));
        fitting.map(str::len).max()
    }

    fn lock(&self) -> MutexGuard<'_, MemberCache> {
        self.cache.lock()
    }

    fn offer<T>(&self, own: String, item: T) -> MemberItem<T> {
        MemberItem {
            member: Arc::clone(&self.name),
            own,
            item,
        }
    }

    /// Renames the listed items. Returns the folded names, which must be stored.
    fn rename<T>(
        &self,
        listed: CompleteList<T>,
        options: &GroupOptions,
        name: impl Fn(&mut T) -> &mut String,
    ) -> (Share<T>, HashMap<String, String>) {
        let (mut folded, mut seen) = (HashMap::new(), HashSet::new());
        let mut share = Share {
            items: Vec::with_capacity(listed.items.len()),
            spoiled: listed.spoiled,
        };
        for mut item in listed.items {
            let given = give(&self.name, name(&mut item), options.max_name_chars);
            let own = std::mem::replace(name(&mut item), given.name.clone());
            let reason = if given.is_opaque && folded.len() >= options.max_shortened_names {
                Some("too many names have to be shortened")
            } else if !seen.insert(given.name.clone()) {
                Some("its name is there already, once it is shortened")
            } else {
                None
            };
            if let Some(reason) = reason {
                share.spoiled.push(InvalidItem::new(own, reason));
                continue;
            }
            if given.is_opaque {
                let rest = given
                    .name
                    .get(self.name.len() + super::names::SEPARATOR.len()..);
                folded.insert(rest.unwrap_or_default().to_owned(), own.clone());
            }
            share.items.push(self.offer(own, item));
        }
        (share, folded)
    }

    /// Offers what was listed under its URIs, and gives these back, up to the limit.
    fn keep_uris<T>(
        &self,
        listed: CompleteList<T>,
        options: &GroupOptions,
        uri: impl Fn(&T) -> &String,
    ) -> (Share<T>, HashSet<String>) {
        let cached = listed.items.iter().take(options.max_member_uris);
        let uris = cached.map(|item| uri(item).clone()).collect();
        let offer = |item| {
            let own = uri(&item).clone();
            self.offer(own, item)
        };
        let share = Share {
            spoiled: listed.spoiled,
            items: listed.items.into_iter().map(offer).collect(),
        };
        (share, uris)
    }
}

/// Items that members share with their group.
pub(super) trait Shared: Item {
    /// Offers the listed items of a member, and stores the data that finds them again.
    fn share(member: &Member, listed: CompleteList<Self>, options: &GroupOptions) -> Share<Self>
    where
        Self: Sized;
}

impl Shared for Tool {
    fn share(member: &Member, listed: CompleteList<Self>, options: &GroupOptions) -> Share<Self> {
        let (share, folded) = member.rename(listed, options, |tool| &mut tool.name);
        member.lock().tools = folded;
        share
    }
}

impl Shared for Prompt {
    fn share(member: &Member, listed: CompleteList<Self>, options: &GroupOptions) -> Share<Self> {
        let (share, folded) = member.rename(listed, options, |prompt| &mut prompt.name);
        member.lock().prompts = folded;
        share
    }
}

impl Shared for Resource {
    fn share(member: &Member, listed: CompleteList<Self>, options: &GroupOptions) -> Share<Self> {
        let (share, uris) = member.keep_uris(listed, options, |resource| &resource.uri);
        member.lock().uris = uris;
        share
    }
}

impl Shared for ResourceTemplate {
    fn share(member: &Member, listed: CompleteList<Self>, options: &GroupOptions) -> Share<Self> {
        let (share, templates) =
            member.keep_uris(listed, options, |template| &template.uri_template);
        member.lock().templates = templates;
        share
    }
}
