//! Which member answers for a name or for a URI.

use std::sync::Arc;

use pintle_model::{CompleteParams, CompletionReference};

use super::error::GroupError;
use super::gather::all;
use super::member::Member;
use super::names::split;
use super::{Group, MemberTarget};

impl Group {
    /// Finds the tool that the group gave this name.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoMember`]. Whether the member has such a tool shows when it is called.
    pub async fn find_tool(&self, given: &str) -> Result<MemberTarget, GroupError> {
        let (member, rest) = self.member_of(given)?;
        let own = member.own_tool(rest, &self.0.options).await;
        Ok(found(&member, own))
    }

    /// Finds the prompt that the group gave this name.
    ///
    /// # Errors
    ///
    /// As [`Group::find_tool`].
    pub async fn find_prompt(&self, given: &str) -> Result<MemberTarget, GroupError> {
        let (member, rest) = self.member_of(given)?;
        let own = member.own_prompt(rest, &self.0.options).await;
        Ok(found(&member, own))
    }

    /// Finds the member of a resource: the one that lists it, or else the one with the template
    /// that shares the longest beginning with it. Members that were not asked yet are asked what
    /// they list.
    ///
    /// # Errors
    ///
    /// [`GroupError::Unlisted`], [`GroupError::Ambiguous`].
    pub async fn find_resource(&self, uri: &str) -> Result<MemberTarget, GroupError> {
        let members = self.ask_for_resources().await;
        let listing = members.iter().filter(|member| member.lists(uri));
        if let Some(member) = one_of(uri, listing)? {
            return Ok(found(member, uri.to_owned()));
        }
        let fits = |member: &Arc<Member>| member.template_match(uri);
        let longest = members.iter().filter_map(fits).max();
        let fitting = members
            .iter()
            .filter(|member| longest.is_some() && fits(member) == longest);
        match one_of(uri, fitting)? {
            Some(member) => Ok(found(member, uri.to_owned())),
            None => Err(GroupError::Unlisted {
                uri: uri.to_owned(),
            }),
        }
    }

    /// Finds the member that completes an argument, and replaces the name by the member's own.
    pub(super) async fn find_completion(
        &self,
        params: &mut CompleteParams,
    ) -> Result<MemberTarget, GroupError> {
        match &mut params.reference {
            CompletionReference::Prompt(prompt) => {
                let found = self.find_prompt(&prompt.name).await?;
                prompt.name.clone_from(&found.own);
                Ok(found)
            }
            CompletionReference::ResourceTemplate(template) => {
                self.find_resource(&template.uri).await
            }
            _ => Err(GroupError::NoMember {
                name: "a reference of an unknown kind".to_owned(),
            }),
        }
    }

    fn member_of<'n>(&self, given: &'n str) -> Result<(Arc<Member>, &'n str), GroupError> {
        let found = split(given).and_then(|(member, rest)| Some((self.member(member)?, rest)));
        found.ok_or_else(|| GroupError::NoMember {
            name: given.to_owned(),
        })
    }

    /// Asks those that were not asked before; all members.
    async fn ask_for_resources(&self) -> Vec<Arc<Member>> {
        let members = self.all_members();
        let unknown = members
            .iter()
            .filter(|member| !member.was_asked_for_resources());
        all(unknown.map(|member| member.ask_for_resources(&self.0.options))).await;
        members
    }
}

fn found(member: &Member, own: String) -> MemberTarget {
    MemberTarget {
        member: Arc::clone(&member.name),
        client: member.client.clone(),
        own,
    }
}

fn one_of<'m>(
    uri: &str,
    members: impl Iterator<Item = &'m Arc<Member>>,
) -> Result<Option<&'m Arc<Member>>, GroupError> {
    let members: Vec<_> = members.collect();
    match members[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(GroupError::Ambiguous {
            uri: uri.to_owned(),
            members: members
                .iter()
                .map(|member| Arc::clone(&member.name))
                .collect(),
        }),
    }
}
