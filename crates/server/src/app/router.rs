//! From a method's name to what answers it.

use std::sync::Arc;

use pintle_model::method::{
    CallTool, Complete, GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ListTools,
    Method, ReadResource,
};
use pintle_model::{CallToolResult, Error, Freshness, Outcome, ReadResourceResult, Revision};
use pintle_proto::{Rendered, Reply, ResultBody};
use pintle_runtime::{BoxFuture, Context, MissingScopes, ParamHeader, Principal};

use super::params::{CallParams, PromptParams, ReadParams, cursor_of};
use crate::ask_code::AskCode;
use crate::core::{Core, PossibleTask, TaskOrOutcome};
use crate::entry::Entry;
use crate::input::{RequestIdentity, Rounds, UntilSuspended, is_final};
use crate::log::WithRequest;
use crate::operation::{call_tool, get_prompt, read_resource};
use crate::resource::Resource;
use crate::set::{Listed, Set};
use crate::tool::{Tool, ToolReply};

impl Core {
    /// Answers a request.
    pub(super) async fn answer(self: &Arc<Self>, cx: Context) -> Result<Reply, Error> {
        self.wake_tasks();
        if self.forwards_events {
            return Box::pin(WithRequest::new(cx.clone(), self.route(cx))).await;
        }
        self.route(cx).await
    }

    // The future of a call is small, because it is moved to where it lives with every call. A crate that
    // serves an `App` compiles this function again, with all that it awaits in place; so it holds only
    // the call of a tool.
    async fn route(&self, cx: Context) -> Result<Reply, Error> {
        if cx.request().method.as_str() == CallTool::NAME {
            return self.call_tool(&cx).await;
        }
        if self.providers.is_empty()
            && let Some(listed) = self.list(&cx)
        {
            return listed;
        }
        self.route_boxed(&cx).await
    }

    /// Answers the request of a list; `None` for other requests.
    fn list(&self, cx: &Context) -> Option<Result<Reply, Error>> {
        Some(match cx.request().method.as_str() {
            ListTools::NAME => list(&self.tools, cx),
            ListResources::NAME => list(&self.resources, cx),
            ListResourceTemplates::NAME => list(&self.templates, cx),
            ListPrompts::NAME => list(&self.prompts, cx),
            _ => return None,
        })
    }

    /// Answers requests that are neither calls of tools nor lists.
    // Not `async`, so that this crate alone compiles the futures.
    fn route_boxed<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<Reply, Error>> {
        match cx.request().method.as_str() {
            ReadResource::NAME => Box::pin(self.read_resource(cx)),
            GetPrompt::NAME => Box::pin(self.get_prompt(cx)),
            Complete::NAME => Box::pin(self.complete(cx)),
            ListTools::NAME => Box::pin(self.list_with_providers(&self.tools, cx)),
            ListResources::NAME => Box::pin(self.list_with_providers(&self.resources, cx)),
            ListResourceTemplates::NAME => Box::pin(self.list_with_providers(&self.templates, cx)),
            ListPrompts::NAME => Box::pin(self.list_with_providers(&self.prompts, cx)),
            method => match &self.tasks {
                Some(tasks) if method.starts_with("tasks/") => tasks.answer(cx),
                _ => Box::pin(self.extended.answer(&self.profile, cx)),
            },
        }
    }

