//! Builds the core of a server: checks all offers, and merges those of mounted servers.

use std::num::NonZeroUsize;
use std::sync::Arc;

use pintle_model::{Feature, JsonObject, ServerCapabilities};
use pintle_proto::ServerProfile;

use super::Server;
use super::offers::Offers;
use super::store::{StoreParts, StoreSetting, Surroundings};
use crate::app::{check_prompt, check_resource, check_tool};
use crate::ask_code::AskCode;
use crate::core::{Core, Mount, TaskParts, TaskSetting};
use crate::entry::{Entry, FixedResource, MountContext, TemplatedResource};
use crate::extension::{Extended, ExtensionDefinitionError, MountedExtension, ProtocolExtension};
use crate::handle::ServerHandle;
use crate::hooks::Hooks;
use crate::input::{Memory, default_seal};
use crate::prompt::Prompt;
use crate::provider::MountedProvider;
use crate::resource::Resource;
use crate::set::Set;
use crate::start_error::StartError;
use crate::tool::Tool;

/// Everything that was checked, of all servers that are mounted together.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) tools: Vec<Arc<Entry<Tool>>>,
    pub(super) resources: Vec<Arc<FixedResource>>,
    pub(super) templates: Vec<Arc<TemplatedResource>>,
    pub(super) prompts: Vec<Arc<Entry<Prompt>>>,
    pub(super) providers: Vec<Arc<MountedProvider>>,
    pub(super) extended: Extended,
    pub(super) mounts: Vec<Mount>,
    /// The handles of the servers, in the order of the seats.
    pub(super) handles: Vec<ServerHandle>,
    has_completers: bool,
    /// Whether one of the servers fills its lists as it runs.
    is_dynamic: bool,
    /// Present if a layer or a provider can return questions.
    ask_code: Option<AskCode>,
    /// The capabilities of providers.
    provided: Vec<ServerCapabilities>,
    /// What mounted servers advertise besides.
    mounted: Vec<ServerCapabilities>,
}

impl Server {
    /// Checks the offers of this server and of those mounted on it.
    pub(super) fn check_offers(
        &mut self,
        outer: &MountContext,
        prefix: &str,
        checked: &mut Checked,
    ) -> Result<(), StartError> {
        if !self.service_layers.is_empty() {
            return Err(StartError::MountedLayers {
                prefix: prefix.to_owned(),
            });
        }
        let mount_context = Arc::new(MountContext {
            state: std::mem::take(&mut self.state),
            tool_layers: within(&outer.tool_layers, &mut self.tool_layers),
            read_layers: within(&outer.read_layers, &mut self.read_layers),
            prompt_layers: within(&outer.prompt_layers, &mut self.prompt_layers),
        });
        checked.advertise(self.capabilities.extensions.take())?;
        self.offers.choose(&self.tag_rules);
        checked.take(std::mem::take(&mut self.offers), prefix, &mount_context)?;
        checked.mounts.push(Mount {
            mount_context: Arc::clone(&mount_context),
            prefix: prefix.to_owned(),
            changes: self.handle.changes().clone(),
        });
        checked.handles.push(self.handle.clone());
        checked.is_dynamic |= self.is_dynamic;
        checked.ask_code = checked.ask_code.or(self.ask_code);
        for (name, mut mounted) in self.mounts.drain(..) {
            mounted.tag_rules.extend(self.tag_rules.iter().cloned());
            mounted.check_offers(&mount_context, &format!("{prefix}{name}_"), checked)?;
            checked.mounted.push(mounted.capabilities);
            self.hooks.append(mounted.hooks);
        }
        Ok(())
    }

