//! Checks of what is offered: at the start, and whenever something is added.

use std::sync::Arc;

use super::Core;
use crate::ability::Need;
use crate::entry::{Entry, Fixed, Home, Templated};
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::start_error::StartError;
use crate::tool::Tool;

pub(crate) fn check_tool(tool: Tool, home: &Arc<Home>) -> Result<Entry<Tool>, StartError> {
    tool.check().map_err(|fault| StartError::Tool {
        name: tool.name().to_owned(),
        fault,
    })?;
    check_state(tool.name(), tool.required_state(), home)?;
    let param_headers = tool.param_headers();
    let mut entry = Entry::new(tool, Arc::clone(home));
    entry.param_headers = param_headers;
    Ok(entry)
}

pub(crate) fn check_resource(
    resource: Resource,
    home: &Arc<Home>,
) -> Result<Entry<Resource>, StartError> {
    resource.check().map_err(|fault| StartError::Resource {
        uri: resource.uri().to_owned(),
        fault,
    })?;
    check_state(resource.uri(), resource.required_state(), home)?;
    Ok(Entry::new(resource, Arc::clone(home)))
}

pub(crate) fn check_prompt(prompt: Prompt, home: &Arc<Home>) -> Result<Entry<Prompt>, StartError> {
    prompt.check().map_err(|fault| StartError::Prompt {
        name: prompt.name().to_owned(),
        fault,
    })?;
    check_state(prompt.name(), prompt.required_state(), home)?;
    Ok(Entry::new(prompt, Arc::clone(home)))
}

fn check_state(of: &str, needs: &[Need], home: &Home) -> Result<(), StartError> {
    match needs.iter().find(|need| !need.is_met_by(&home.state)) {
        Some(need) => Err(StartError::missing(of, need)),
        None => Ok(()),
    }
}

impl Core {
    pub(crate) fn add_tool(&self, tool: Tool) -> Result<(), StartError> {
        Ok(self.tools.add(check_tool(tool, &self.home)?)?)
    }

    pub(crate) fn add_resource(&self, resource: Resource) -> Result<(), StartError> {
        let is_template = resource.is_template();
        let entry = check_resource(resource, &self.home)?;
        if is_template {
            self.templates.add(Templated(entry))?;
        } else {
            self.resources.add(Fixed(entry))?;
        }
        Ok(())
    }

    pub(crate) fn add_prompt(&self, prompt: Prompt) -> Result<(), StartError> {
        Ok(self.prompts.add(check_prompt(prompt, &self.home)?)?)
    }
}
