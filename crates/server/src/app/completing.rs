//! From the reference of `completion/complete` to the completer that answers it.

use std::sync::Arc;

use pintle_model::{CompleteParams, CompletionReference, Error};
use pintle_proto::Reply;
use pintle_runtime::Context;

use super::router::is_template_of;
use crate::ability::ExtractContext;
use crate::completion::CompleteFuture;
use crate::core::Core;
use crate::entry::Entry;
use crate::failure::unknown;
use crate::resource::Resource;

impl Core {
    /// Answers `completion/complete`.
    pub(super) async fn complete(&self, cx: &Context) -> Result<Reply, Error> {
        let request = cx.request();
        let params: CompleteParams = request.params.read()?;
        let completion = match &params.reference {
            CompletionReference::Prompt(prompt) => self.complete_prompt(&prompt.name, &params, cx),
            CompletionReference::ResourceTemplate(resource) => {
                self.complete_resource(&resource.uri, &params, cx)
            }
            _ => Err(Error::invalid_params("unknown kind of reference")),
        };
        let completed = match completion {
            Ok(completion) => completion.await?,
            Err(missing) if self.providers.is_empty() => return Err(missing),
            Err(missing) => self.complete_provided(params, missing, cx).await?,
        };
        Reply::complete(completed, request.terms.revision)
    }

    fn complete_prompt(
        &self,
        name: &str,
        params: &CompleteParams,
        cx: &Context,
    ) -> Result<CompleteFuture, Error> {
        let prompts = self.prompts.snapshot();
        let entry = prompts
            .find(name, cx.principal())
            .ok_or_else(|| unknown("prompt", name))?;
        let scope = ExtractContext::new(cx, &entry.mount_context.state);
        Ok(entry.item.completion(params, scope))
    }

    /// Completes for a template, a fixed resource, or the first template that matches a URI. A
    /// fixed resource has no variables, and therefore no values.
    fn complete_resource(
        &self,
        uri: &str,
        params: &CompleteParams,
        cx: &Context,
    ) -> Result<CompleteFuture, Error> {
        let templates = self.templates.snapshot();
        if let Some(template) = templates.find(uri, cx.principal()) {
            return Ok(start(&template.0, params, cx));
        }
        if let Some(fixed) = self.resources.snapshot().find(uri, cx.principal()) {
            return Ok(start(&fixed.0, params, cx));
        }
        // A URI has no braces: a text with them is a template that the server does not have.
        let is_match = |entry: &&Arc<_>| !uri.contains('{') && is_template_of(entry, uri, cx);
        let matching = templates.iter().find(is_match);
        let matching = matching.ok_or_else(|| unknown("resource or resource template", uri))?;
        Ok(start(&matching.0, params, cx))
    }
}

fn start(entry: &Entry<Resource>, params: &CompleteParams, cx: &Context) -> CompleteFuture {
    let scope = ExtractContext::new(cx, &entry.mount_context.state);
    entry.item.completion(params, scope)
}

#[cfg(test)]
mod tests;
