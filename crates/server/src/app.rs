//! A server that was checked: it answers requests.

mod check;
mod router;

use std::sync::{Arc, Weak};

use pintle_model::Error;
use pintle_proto::{Incoming, Notified, Reply, ServerProfile};
use pintle_runtime::{BoxService, Context, Outlet, ParamHeader, Service};

use crate::changes::Changes;
use crate::entry::{Entry, Fixed, Home, Templated};
use crate::prompt::Prompt;
use crate::set::Set;
use crate::tool::Tool;

pub(crate) use check::{check_prompt, check_resource, check_tool};

/// A server that was checked and can be served, on any number of transports at once. Cloning gives
/// another handle to the same server.
#[derive(Debug, Clone)]
pub struct App {
    core: Arc<Core>,
    /// The core with its layers around it, if it has any.
    layered: Option<BoxService>,
}

/// What answers requests, inside all layers.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) tools: Set<Entry<Tool>>,
    pub(crate) resources: Set<Fixed>,
    pub(crate) templates: Set<Templated>,
    pub(crate) prompts: Set<Entry<Prompt>>,
    pub(crate) changes: Changes,
    /// What is added while the server runs lives here.
    pub(crate) home: Arc<Home>,
    pub(crate) forwards_events: bool,
}

impl App {
    pub(crate) fn new(core: Arc<Core>, layered: Option<BoxService>) -> Self {
        Self { core, layered }
    }

    /// Tells clients of changes.
    pub fn changes(&self) -> &Changes {
        &self.core.changes
    }
}

impl Service for App {
    async fn call(&self, request: Incoming, cx: Context) -> Result<Reply, Error> {
        match &self.layered {
            Some(layered) => layered.call(request, cx).await,
            None => self.core.answer(request, cx).await,
        }
    }

    fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.core.profile)
    }

    fn notified(&self, notified: Notified) {
        if let Some(layered) = &self.layered {
            layered.notified(notified);
        }
    }

    fn attach(&self, outlet: Weak<dyn Outlet>) {
        self.core.changes.attach(outlet);
    }

    fn param_headers(&self, tool: &str) -> Arc<[ParamHeader]> {
        self.core.param_headers(tool)
    }
}

/// The core as a service, for layers to go around.
pub(crate) struct CoreService(pub(crate) Arc<Core>);

impl Service for CoreService {
    async fn call(&self, request: Incoming, cx: Context) -> Result<Reply, Error> {
        self.0.answer(request, cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.0.profile)
    }
}
