//! Many servers behind one handle.

mod call;
mod changes;
mod error;
mod find;
mod gather;
mod member;
mod names;
mod options;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pintle_model::method::{Discover, Method};
use pintle_model::{
    CompleteParams, CompleteResult, GetPromptResult, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, Tool,
};
use serde::Serialize;
use tokio::sync::watch;

use crate::client::{Client, ClientBuilder};
use crate::conversation::ServerInfo;
use crate::error::CallError;
use crate::into_connect::IntoConnect;
use crate::listen::Subscription;

use gather::all;
use member::{Member, Shared};

pub use call::GroupCall;
pub use changes::{GroupChanges, MemberChange};
pub use error::{AddMemberError, GroupError};
pub use gather::{GroupList, MemberError, MemberItem};
pub use options::GroupOptions;

/// Many servers behind one handle. Cloning is cheap; clones are the same group.
///
/// ```
/// # async fn example(
/// #     files: impl pintle_runtime::Service,
/// #     web: impl pintle_runtime::Service,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use pintle_client::{Client, Group, InProcess};
/// use serde_json::json;
///
/// let group = Group::new();
/// // Any target will do: a command, a URL, a socket. Nothing is connected yet.
/// group.add("files", Client::builder().roots(["file:///src"]), InProcess::new(files))?;
/// group.add("web", Client::builder(), InProcess::new(web))?;
///
/// let tools = group.list_tools().await;
/// for tool in &tools.items {
///     println!("{} of {}", tool.item.name, tool.member);
/// }
/// for failure in &tools.failures {
///     eprintln!("{} lists nothing: {}", failure.member, failure.error);
/// }
/// let text = group.call_tool("files__read", json!({ "path": "a" })).await?;
/// # drop(text);
/// # Ok(())
/// # }
/// ```
///
/// - **Members** have names, and clients of their own: each with its handlers, its options, its
///   cache. They connect when they are first asked, all at once, and again after a loss, later and
///   later. They come and go while the group is used.
/// - **Names.** The tool `read` of `files` is `files__read`; prompts likewise. No two members give
///   the same name. A name that would be longer than [`GroupOptions::max_name_chars`], or that is
///   outside of the grammar of tool names, is folded: cut, and ended with a digest, the same in
///   every run.
/// - **URIs** stay as they are. A resource is read from the member that lists it, or has a template
///   for it; one that several list is an error that names them, and not one member's by chance.
/// - **Failures.** A member that is down, or hangs, does not lose the others' lists: it is named
///   beside them.
/// - **Trust.** Whatever a member lists is text of that server. Members cannot take each other's
///   names, but they can describe their tools as they like.
#[derive(Clone)]
pub struct Group(Arc<Inner>);

struct Inner {
    options: GroupOptions,
    roll: watch::Sender<Roll>,
}

/// The members by name.
#[derive(Default)]
struct Roll {
    members: BTreeMap<Arc<str>, Arc<Member>>,
    is_closed: bool,
}

/// The member that has a name or a URI, for calls with their own options.
///
/// ```
/// # async fn example(group: pintle_client::Group) -> Result<(), Box<dyn std::error::Error>> {
/// let tool = group.find_tool("files__read").await?;
/// let call = tool.client.call_tool(&tool.own, serde_json::json!({ "path": "a" }));
/// let text = call.timeout(std::time::Duration::from_secs(5)).await?;
/// # drop(text);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberTarget {
    /// Name of the member.
    pub member: Arc<str>,
    /// Client of the member.
    pub client: Client,
    /// The name, or the URI, as the member knows it.
    pub own: String,
}

/// The state of a member, known without a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberState {
    /// Name of the member.
    pub name: Arc<str>,
    /// Whether there is a conversation with it now.
    pub is_connected: bool,
    /// The server's description of itself, as of the last connection.
    pub server: Option<ServerInfo>,
}

impl Group {
    /// The separator between the name of a member and the name of its item.
    pub const SEPARATOR: &'static str = names::SEPARATOR;

