//! Requests for what a provider has and the server's own sets do not.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use pintle_model::method::{GetPrompt, Method, ReadResource};
use pintle_model::{
    CallToolResult, CompleteParams, CompleteResult, CompletionReference, Cursor, Error, Feature,
    Outcome, RawJson, Revision,
};
use pintle_proto::Reply;
use pintle_runtime::{BoxFuture, Context};
use serde_json::Value;

use super::params::{CallParams, PromptParams, ReadParams, cursor_of};
use super::router::{reply, reply_to_read};
use crate::core::Core;
use crate::failure::unknown;
use crate::input::RequestIdentity;
use crate::page::{CursorError, ProviderPage};
use crate::prompt::PromptReply;
use crate::provider::{MountedProvider, Provided};
use crate::request::{CompleteRequest, ListRequest, PromptRequest, ReadRequest, ToolRequest};
use crate::resource::{ReadReply, resource_not_found};
use crate::set::{Listed, Set};

impl Core {
    /// Returns one page of a list: the pages of the server's own set come first, then those of each
    /// provider.
    pub(super) async fn list_with_providers<T: Provided>(
        &self,
        set: &Set<T>,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let (revision, cursor) = (cx.terms().revision, cursor_of(cx)?);
        let decode = |cursor: &Cursor| ProviderPage::decode(cursor.as_str());
        if let Some(page) = cursor.as_ref().and_then(decode) {
            let list = self.list_provided(set, page, cx).await?;
            return Reply::complete(list, revision);
        }
        let snapshot = set.snapshot();
        let mut list = set.page(&snapshot, cursor.as_ref(), cx.principal())?;
        let (definitions, end) = T::parts(&mut list);
        if definitions.is_empty() && end.next.is_none() {
            let first = ProviderPage::first(0);
            list = self.list_provided(set, first, cx).await?;
        } else if end.next.is_none() {
            *end.next = Some(encode(&ProviderPage::first(0))?);
        }
        Reply::complete(list, revision)
    }

    /// Returns a page of the providers, and skips providers whose list is empty.
    async fn list_provided<T: Provided>(
        &self,
        set: &Set<T>,
        mut page: ProviderPage,
        cx: &Context,
    ) -> Result<T::List, Error> {
        loop {
            let mounted = self.providers.get(usize::from(page.index));
            let mounted = mounted.ok_or(CursorError)?;
            let request = ListRequest {
                cursor: page.cursor.take().map(Cursor::from),
                cx: cx.clone(),
            };
            let mut list = mounted.list::<T>(request).await?;
            let (definitions, end) = T::parts(&mut list);
            let own = set.snapshot();
            definitions.retain(|definition| own.get(T::key_of(definition)).is_none());
            end.freshness.get_or_insert_default();
            let next = self.page_after(page.index, end.next.take());
            match next {
                Some(next) if definitions.is_empty() && next.cursor.is_none() => page = next,
                Some(next) => {
                    *end.next = Some(encode(&next)?);
                    return Ok(list);
                }
                None => return Ok(list),
            }
        }
    }

    /// Returns the page after one of a provider, which named its next page.
    fn page_after(&self, index: u16, next: Option<Cursor>) -> Option<ProviderPage> {
        if let Some(cursor) = next {
            let cursor = Some(cursor.as_str().to_owned());
            return Some(ProviderPage { index, cursor });
        }
        let after = ProviderPage::first(index.checked_add(1)?);
        (usize::from(after.index) < self.providers.len()).then_some(after)
    }

