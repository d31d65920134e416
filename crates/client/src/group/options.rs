//! The limits of a group.

use std::time::Duration;

/// The limits of a group, each with its default, unit and reason. Each member has its own
/// [`ClientOptions`](crate::ClientOptions).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupOptions {
    /// Largest number of members; default 64. Each has a conversation, and perhaps a process.
    pub max_members: usize,
    /// Timeout of a member that connects and lists; default 60 s. Then the group returns the lists
    /// of the others.
    pub member_timeout: Duration,
    /// Largest number of characters of a group's name for a tool or prompt, at least 48. The
    /// default 128 follows the protocol's advice for tools. Some models accept only 64. Longer
    /// names are folded.
    pub max_name_chars: usize,
    /// Largest number of folded names stored for one member, of tools and of prompts each; default
    /// 10 000. Items beyond it are reported as invalid, because calls could not find them.
    pub max_shortened_names: usize,
    /// Largest number of resources and of templates stored for one member; default 100 000 each.
    /// Other resources cannot be found by their URI.
    pub max_member_uris: usize,
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            max_members: 64,
            member_timeout: Duration::from_secs(60),
            max_name_chars: 128,
            max_shortened_names: 10_000,
            max_member_uris: 100_000,
        }
    }
}
