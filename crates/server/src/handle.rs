//! Changing a server while it runs.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use crate::changes::Changes;
use crate::core::Core;
use crate::locked_values::LockedValues;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::start_error::StartError;
use crate::tool::Tool;

/// Changes a server while it runs, and tells its clients. Cloning gives another handle to it.
///
/// Handlers take it as `State<ServerHandle>`; others get it from
/// [`Server::handle`](crate::Server::handle). What runs while it is removed finishes. The handle of
/// a server that is mounted on another works as ever: it knows names without their prefix.
#[derive(Clone, Default)]
pub struct ServerHandle {
    mounted_at: Arc<OnceLock<MountedAt>>,
    changes: Changes,
    locked_values: Arc<LockedValues>,
}

/// The core of a started server, and the index of its mount.
struct MountedAt {
    // Weak: what a server holds must not keep the server.
    core: Weak<Core>,
    mount: usize,
}

impl ServerHandle {
    pub(crate) fn start(&self, core: &Arc<Core>, mount: usize) {
        let core = Arc::downgrade(core);
        // A handle belongs to one server, which starts once.
        let _ = self.mounted_at.set(MountedAt { core, mount });
    }

    /// Tells clients of changes.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The values of the extractor `Locked<T>`.
    pub(crate) fn locked_values(&self) -> &LockedValues {
        &self.locked_values
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// [`StartError`], as at the start of the server.
    pub fn add_tool(&self, tool: Tool) -> Result<(), StartError> {
        self.add(tool, Core::add_tool, Changes::tools)
    }

    /// Removes a tool; returns false if no tool has this name.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove(
            |core, mount| core.tools.remove(&core.name_at(mount, name)),
            Changes::tools,
        )
    }

    /// Replaces the tools that have a tag, for instance those of a document that is read again, and returns the number of
    /// new ones. Each new tool gets the tag. Clients see all changes at once.
    ///
    /// ```
    /// use pintle_server::{ServerHandle, StartError, Tool};
    ///
    /// fn reload(handle: &ServerHandle, names: &[&str]) -> Result<usize, StartError> {
    ///     let tool = |name: &&str| Tool::new(*name).handler(async || "done");
    ///     handle.replace_tools("reloaded", names.iter().map(tool))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError`], as at the start of the server. No tool changes then.
    pub fn replace_tools(
        &self,
        tag: &str,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<usize, StartError> {
        let (core, mount) = self.core_and_mount()?;
        let tagged = |tool: Tool| match tool.tags().iter().any(|own| **own == *tag) {
            true => tool,
            false => tool.tag(tag),
        };
        let tools: Vec<Tool> = tools.into_iter().map(tagged).collect();
        let count = tools.len();
        core.replace_tools(mount, tag, tools)?;
        self.changes.tools();
        Ok(count)
    }

    /// Adds a resource.
    ///
    /// # Errors
    ///
    /// [`StartError`], as at the start of the server.
    pub fn add_resource(&self, resource: Resource) -> Result<(), StartError> {
        self.add(resource, Core::add_resource, Changes::resources)
    }

    /// Removes a resource or a template; returns false if no entry has this URI.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove(
            |core, _| core.resources.remove(uri) || core.templates.remove(uri),
            Changes::resources,
        )
    }

    /// Adds a prompt.
    ///
    /// # Errors
    ///
    /// [`StartError`], as at the start of the server.
    pub fn add_prompt(&self, prompt: Prompt) -> Result<(), StartError> {
        self.add(prompt, Core::add_prompt, Changes::prompts)
    }

    /// Removes a prompt; returns false if no prompt has this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove(
            |core, mount| core.prompts.remove(&core.name_at(mount, name)),
            Changes::prompts,
        )
    }

    fn add<T>(
        &self,
        item: T,
        add: fn(&Core, usize, T) -> Result<(), StartError>,
        notify: fn(&Changes),
    ) -> Result<(), StartError> {
        let (core, mount) = self.core_and_mount()?;
        add(&core, mount, item)?;
        notify(&self.changes);
        Ok(())
    }

    fn remove(&self, remove: impl FnOnce(&Core, usize) -> bool, notify: fn(&Changes)) -> bool {
        let is_removed = self
            .core_and_mount()
            .is_ok_and(|(core, mount)| remove(&core, mount));
        if is_removed {
            notify(&self.changes);
        }
        is_removed
    }

    fn core_and_mount(&self) -> Result<(Arc<Core>, usize), StartError> {
        let mounted_at = self.mounted_at.get().ok_or(StartError::NotRunning)?;
        let core = mounted_at.core.upgrade().ok_or(StartError::NotRunning)?;
        Ok((core, mounted_at.mount))
    }
}

impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle")
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}