    /// Calls a tool that the server does not have itself. Not `async`, because the future of each
    /// call would be larger.
    pub(super) fn call_provided<'a>(
        &'a self,
        params: CallParams<'a>,
        cx: &'a Context,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        match self.provider_of(&params.name, &self.tools) {
            Some((mounted, name)) => {
                let name = Box::from(name);
                Box::pin(self.call_mounted(mounted, name, params, cx))
            }
            None => Box::pin(ready(Err(unknown("tool", &params.name)))),
        }
    }

    async fn call_mounted(
        &self,
        mounted: &Arc<MountedProvider>,
        name: Box<str>,
        params: CallParams<'_>,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let run = || {
            Arc::clone(mounted).call_tool(ToolRequest {
                name: name.clone(),
                arguments: params.arguments.map(RawJson::to_raw_value),
                cx: cx.clone(),
            })
        };
        let rounds = self.rounds(cx, params.identity(), None);
        let mut outcome = rounds.answer(params.retry(), run).await?;
        let revision = cx.terms().revision;
        if let Outcome::Complete(result) = &mut outcome {
            wrap_other_roots(result, revision);
        }
        reply(outcome, revision)
    }

    /// Reads a resource that the server does not have itself.
    pub(super) fn read_provided<'a>(
        &'a self,
        params: ReadParams<'a>,
        cx: &'a Context,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let origin = RequestIdentity::new(ReadResource::NAME, &params.uri);
            let retry = params.retry();
            let is_retry = retry.is_some();
            let run = || self.read_in_turn(&params.uri, cx);
            let outcome = self.rounds(cx, origin, None).answer(retry, run).await?;
            reply_to_read(outcome, is_retry, cx)
        })
    }

    /// Asks the providers in turn, until one has the resource.
    async fn read_in_turn(&self, uri: &str, cx: &Context) -> ReadReply {
        let mut missing = resource_not_found(uri, cx.terms().revision);
        if self.has_resource(uri) {
            return Err(missing);
        }
        for mounted in &self.providers {
            let (uri, cx) = (uri.to_owned(), cx.clone());
            match Arc::clone(mounted)
                .read_resource(ReadRequest { uri, cx })
                .await
            {
                Err(error) if error.code == missing.code => missing = error,
                other => return other,
            }
        }
        Err(missing)
    }

    /// Returns true if the server has a resource of a URI, even if the caller does not see it.
    fn has_resource(&self, uri: &str) -> bool {
        let templates = self.templates.snapshot();
        let is_fixed = self.resources.snapshot().get(uri).is_some();
        is_fixed || templates.iter().any(|entry| entry.0.item.is_match(uri))
    }

    /// Gets a prompt that the server does not have itself.
    pub(super) fn get_provided<'a>(
        &'a self,
        mut params: PromptParams<'a>,
        cx: &'a Context,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let arguments = params.arguments.take().unwrap_or_default();
            let origin = RequestIdentity::new(GetPrompt::NAME, &params.name);
            let retry = params.retry();
            let run = || self.get_mounted(&params.name, &arguments, cx);
            let rounds = self.rounds(cx, origin.with_words(&arguments), None);
            let outcome = rounds.answer(retry, run).await?;
            reply(outcome, cx.terms().revision)
        })
    }

    async fn get_mounted(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
        cx: &Context,
    ) -> PromptReply {
        let (mounted, name) = self
            .provider_of(name, &self.prompts)
            .ok_or_else(|| unknown("prompt", name))?;
        let request = PromptRequest {
            name: name.into(),
            arguments: arguments.clone(),
            cx: cx.clone(),
        };
        Arc::clone(mounted).get_prompt(request).await
    }

    /// Completes an argument of what the server does not have itself. `missing` is the error without
    /// a provider.
    pub(super) async fn complete_provided(
        &self,
        mut params: CompleteParams,
        missing: Error,
        cx: &Context,
    ) -> Result<CompleteResult, Error> {
        if let CompletionReference::Prompt(prompt) = &mut params.reference {
            let (mounted, name) = self
                .provider_of(&prompt.name, &self.prompts)
                .ok_or(missing)?;
            prompt.name = name.to_owned();
            let cx = cx.clone();
            return mounted.complete(CompleteRequest { params, cx }).await;
        }
        let mut missing = missing;
        for mounted in &self.providers {
            let (params, cx) = (params.clone(), cx.clone());
            match mounted.complete(CompleteRequest { params, cx }).await {
                Err(error) => missing = error,
                completed => return completed,
            }
        }
        Err(missing)
    }

    /// Returns the provider of a tool or prompt that `own` does not have, and the name without the
    /// prefix of its mount: the provider with the longest prefix.
    fn provider_of<'n, T: Listed>(
        &self,
        name: &'n str,
        own: &Set<T>,
    ) -> Option<(&Arc<MountedProvider>, &'n str)> {
        if own.snapshot().get(name).is_some() {
            return None;
        }
        let named = self
            .providers
            .iter()
            .filter_map(|mounted| Some((mounted, name.strip_prefix(mounted.prefix())?)));
        named.max_by_key(|(mounted, _)| mounted.prefix().len())
    }
}

/// Wraps a structured result that older revisions cannot represent.
fn wrap_other_roots(result: &mut CallToolResult, revision: Revision) {
    let is_other = |content: &Value| !content.is_object();
    if !revision.has(Feature::AnyStructuredContent)
        && result.structured_content.as_ref().is_some_and(is_other)
    {
        result.wrap_structured_content();
    }
}

fn encode(page: &ProviderPage) -> Result<Cursor, Error> {
    let cursor = page.encode().ok_or_else(|| {
        tracing::error!("the cursor of a provider is longer than 60 KiB");
        Error::internal()
    })?;
    Ok(Cursor::from(cursor))
}
