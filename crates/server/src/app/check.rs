//! Checks of what is offered: at the start, and whenever something is added.

use std::sync::Arc;

use pintle_model::ServerCapabilities;

use crate::ability::RequiredState;
use crate::core::Core;
use crate::entry::{Entry, FixedResource, MountContext, TemplatedResource};
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::start_error::StartError;
use crate::tool::Tool;

pub(crate) fn check_tool(
    tool: Tool,
    mount_context: &Arc<MountContext>,
) -> Result<Entry<Tool>, StartError> {
    tool.check().map_err(|fault| StartError::Tool {
        name: tool.name().to_owned(),
        fault,
    })?;
    tool.warn_of_name();
    check_state(tool.name(), tool.required_state(), mount_context)?;
    check_scopes(tool.name(), tool.required_scopes())?;
    let param_headers = tool.param_headers();
    let mut entry = Entry::new(tool, Arc::clone(mount_context));
    entry.param_headers = param_headers;
    Ok(entry)
}

pub(crate) fn check_resource(
    resource: Resource,
    mount_context: &Arc<MountContext>,
) -> Result<Entry<Resource>, StartError> {
    resource.check().map_err(|fault| StartError::Resource {
        uri: resource.uri().to_owned(),
        fault,
    })?;
    check_state(resource.uri(), resource.required_state(), mount_context)?;
    check_scopes(resource.uri(), resource.required_scopes())?;
    Ok(Entry::new(resource, Arc::clone(mount_context)))
}

pub(crate) fn check_prompt(
    prompt: Prompt,
    mount_context: &Arc<MountContext>,
) -> Result<Entry<Prompt>, StartError> {
    prompt.check().map_err(|fault| StartError::Prompt {
        name: prompt.name().to_owned(),
        fault,
    })?;
    check_state(prompt.name(), prompt.required_state(), mount_context)?;
    check_scopes(prompt.name(), prompt.required_scopes())?;
    Ok(Entry::new(prompt, Arc::clone(mount_context)))
}

fn check_state(
    of: &str,
    needs: &[RequiredState],
    mount_context: &MountContext,
) -> Result<(), StartError> {
    match needs
        .iter()
        .find(|need| !need.is_met_by(&mount_context.state))
    {
        Some(need) => Err(StartError::missing(of, need)),
        None => Ok(()),
    }
}

/// RFC 6749, section 3.3: a scope is visible ASCII without quotation marks and backslashes. Clients
/// are told of it in a header.
fn check_scopes(of: &str, scopes: &[Box<str>]) -> Result<(), StartError> {
    let is_token = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    let is_scope = |scope: &str| !scope.is_empty() && scope.bytes().all(is_token);
    match scopes.iter().find(|scope| !is_scope(scope)) {
        Some(scope) => Err(StartError::NoScope {
            of: of.to_owned(),
            scope: scope.clone(),
        }),
        None => Ok(()),
    }
}

impl Core {
    /// Returns the name that lists use for a name of the server in this seat.
    pub(crate) fn name_at(&self, mount: usize, name: &str) -> String {
        format!("{}{name}", self.mounts[mount].prefix)
    }

    pub(crate) fn add_tool(&self, mount: usize, tool: Tool) -> Result<(), StartError> {
        Ok(self.tools.add(self.late_tool(mount, tool)?)?)
    }

    /// Replaces the tools of a server that have a tag.
    pub(crate) fn replace_tools(
        &self,
        mount: usize,
        tag: &str,
        tools: Vec<Tool>,
    ) -> Result<(), StartError> {
        let tools = tools.into_iter().map(|tool| self.late_tool(mount, tool));
        let tools = tools.collect::<Result<Vec<_>, _>>()?;
        let context = &self.mounts[mount].mount_context;
        let is_old = |entry: &Entry<Tool>| {
            Arc::ptr_eq(&entry.mount_context, context)
                && entry.item.tags.iter().any(|own| **own == *tag)
        };
        self.tools.replace(&is_old, tools)?;
        Ok(())
    }

    /// Checks a tool that is added while the server runs.
    fn late_tool(&self, mount: usize, tool: Tool) -> Result<Entry<Tool>, StartError> {
        self.check_offer("tools", |offered| offered.tools.is_some())?;
        self.check_offer("tasks", |offered| {
            !tool.runs_as_task() || offered.tasks.is_some()
        })?;
        let name = self.name_at(mount, tool.name());
        check_tool(tool.renamed(name), &self.mounts[mount].mount_context)
    }

    pub(crate) fn add_resource(&self, mount: usize, resource: Resource) -> Result<(), StartError> {
        self.check_offer("resources", |offered| offered.resources.is_some())?;
        self.check_completers(resource.has_completers())?;
        let is_template = resource.is_template();
        let entry = check_resource(resource, &self.mounts[mount].mount_context)?;
        if is_template {
            self.templates.add(TemplatedResource(entry))?;
        } else {
            self.resources.add(FixedResource(entry))?;
        }
        Ok(())
    }
    pub(crate) fn add_prompt(&self, mount: usize, prompt: Prompt) -> Result<(), StartError> {
        self.check_offer("prompts", |offered| offered.prompts.is_some())?;
        self.check_completers(prompt.has_completers())?;
        let name = self.name_at(mount, prompt.name());
        Ok(self.prompts.add(check_prompt(
            prompt.renamed(name),
            &self.mounts[mount].mount_context,
        )?)?)
    }

    fn check_completers(&self, has_completers: bool) -> Result<(), StartError> {
        self.check_offer("completion", |offered| {
            !has_completers || offered.completions.is_some()
        })
    }

    /// Clients were told at the start what there is; they would not ask for anything else.
    fn check_offer(
        &self,
        what: &'static str,
        is_offered: impl Fn(&ServerCapabilities) -> bool,
    ) -> Result<(), StartError> {
        if is_offered(self.profile.capabilities()) {
            return Ok(());
        }
        Err(StartError::NotOffered { what })
    }
}
