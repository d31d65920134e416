//! One request of a client, sent to the server.

use std::sync::Arc;

use pintle::model::method::{
    CallTool, CancelTask, Complete, GetPrompt, GetTask, GetTaskPayload, ListResourceTemplates,
    ListResources, ListTasks, ListTools, Method, ReadResource, SetLevel, Subscribe, Unsubscribe,
    UpdateTask,
};
use pintle::model::{
    EmptyResult, Error, Feature, ListResourceTemplatesResult, ListResourcesResult,
    ReadResourceParams, SetLevelParams, SubscribeParams,
};
use pintle::proto::Reply;
use pintle::runtime::Context;
use serde::de::DeserializeOwned;

use crate::error::{error_of, fit_error};
use crate::link::Link;
use crate::parked::{Retry, Running};
use crate::proxy::Shared;
use crate::reply::requires_input;
use crate::sink::Sink;
use crate::tasks::{OfContext, Round, rounds};
use crate::tools::Tools;

impl Shared {
    /// Answers a request of a client.
    pub(crate) async fn answer(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        self.answer_with(cx, cx.request().params.text()).await
    }

    /// Answers a request of a client with other parameters: with those of a mounted server, for example.
    pub(crate) async fn answer_with(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        match cx.request().method.as_str() {
            CallTool::NAME => {
                let params = self.upstream.filter.tools.call(params)?;
                self.call_tool(cx, &params).await
            }
            GetPrompt::NAME => {
                let params = self.upstream.filter.prompts.get(params)?;
                self.pass(cx, &params).await
            }
            Complete::NAME => {
                let params = self.upstream.filter.complete(params)?;
                self.pass(cx, &params).await
            }
            GetTask::NAME
            | CancelTask::NAME
            | UpdateTask::NAME
            | GetTaskPayload::NAME
            | ListTasks::NAME => self.task_method(cx, params).await,
            ReadResource::NAME => self.read(cx, params).await,
            SetLevel::NAME => self.set_level(cx).await,
            Subscribe::NAME => self.subscribe(cx).await,
            Unsubscribe::NAME => self.unsubscribe(cx).await,
            ListResources::NAME if self.upstream.has_only_remainders() => {
                Reply::complete(ListResourcesResult::default(), cx.terms().revision)
            }
            ListResourceTemplates::NAME if self.upstream.has_only_remainders() => {
                Reply::complete(ListResourceTemplatesResult::default(), cx.terms().revision)
            }
            _ => self.pass(cx, params).await,
        }
    }

    /// Passes a request to the server.
    pub(crate) async fn pass(self: &Arc<Self>, cx: &Context, params: &str) -> Result<Reply, Error> {
        match self.is_asked(cx) {
            true => self.call_with_questions(cx, params).await,
            false => self.call(cx, params).await,
        }
    }

    /// Reads a resource: the remainder of a result, or a resource of the server.
    async fn read(self: &Arc<Self>, cx: &Context, params: &str) -> Result<Reply, Error> {
        let remainders = &self.upstream.remainders;
        let fitted = |error| fit_error(error, cx);
        if remainders.is_used() {
            let read: ReadResourceParams = decoded(params)?;
            if remainders.has(&read.uri) || self.upstream.has_only_remainders() {
                return remainders.read(&read.uri, cx).map_err(fitted);
            }
        }
        let filter = &self.upstream.filter.resources;
        filter.check(params).map_err(fitted)?;
        self.pass(cx, params).await
    }

    /// Whether the server may ask the client during a request, by a request of its own.
    fn is_asked(&self, cx: &Context) -> bool {
        let terms = cx.terms();
        let can = &terms.capabilities;
        let is_able = can.elicitation.is_some() || can.sampling.is_some() || can.roots.is_some();
        let may_ask = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];
        self.upstream.has_sessions()
            && is_able
            && terms.has(Feature::InputRequired)
            && may_ask.contains(&cx.request().method.as_str())
    }

    /// Begins or continues a call whose questions are results.
    async fn call_with_questions(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        let retry: Retry = decoded(params)?;
        if let Some(state) = retry.request_state.clone() {
            return self.parked.resume(&self.upstream, cx, &state, retry).await;
        }
        let lease = self.connections.lease(&self.upstream, cx, true)?;
        self.set_level_of(&lease.link, cx).await?;
        let call = Running::start(&self.upstream, cx, params, lease);
        Box::pin(self.parked.round(&self.upstream, call, cx)).await
    }

    /// Sends a request, and asks an earlier client the questions of its results.
    async fn call(self: &Arc<Self>, cx: &Context, params: &str) -> Result<Reply, Error> {
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let link = &lease.link;
        self.set_level_of(link, cx).await?;
        // A server since 2026-07-28 sends nothing else that belongs to a call.
        let is_reached = self.upstream.is_stateful() || cx.terms().log_level.is_some();
        let _open = is_reached.then(|| link.open.add(cx));
        let sink = Sink::of(cx.request());
        let _progress = sink.attach(cx);
        let request = cx.request();
        let call = sink.call(&self.upstream, link, request, params);
        let failed = |failure| fit_error(error_of(failure), cx);
        let mut raw = call.await.map_err(failed)?;
        if requires_input(&raw) && !cx.terms().has(Feature::InputRequired) {
            let round = Round {
                upstream: &self.upstream,
                link,
                cx,
                sink: &sink,
                params,
                capabilities: None,
            };
            raw = Box::pin(rounds(&round, &OfContext(cx), raw)).await?;
        }
        if request.method.as_str() == ListTools::NAME {
            raw = Tools::admit(link.client(), raw)?;
        }
        self.upstream
            .reply(link.revision(), request.method.as_str(), raw, cx)
    }

    /// Requests the log messages of a call, where the connection has one level.
    async fn set_level_of(&self, link: &Link, cx: &Context) -> Result<(), Error> {
        match &cx.terms().log_level {
            Some(level) if self.upstream.is_stateful() && self.upstream.has_logs() => {
                link.ensure_level(level).await.map_err(error_of)
            }
            _ => Ok(()),
        }
    }

    async fn set_level(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        if self.upstream.is_stateful() {
            let params: SetLevelParams = cx.request().params.decode()?;
            let lease = self.connections.lease(&self.upstream, cx, false)?;
            let set = lease.link.ensure_level(&params.level).await;
            set.map_err(error_of)?;
        }
        empty(cx)
    }

    async fn subscribe(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        let filter = &self.upstream.filter.resources;
        filter.check(cx.request().params.text())?;
        let params: SubscribeParams = cx.request().params.decode()?;
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let is_new = lease.link.subscriptions.add(&params.uri);
        if let Err(error) = lease.link.renew().await {
            if is_new {
                lease.link.subscriptions.remove(&params.uri);
            }
            return Err(error_of(error));
        }
        empty(cx)
    }

    async fn unsubscribe(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        let params: SubscribeParams = cx.request().params.decode()?;
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        // A connection of many clients keeps the resource, and each client receives its own changes only.
        if lease.link.has_session() {
            lease.link.subscriptions.remove(&params.uri);
            lease.link.renew().await.map_err(error_of)?;
        }
        empty(cx)
    }
}

fn decoded<T: DeserializeOwned>(params: &str) -> Result<T, Error> {
    serde_json::from_str(params).map_err(|error| Error::invalid_params(error.to_string()))
}

fn empty(cx: &Context) -> Result<Reply, Error> {
    Reply::complete(EmptyResult::default(), cx.terms().revision)
}
