//! The lists and answers of a mock.

use pintle_model::{
    ContentBlock, Error, GetPromptResult, ListPromptsResult, ListResourcesResult, ListToolsResult,
    Outcome, PromptMessage, ReadResourceResult, ResourceContents, ServerCapabilities,
};
use pintle_server::{
    ListRequest, PromptReply, PromptRequest, Provider, ReadReply, ReadRequest, ToolReply,
    ToolRequest, resource_not_found,
};
use serde_json::{Value, json};

use super::{Mock, MockTool};

fn listed<T: serde::de::DeserializeOwned>(
    values: impl Iterator<Item = Value>,
) -> Result<Vec<T>, Error> {
    let read = |value| serde_json::from_value(value).map_err(|_| Error::internal());
    values.map(read).collect()
}

impl Provider for Mock {
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        if !self.tools.is_empty() {
            capabilities = capabilities.with_tools();
        }
        if !self.resources.is_empty() {
            capabilities = capabilities.with_resources();
        }
        if !self.prompts.is_empty() {
            capabilities = capabilities.with_prompts();
        }
        capabilities
    }

    async fn list_tools(&self, _: ListRequest) -> Result<ListToolsResult, Error> {
        Ok(ListToolsResult::new(listed(
            self.tools.iter().map(MockTool::listed),
        )?))
    }

    async fn list_resources(&self, _: ListRequest) -> Result<ListResourcesResult, Error> {
        let resources = self.resources.iter().map(|resource| {
            let name = resource.name.as_ref().unwrap_or(&resource.uri);
            let mut value = json!({ "uri": resource.uri, "name": name });
            for (name, text) in [
                ("description", &resource.description),
                ("mimeType", &resource.mime_type),
            ] {
                if let Some(text) = text {
                    value[name] = text.as_str().into();
                }
            }
            value
        });
        Ok(ListResourcesResult::new(listed(resources)?))
    }

    async fn list_prompts(&self, _: ListRequest) -> Result<ListPromptsResult, Error> {
        let prompts = self.prompts.iter().map(|prompt| {
            let arguments = prompt
                .arguments
                .iter()
                .map(|name| json!({ "name": name, "required": true }));
            let mut value =
                json!({ "name": prompt.name, "arguments": arguments.collect::<Vec<_>>() });
            if let Some(description) = &prompt.description {
                value["description"] = description.as_str().into();
            }
            value
        });
        Ok(ListPromptsResult::new(listed(prompts)?))
    }

    async fn call_tool(&self, request: ToolRequest) -> ToolReply {
        let tool = self.tools.iter().find(|tool| *tool.name == *request.name);
        let tool =
            tool.ok_or_else(|| Error::invalid_params(format!("unknown tool: {}", request.name)))?;
        let arguments = request.arguments.as_ref();
        let arguments: Value = arguments
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        tool.answer_to(&arguments).play(&request.cx).await
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadReply {
        let resource = self
            .resources
            .iter()
            .find(|resource| resource.uri == request.uri);
        let revision = request.cx.terms().revision;
        let resource = resource.ok_or_else(|| resource_not_found(&request.uri, revision))?;
        let mut contents = json!({ "uri": resource.uri, "text": resource.text });
        if let Some(mime_type) = &resource.mime_type {
            contents["mimeType"] = mime_type.as_str().into();
        }
        let contents: Vec<ResourceContents> = listed(std::iter::once(contents))?;
        Ok(Outcome::Complete(ReadResourceResult::new(contents)))
    }

    async fn get_prompt(&self, request: PromptRequest) -> PromptReply {
        let prompt = self
            .prompts
            .iter()
            .find(|prompt| *prompt.name == *request.name);
        let prompt = prompt
            .ok_or_else(|| Error::invalid_params(format!("unknown prompt: {}", request.name)))?;
        let missing = prompt
            .arguments
            .iter()
            .find(|name| !request.arguments.contains_key(*name));
        if let Some(name) = missing {
            return Err(Error::invalid_params(format!(
                "the argument {name} is missing"
            )));
        }
        let text = prompt
            .arguments
            .iter()
            .fold(prompt.text.clone(), |text, name| {
                text.replace(&format!("{{{name}}}"), &request.arguments[name])
            });
        Ok(Outcome::Complete(GetPromptResult::new(vec![
            PromptMessage::user(ContentBlock::text(text)),
        ])))
    }
}