    async fn call_tool(&self, cx: &Context) -> Result<Reply, Error> {
        let request = cx.request();
        let params = CallParams::read(&request.params)?;
        let tools = self.tools.snapshot();
        let Some(entry) = tools.find(&params.name, cx.principal()).map(Arc::clone) else {
            drop(tools);
            return self.call_provided(params, cx).await;
        };
        drop(tools);
        if let Some(tasks) = &self.tasks
            && entry.item.concerns_tasks(params.task)
            && let Some(task) = tasks.begin(self, possible_task(&entry, &params, cx))?
        {
            return match task.await? {
                TaskOrOutcome::Plain(mut outcome) => reply_to_call(&entry.item, &mut outcome, cx),
                TaskOrOutcome::Task(reply) => Ok(reply),
            };
        }
        if params.retry().is_some() {
            self.rounds(cx, params.identity(), None)
                .take_up_boxed(params.retry())
                .await?;
        }
        cx.questions().allow_replay();
        // Awaited outside of the block, because the outcome would be a part of the future.
        let again = {
            let running = call_tool(&entry, params.arguments, cx);
            let mut ended = UntilSuspended::new(cx.questions(), running).await;
            match &mut ended {
                Some(Ok(outcome)) if is_final(outcome, cx) => {
                    return reply_to_call(&entry.item, outcome, cx);
                }
                _ => self.call_again(&entry, &params, ended, cx),
            }
        };
        again.await
    }

    /// Answers the call of a handler that asked something or failed.
    // Not `async`, so that this crate alone compiles the future. It is not a part of the future of a
    // call, because few handlers ask.
    fn call_again<'a>(
        &'a self,
        entry: &'a Arc<Entry<Tool>>,
        params: &'a CallParams<'a>,
        ended: Option<ToolReply>,
        cx: &'a Context,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let rounds = self.rounds(cx, params.identity(), entry.item.ask_code);
            let mut run = || call_tool(entry, params.arguments, cx);
            let mut outcome = rounds.go_on(ended, &mut run).await?;
            reply_to_call(&entry.item, &mut outcome, cx)
        })
    }

    async fn read_resource(&self, cx: &Context) -> Result<Reply, Error> {
        let request = cx.request();
        let params = ReadParams::read(&request.params)?;
        if let Some(fixed) = self.resources.snapshot().find(&params.uri, cx.principal()) {
            return self.read(Arc::clone(fixed), params, cx).await;
        }
        let templates = self.templates.snapshot();
        let is_match = |entry: &&Arc<_>| is_template_of(entry, &params.uri, cx);
        let Some(templated) = templates.iter().find(is_match) else {
            return self.read_provided(params, cx).await;
        };
        self.read(Arc::clone(templated), params, cx).await
    }

    async fn read<E>(
        &self,
        entry: Arc<E>,
        params: ReadParams<'_>,
        cx: &Context,
    ) -> Result<Reply, Error>
    where
        E: AsRef<Entry<Resource>> + Send + Sync + 'static,
    {
        let retry = params.retry();
        let is_retry = retry.is_some();
        let origin = RequestIdentity::new(ReadResource::NAME, &params.uri);
        let run = || read_resource(Arc::clone(&entry), params.uri.clone(), cx.clone());
        let rounds = self.rounds(cx, origin, entry.as_ref().as_ref().item.ask_code);
        let outcome = rounds.answer(retry, run).await?;
        reply_to_read(outcome, is_retry, cx)
    }

    async fn get_prompt(&self, cx: &Context) -> Result<Reply, Error> {
        let request = cx.request();
        let mut params: PromptParams<'_> = request.params.decode()?;
        let prompts = self.prompts.snapshot();
        let Some(entry) = prompts.find(&params.name, cx.principal()) else {
            return self.get_provided(params, cx).await;
        };
        let arguments = params.arguments.take().unwrap_or_default();
        let origin = RequestIdentity::new(GetPrompt::NAME, &params.name).with_words(&arguments);
        let retry = params.retry();
        let run = || get_prompt(Arc::clone(entry), arguments.clone(), cx.clone());
        let rounds = self.rounds(cx, origin, entry.item.ask_code);
        let outcome = rounds.answer(retry, run).await?;
        reply(outcome, request.terms.revision)
    }

    /// `ask_code` is that of the handler; layers and providers have theirs in the core.
    pub(super) fn rounds<'a>(
        &'a self,
        cx: &'a Context,
        origin: RequestIdentity<'a>,
        ask_code: Option<AskCode>,
    ) -> Rounds<'a> {
        Rounds {
            seal: &*self.seal,
            memory: &self.memory,
            cx,
            origin,
            ask_code: ask_code.or(self.ask_code),
        }
    }

    /// The parameters of a tool that HTTP clients repeat in headers; none of a tool that `principal`
    /// does not see.
    pub(super) fn param_headers(
        &self,
        tool: &str,
        principal: Option<&Principal>,
    ) -> Arc<[ParamHeader]> {
        let tools = self.tools.snapshot();
        tools
            .find(tool, principal)
            .map_or_else(Arc::default, |entry| Arc::clone(&entry.param_headers))
    }

    /// The scopes of what there is of this name, if `principal` lacks one of them.
    pub(super) fn missing_scopes(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes> {
        let missing = |scopes: &[Box<str>]| {
            (!principal.has_scopes(scopes)).then(|| MissingScopes(scopes.into()))
        };
        match method {
            CallTool::NAME => missing(self.tools.snapshot().get(subject)?.scopes()),
            GetPrompt::NAME => missing(self.prompts.snapshot().get(subject)?.scopes()),
            ReadResource::NAME => {
                if let Some(fixed) = self.resources.snapshot().get(subject) {
                    return missing(fixed.scopes());
                }
                let templates = self.templates.snapshot();
                let mut matching = templates
                    .iter()
                    .filter(|entry| entry.0.item.is_match(subject));
                let first = matching.next()?;
                // Of several templates the first that is visible answers.
                let is_served = first.is_visible(Some(principal))
                    || matching.any(|entry| entry.is_visible(Some(principal)));
                (!is_served).then(|| MissingScopes(first.scopes().into()))
            }
            _ => None,
        }
    }
}

