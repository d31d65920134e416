//! Why a group did not do what was asked.

use std::sync::Arc;

use crate::error::{CallError, ConnectError};

/// Why a group took no member.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AddMemberError {
    /// The name cannot be that of a member.
    #[error("{name:?} cannot be the name of a member: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What such a name is.
        reason: &'static str,
    },
    /// There is a member of that name: remove it first.
    #[error("there is a member {name} already")]
    Taken {
        /// The name.
        name: String,
    },
    /// The group has as many members as it may have.
    #[error("the group has {limit} members already")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The member's client is described in a way that cannot be.
    #[error("the member cannot be")]
    Invalid(#[source] ConnectError),
    /// The group was closed.
    #[error("the group is closed")]
    Closed,
}

/// Why a group did not answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// The name is not one that the group gives: no member is called what it begins with.
    #[error("no member answers for {name}")]
    NoMember {
        /// The name.
        name: String,
    },
    /// No member lists the resource, or a template of it.
    #[error("no member lists {uri}")]
    Unlisted {
        /// The resource.
        uri: String,
    },
    /// Several members list the resource: ask one of them, by [`Group::client`](crate::Group::client).
    #[error("{uri} is listed by {}", members.join(", "))]
    Ambiguous {
        /// The resource.
        uri: String,
        /// Who lists it.
        members: Vec<Arc<str>>,
    },
    /// A member was asked, and there is no result.
    #[error("the member {member} gave no result")]
    Failed {
        /// Who was asked.
        member: Arc<str>,
        /// Why not.
        #[source]
        source: CallError,
    },
}
