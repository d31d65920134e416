//! The checked server without its layers: its offers, its state, and the servers mounted on it.

pub(crate) mod task_calls;

use std::fmt;
use std::sync::Arc;

use pintle_proto::ServerProfile;
use pintle_runtime::SharedSessions;

use crate::ask_code::AskCode;
use crate::changes::Changes;
use crate::entry::{Entry, FixedResource, MountContext, TemplatedResource};
use crate::extension::Extended;
use crate::hooks::Hooks;
use crate::input::{Memory, StateSeal};
use crate::prompt::Prompt;
use crate::provider::MountedProvider;
use crate::replica::Replica;
use crate::set::Set;
use crate::store_check::StoreCheck;
use crate::tool::Tool;

pub(crate) use task_calls::{PossibleTask, TaskCalls, TaskOrOutcome, TaskParts, TaskSetting};

/// The part of a server that answers requests, inside all layers.
pub(crate) struct Core {
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) tools: Set<Entry<Tool>>,
    pub(crate) resources: Set<FixedResource>,
    pub(crate) templates: Set<TemplatedResource>,
    pub(crate) prompts: Set<Entry<Prompt>>,
    /// Lists and serves what the sets do not have, in this order.
    pub(crate) providers: Vec<Arc<MountedProvider>>,
    pub(crate) extended: Extended,
    /// The server itself first, then those that are mounted on it.
    pub(crate) mounts: Vec<Mount>,
    /// Present if a layer or a provider can return questions.
    pub(crate) ask_code: Option<AskCode>,
    pub(crate) forwards_events: bool,
    /// Seals what clients carry between rounds.
    pub(crate) seal: Arc<dyn StateSeal>,
    /// Remembers what they do not carry.
    pub(crate) memory: Memory,
    /// Shares sessions with other replicas, if there is a state for it.
    pub(crate) sessions: Option<Arc<dyn SharedSessions>>,
    /// The tasks, where a tool can be one.
    pub(crate) tasks: Option<Box<dyn TaskCalls>>,
    /// Run before the first request and after the last.
    pub(crate) hooks: Hooks,
    /// Checks the store, if others may share it.
    pub(crate) store_check: Option<StoreCheck>,
    /// This replica, if others may share the store.
    pub(crate) replica: Option<Arc<dyn Replica>>,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

/// One of the servers that are mounted together.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) mount_context: Arc<MountContext>,
    /// Prefix of its names.
    pub(crate) prefix: String,
    pub(crate) changes: Changes,
}
