//! One request of a handler, with a peer of its own.

use std::pin::pin;

use pintle_model::Feature;
use pintle_runtime::Context;
use pintle_server::Changes;
use rmcp::model::{
    ClientNotification, ClientRequest, Implementation, InitializeRequestParams, ProtocolVersion,
    RequestId, RequestMetaObject, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, Service, serve_directly};
use rmcp::{ErrorData, RoleServer};

use crate::channel::channel;
use crate::convert::convert;
use crate::pump::pump;

/// Runs a method of a handler. Its peer and its token end with the future.
pub(crate) async fn run<R, Fut>(
    cx: &Context,
    changes: &Changes,
    method: impl FnOnce(RequestContext<RoleServer>) -> Fut,
) -> Result<R, ErrorData>
where
    Fut: Future<Output = Result<R, ErrorData>>,
{
    let (transport, link) = channel();
    let running = serve_directly(Silent, transport, Some(client_of(cx)));
    let context = context(cx, changes, running.peer().clone());
    let _cancel = context.ct.clone().drop_guard();
    let mut running_method = pin!(method(context));
    let mut pump = pin!(pump(cx, changes, link));
    tokio::select! {
        biased;
        result = &mut running_method => result,
        never = &mut pump => match never {},
    }
}

fn context(cx: &Context, changes: &Changes, peer: Peer<RoleServer>) -> RequestContext<RoleServer> {
    // A conversation does not show its ids. One peer has one request, so any id is unique.
    let mut context = RequestContext::new(RequestId::Number(0), peer);
    context.meta = meta(cx);
    context.extensions.insert(cx.clone());
    context.extensions.insert(changes.clone());
    if let Some(parts) = cx.extension::<http::request::Parts>() {
        context.extensions.insert((*parts).clone());
    }
    context
}

/// The `_meta` of the request.
fn meta(cx: &Context) -> RequestMetaObject {
    #[derive(serde::Deserialize)]
    struct WithMeta {
        #[serde(rename = "_meta", default)]
        meta: Option<RequestMetaObject>,
    }
    let params = cx.request().params.decode::<WithMeta>();
    params
        .ok()
        .and_then(|params| params.meta)
        .unwrap_or_default()
}

/// The client as rmcp describes it.
fn client_of(cx: &Context) -> InitializeRequestParams {
    let terms = cx.terms();
    let client = terms
        .client
        .as_ref()
        .and_then(|client| convert(client).ok());
    let client = client.unwrap_or_else(|| Implementation::new("", ""));
    let capabilities = convert(&terms.capabilities).unwrap_or_default();
    InitializeRequestParams::new(capabilities, client).with_protocol_version(version(cx))
}

/// The version of the peer. A peer of 2026-07-28 refuses to send questions. Pintle sends
/// them in every revision.
fn version(cx: &Context) -> ProtocolVersion {
    let revision = cx.terms().revision;
    if revision.has(Feature::InputRequired) {
        return ProtocolVersion::V_2025_11_25;
    }
    convert(&revision.as_str()).unwrap_or_default()
}

/// The service of a peer. It receives nothing but responses.
struct Silent;

impl Service<RoleServer> for Silent {
    async fn handle_request(
        &self,
        _: ClientRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        Err(ErrorData::internal_error(
            "the peer serves no requests",
            None,
        ))
    }

    async fn handle_notification(
        &self,
        _: ClientNotification,
        _: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::default()
    }
}