fn possible_task<'a>(
    entry: &'a Arc<Entry<Tool>>,
    params: &'a CallParams<'a>,
    cx: &'a Context,
) -> PossibleTask<'a> {
    PossibleTask {
        cx,
        entry,
        arguments: params.arguments,
        requested: params.task,
        retry: params.retry(),
        identity: params.identity(),
    }
}

fn list<T: Listed>(set: &Set<T>, cx: &Context) -> Result<Reply, Error> {
    let (request, cursor) = (cx.request(), cursor_of(cx)?);
    set.list(cursor.as_ref(), request.terms.revision, cx.principal())
        .map(Reply::Complete)
}

pub(super) fn is_template_of(
    entry: &crate::entry::TemplatedResource,
    uri: &str,
    cx: &Context,
) -> bool {
    entry.is_visible(cx.principal()) && entry.0.item.is_match(uri)
}

/// The reply to a read. Content that depends on an answer is good for this answer only.
pub(super) fn reply_to_read(
    mut outcome: Outcome<ReadResourceResult>,
    is_retry: bool,
    cx: &Context,
) -> Result<Reply, Error> {
    if let Outcome::Complete(result) = &mut outcome
        && is_retry
    {
        result.freshness = Some(Freshness::default());
    }
    reply(outcome, cx.terms().revision)
}

/// The reply to the call of a tool. It fits the outcome in place, because a result is large to move.
fn reply_to_call(
    tool: &Tool,
    outcome: &mut Outcome<CallToolResult>,
    cx: &Context,
) -> Result<Reply, Error> {
    let revision = cx.terms().revision;
    if let Outcome::Complete(result) = outcome
        && tool.definition().wraps_output(revision)
    {
        result.wrap_structured_content();
    }
    reply_to(outcome, revision)
}

/// An outcome as it is answered.
pub(super) fn reply<R: ResultBody>(
    mut outcome: Outcome<R>,
    revision: Revision,
) -> Result<Reply, Error> {
    reply_to(&mut outcome, revision)
}

fn reply_to<R: ResultBody>(outcome: &mut Outcome<R>, revision: Revision) -> Result<Reply, Error> {
    match outcome {
        Outcome::Complete(result) => Rendered::of(result, revision).map(Reply::Complete),
        Outcome::InputRequired(questions) => {
            Rendered::of(questions, revision).map(Reply::InputRequired)
        }
        // A task outlives its request, and nothing here would answer for it.
        Outcome::Task(_) => Err(Error::internal()),
    }
}