    /// A group without members.
    pub fn new() -> Self {
        Self::with(GroupOptions::default())
    }

    /// A group without members, with limits of its own.
    pub fn with(mut options: GroupOptions) -> Self {
        options.max_name_chars = options.max_name_chars.max(names::LEAST_CHARS);
        Self(Arc::new(Inner {
            options,
            roll: watch::Sender::default(),
        }))
    }

    /// Adds a member: a command, a URL, a socket, or a server in this process. It is connected when it is
    /// first asked for something. Its name has 1 to 32 letters, digits, `-` and `_`, no `__`, and no `_`
    /// at its ends.
    ///
    /// # Errors
    ///
    /// [`AddMemberError`].
    pub fn add<Kind>(
        &self,
        name: &str,
        client: ClientBuilder,
        target: impl IntoConnect<Kind>,
    ) -> Result<(), AddMemberError> {
        let client = client
            .connect_lazily(target)
            .map_err(AddMemberError::Invalid)?;
        self.add_client(name, client)
    }

    /// Adds a client as a member.
    ///
    /// # Errors
    ///
    /// [`AddMemberError`].
    pub fn add_client(&self, name: &str, client: Client) -> Result<(), AddMemberError> {
        names::check(name)?;
        let mut added = Ok(());
        self.0.roll.send_if_modified(|roll| {
            added = roll.admit(name, client, self.0.options.max_members);
            added.is_ok()
        });
        added
    }

    /// Removes a member and ends its conversation. Whether there was one.
    ///
    /// # Cancellation
    ///
    /// The member is removed; the end goes on without being waited for.
    pub async fn remove(&self, name: &str) -> bool {
        let mut removed = None;
        self.0.roll.send_if_modified(|roll| {
            removed = roll.members.remove(name);
            removed.is_some()
        });
        let Some(member) = removed else { return false };
        member.client.close().await;
        true
    }

    /// The members, by their names.
    pub fn members(&self) -> Vec<MemberState> {
        let members = self.all_members().into_iter();
        let state = |member: Arc<Member>| MemberState {
            name: Arc::clone(&member.name),
            is_connected: member.client.is_connected(),
            server: member.client.server(),
        };
        members.map(state).collect()
    }

    /// The client of a member.
    pub fn client(&self, name: &str) -> Option<Client> {
        self.member(name).map(|member| member.client.clone())
    }

    /// Connects to all members that are not connected, at once; those that could not be.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the attempts.
    pub async fn connect(&self) -> Vec<MemberError> {
        let members = self.all_members();
        let connect = async |member: &Arc<Member>| {
            let opened = member.client.0.session(&Discover::NAME.into()).await;
            opened.err().map(|error| MemberError {
                member: Arc::clone(&member.name),
                error,
            })
        };
        let failures = all(members.iter().map(connect)).await;
        failures.into_iter().flatten().collect()
    }

    /// Lists the tools of all members, at once.
    pub async fn list_tools(&self) -> GroupList<Tool> {
        self.gather().await
    }

    /// Lists the prompts of all members, at once.
    pub async fn list_prompts(&self) -> GroupList<Prompt> {
        self.gather().await
    }

    /// Lists the resources of all members, at once.
    pub async fn list_resources(&self) -> GroupList<Resource> {
        self.gather().await
    }

    /// Lists the resource templates of all members, at once.
    pub async fn list_resource_templates(&self) -> GroupList<ResourceTemplate> {
        self.gather().await
    }

    /// Calls a tool by the name that the group gives it. Options come before the `.await`.
    ///
    /// ```
    /// # async fn example(group: pintle_client::Group) -> Result<(), pintle_client::GroupError> {
    /// let called = group
    ///     .call_tool("files__copy", serde_json::json!({ "from": "a", "to": "b" }))
    ///     .timeout(std::time::Duration::from_secs(5))
    ///     .on_progress(|step| eprintln!("{}", step.progress))
    ///     .await?;
    /// # drop(called);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GroupError`].
    pub fn call_tool(&self, given: &str, arguments: impl Serialize) -> GroupCall {
        GroupCall::new(self, given, serde_json::value::to_raw_value(&arguments))
    }