    pub(super) fn into_core(mut self, checked: Checked) -> Result<Core, StartError> {
        let page_size = NonZeroUsize::new(self.page_size).ok_or(StartError::EmptyPages)?;
        let store = self.take_store()?;
        let tasks = self.tasks.take().or_else(|| checked.task_setting());
        let capabilities = self.capabilities_of(&checked, tasks.as_deref());
        let profile = ServerProfile::new(self.identity, capabilities)
            .with_instructions(self.instructions)
            .with_discover_freshness(self.freshness);
        let profile = checked.extended.describe_in(profile);
        let forwards_events = profile.capabilities().logging.is_some();
        let profile = Arc::new(profile);
        let around = Surroundings {
            timeout: self.store_time,
            changes: self.handle.changes(),
            mounts: &checked.mounts,
        };
        let stored = store.map_or_else(StoreParts::default, |store| store.open(around));
        let tasks = tasks.map(|setting| {
            setting.open(TaskParts {
                store: stored.store.clone(),
                replica: stored.replica.clone(),
                profile: Arc::clone(&profile),
                changes: self.handle.changes().clone(),
            })
        });
        Ok(Core {
            profile,
            sessions: stored.sessions,
            hooks: Hooks::new(self.hooks, self.stop_timeout),
            store_check: stored.check,
            replica: stored.replica,
            tasks,
            tools: Set::new(checked.tools, page_size, self.freshness)?,
            resources: Set::new(checked.resources, page_size, self.freshness)?,
            templates: Set::new(checked.templates, page_size, self.freshness)?,
            prompts: Set::new(checked.prompts, page_size, self.freshness)?,
            providers: checked.providers,
            extended: checked.extended,
            mounts: checked.mounts,
            ask_code: checked.ask_code,
            forwards_events,
            seal: self.seal.unwrap_or_else(default_seal),
            memory: Memory::new(stored.states, self.is_state_single_use),
        })
    }

    /// Takes the store, or that of the shared state with its seal.
    #[cfg(feature = "replicas")]
    fn take_store(&mut self) -> Result<Option<StoreSetting>, StartError> {
        let Some(shared) = self.state_backend.take() else {
            return Ok(self.store.take());
        };
        let beside = [
            (self.store.is_some(), "store"),
            (self.seal.is_some(), "request_state"),
        ];
        if let Some((_, setting)) = beside.into_iter().find(|(is_set, _)| *is_set) {
            return Err(StartError::TwoStates { setting });
        }
        if let Some(state) = &shared.state {
            self.seal = Some(Arc::new(state.keys().clone()));
        }
        Ok(Some(shared))
    }

    #[cfg(not(feature = "replicas"))]
    fn take_store(&mut self) -> Result<Option<StoreSetting>, StartError> {
        Ok(self.store.take())
    }

    fn capabilities_of(
        &self,
        checked: &Checked,
        tasks: Option<&dyn TaskSetting>,
    ) -> ServerCapabilities {
        let mut capabilities = self.capabilities.clone();
        let offers = |is_empty: bool| checked.is_dynamic || !is_empty;
        if offers(checked.tools.is_empty()) {
            capabilities.tools.get_or_insert_default().list_changed = Some(true);
        }
        if offers(checked.resources.is_empty() && checked.templates.is_empty()) {
            capabilities.resources.get_or_insert_default().list_changed = Some(true);
        }
        if offers(checked.prompts.is_empty()) {
            capabilities.prompts.get_or_insert_default().list_changed = Some(true);
        }
        if checked.has_completers || checked.is_dynamic {
            capabilities.completions = Some(JsonObject::new());
        }
        let capabilities = checked.provided.iter().fold(capabilities, provided);
        let capabilities = checked.mounted.iter().fold(capabilities, also);
        let capabilities = checked.extended.offer_in(capabilities);
        match tasks {
            Some(tasks) => tasks.offer_in(capabilities),
            None => capabilities,
        }
    }
}

/// The layers of a server go inside those of the server it is mounted on.
fn within<T: Clone>(outer: &[T], own: &mut Vec<T>) -> Arc<[T]> {
    outer.iter().cloned().chain(own.drain(..)).collect()
}

/// Adds what a mounted server advertises besides its lists.
fn also(mut capabilities: ServerCapabilities, mounted: &ServerCapabilities) -> ServerCapabilities {
    capabilities.logging = capabilities.logging.or_else(|| mounted.logging.clone());
    if mounted
        .resources
        .as_ref()
        .is_some_and(|resources| resources.subscribe == Some(true))
    {
        capabilities.resources.get_or_insert_default().subscribe = Some(true);
    }
    capabilities
}

