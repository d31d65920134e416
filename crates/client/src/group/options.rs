//! Every bound of a group, in one place.

use std::time::Duration;

/// The bounds of a group: each with its default, unit and reason. Those of a member are its own
/// [`ClientOptions`](crate::ClientOptions).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupOptions {
    /// Members; default 64. Each is a conversation, and maybe a process.
    pub max_members: usize,
    /// How long a member may take to connect and list before the others' lists are given without
    /// it; default 60 s.
    pub member_timeout: Duration,
    /// Characters of a name that the group gives, at least 48; default 128, as the protocol
    /// advises for tools. Some models take 64 only. Longer names are folded.
    pub max_name_chars: usize,
    /// Folded names that are remembered of one member, of tools and of prompts each; default
    /// 10 000. The others are reported, not offered: nobody could call them.
    pub max_shortened_names: usize,
    /// Resources, and templates, of which it is remembered that a member lists them; default
    /// 100 000 each. The others are not found by their URI.
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