    /// Reads a resource from the member that has it: see [`Group::find_resource`].
    ///
    /// # Errors
    ///
    /// [`GroupError`].
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, GroupError> {
        let found = self.find_resource(uri).await?;
        let read = found.client.read_resource(uri).await;
        read.map_err(|source| found.failed(source))
    }

    /// Listens to changes of a resource, at the member that has it.
    ///
    /// # Errors
    ///
    /// [`GroupError`].
    pub async fn subscribe(&self, uri: &str) -> Result<Subscription, GroupError> {
        let found = self.find_resource(uri).await?;
        let subscription = found.client.subscribe(uri).await;
        subscription.map_err(|source| found.failed(source))
    }

    /// Gets a prompt by the name that the group gives it.
    ///
    /// # Errors
    ///
    /// [`GroupError`].
    pub async fn get_prompt(
        &self,
        given: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, GroupError> {
        let found = self.find_prompt(given).await?;
        let got = found.client.get_prompt(&found.own, arguments).await;
        got.map_err(|source| found.failed(source))
    }

    /// Completes an argument of a prompt, by the name that the group gives it, or of a template.
    ///
    /// # Errors
    ///
    /// [`GroupError`].
    pub async fn complete(&self, mut params: CompleteParams) -> Result<CompleteResult, GroupError> {
        let found = self.find_completion(&mut params).await?;
        let completed = found.client.complete(params).await;
        completed.map_err(|source| found.failed(source))
    }

    /// Returns the changes of the members' lists, also of later members. Listening connects to the
    /// members.
    pub fn changes(&self) -> GroupChanges {
        GroupChanges::new(self)
    }

    /// Ends all conversations, at once, for good.
    ///
    /// # Cancellation
    ///
    /// The ends go on without being waited for.
    pub async fn close(&self) {
        let members = self.all_members();
        self.0.roll.send_modify(|roll| {
            roll.members.clear();
            roll.is_closed = true;
        });
        all(members.iter().map(|member| member.client.close())).await;
    }

    async fn gather<T: Shared>(&self) -> GroupList<T> {
        let members = self.all_members();
        let shares = all(members
            .iter()
            .map(|member| member.list::<T>(&self.0.options)))
        .await;
        let mut gathered = GroupList {
            items: Vec::new(),
            spoiled: Vec::new(),
            failures: Vec::new(),
        };
        for (member, share) in members.iter().zip(shares) {
            let name = || Arc::clone(&member.name);
            match share {
                Ok(share) => {
                    gathered.items.extend(share.items);
                    let spoiled = share.spoiled.into_iter();
                    gathered
                        .spoiled
                        .extend(spoiled.map(|spoiled| (name(), spoiled)));
                }
                Err(error) => gathered.failures.push(MemberError {
                    member: name(),
                    error,
                }),
            }
        }
        gathered
    }

    fn member(&self, name: &str) -> Option<Arc<Member>> {
        self.0.roll.borrow().members.get(name).cloned()
    }

    fn all_members(&self) -> Vec<Arc<Member>> {
        self.0.roll.borrow().members.values().cloned().collect()
    }
}

impl Roll {
    fn admit(&mut self, name: &str, client: Client, limit: usize) -> Result<(), AddMemberError> {
        if self.is_closed {
            return Err(AddMemberError::Closed);
        }
        if self.members.contains_key(name) {
            return Err(AddMemberError::Taken {
                name: name.to_owned(),
            });
        }
        if self.members.len() >= limit {
            return Err(AddMemberError::Full { limit });
        }
        let member = Arc::new(Member::new(name, client));
        self.members.insert(Arc::clone(&member.name), member);
        Ok(())
    }
}

impl MemberTarget {
    fn failed(&self, source: CallError) -> GroupError {
        GroupError::Failed {
            member: Arc::clone(&self.member),
            source,
        }
    }
}

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.all_members();
        let names = members.iter().map(|member| &member.name);
        f.debug_set().entries(names).finish()
    }
}