/// Adds the lists that a provider advertises, and the abilities of each.
fn provided(mut capabilities: ServerCapabilities, of: &ServerCapabilities) -> ServerCapabilities {
    if let Some(tools) = &of.tools {
        capabilities.tools.get_or_insert_with(|| tools.clone());
    }
    if let Some(resources) = &of.resources {
        let own = capabilities
            .resources
            .get_or_insert_with(|| resources.clone());
        own.subscribe = own.subscribe.or(resources.subscribe);
    }
    if let Some(prompts) = &of.prompts {
        capabilities.prompts.get_or_insert_with(|| prompts.clone());
    }
    if capabilities.completions.is_none() {
        capabilities.completions.clone_from(&of.completions);
    }
    capabilities
}

impl Checked {
    /// Returns the default setting of tasks, if a tool can be one.
    fn task_setting(&self) -> Option<Box<dyn TaskSetting>> {
        let tools = self.tools.iter().map(|entry| &entry.item);
        let mut able = tools.filter(|tool| tool.runs_as_task());
        able.find_map(|tool| tool.task_code?.setting())
    }

    fn take(
        &mut self,
        offers: Offers,
        prefix: &str,
        mount_context: &Arc<MountContext>,
    ) -> Result<(), StartError> {
        for tool in offers.tools {
            let name = format!("{prefix}{}", tool.name());
            self.tools
                .push(Arc::new(check_tool(tool.renamed(name), mount_context)?));
        }
        for prompt in offers.prompts {
            let name = format!("{prefix}{}", prompt.name());
            self.has_completers |= prompt.has_completers();
            self.prompts
                .push(Arc::new(check_prompt(prompt.renamed(name), mount_context)?));
        }
        if let Some(offered) = offers.provider {
            let mounted = MountedProvider::new(offered.provider, prefix, mount_context);
            self.providers.push(Arc::new(mounted));
            self.provided.push(offered.capabilities);
        }
        for extension in offers.extensions {
            self.take_extension(extension, mount_context)?;
        }
        offers
            .resources
            .into_iter()
            .try_for_each(|resource| self.take_resource(resource, mount_context))
    }

    /// Extensions that are only advertised. A mounted server may repeat what another says; the
    /// outermost has the word.
    fn advertise(&mut self, extensions: Option<JsonObject>) -> Result<(), StartError> {
        for (id, settings) in extensions.into_iter().flatten() {
            let settings = settings.as_object().cloned().unwrap_or_default();
            match self.extended.advertise(&id, &settings, Feature::Extensions) {
                Ok(()) | Err(ExtensionDefinitionError::Taken) => {}
                Err(fault) => return Err(StartError::ProtocolExtension { id, fault }),
            }
        }
        Ok(())
    }

    fn take_extension(
        &mut self,
        mut extension: ProtocolExtension,
        mount_context: &Arc<MountContext>,
    ) -> Result<(), StartError> {
        let mount_context = Arc::new(mount_context.with_state(&extension.state));
        let resources = std::mem::take(&mut extension.resources);
        let mounted_extension = Arc::new(MountedExtension {
            extension,
            mount_context: Arc::clone(&mount_context),
        });
        if let Some((method, need)) = mounted_extension.missing() {
            return Err(StartError::missing(method, need));
        }
        self.extended
            .add(Arc::clone(&mounted_extension))
            .map_err(|fault| {
                let id = mounted_extension.extension.id().to_owned();
                StartError::ProtocolExtension { id, fault }
            })?;
        resources
            .into_iter()
            .try_for_each(|resource| self.take_resource(resource, &mount_context))
    }

    fn take_resource(
        &mut self,
        resource: Resource,
        mount_context: &Arc<MountContext>,
    ) -> Result<(), StartError> {
        self.has_completers |= resource.has_completers();
        let is_template = resource.is_template();
        let entry = check_resource(resource, mount_context)?;
        if is_template {
            self.templates.push(Arc::new(TemplatedResource(entry)));
        } else {
            self.resources.push(Arc::new(FixedResource(entry)));
        }
        Ok(())
    }
}
