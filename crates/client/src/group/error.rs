//! Errors of a group of servers.

use std::sync::Arc;

use crate::error::{CallError, ConnectError};

/// The reason why a group did not accept a member.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AddMemberError {
    /// The name is not allowed for a member.
    #[error("invalid member name {name:?}: {reason}")]
    Name {
        /// The name.
        name: String,
        /// The rule for such names.
        reason: &'static str,
    },
    /// The group has a member of that name; remove it first.
    #[error("the group already has a member {name}")]
    Taken {
        /// The name.
        name: String,
    },
    /// The group has the largest allowed number of members.
    #[error("the group already has {limit} members")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The configuration of the member's client is invalid.
    #[error("invalid client configuration of the group member")]
    Invalid(#[source] ConnectError),
    /// The group was closed.
    #[error("the group is closed")]
    Closed,
}

/// The reason why a group did not answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// The name does not begin with the name of a member.
    #[error("no member of the group has the name {name}")]
    NoMember {
        /// The name.
        name: String,
    },
    /// No member lists the resource, or a template that matches it.
    #[error("no member lists {uri}")]
    Unlisted {
        /// The resource.
        uri: String,
    },
    /// Several members list the resource: call one of them with
    /// [`Group::client`](crate::Group::client).
    #[error("{uri} is listed by {}", members.join(", "))]
    Ambiguous {
        /// URI of the resource.
        uri: String,
        /// Names of the members that list the resource.
        members: Vec<Arc<str>>,
    },
    /// The call to a member failed.
    #[error("the call to the member {member} failed")]
    Failed {
        /// Name of the member.
        member: Arc<str>,
        /// The reason.
        #[source]
        source: CallError,
    },
}
