//! The result of the server as the reply to the client.

use std::borrow::Cow;

use pintle::model::method::{
    CallTool, Complete, GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ListTools,
    Method, ReadResource,
};
use pintle::model::{
    Error, Feature, JsonObject, Meta, Outcome, RawJson, RawMembers, ResultType, Revision,
};
use pintle::proto::{Rendered, Reply, ResultBody};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::internal;

/// Returns the reply to a client of revision `to` with a result of a server of revision `from`. Between equal
/// revisions the result stays as it is; otherwise it is fitted if its method is known. `identity` is the text that
/// the proxy adds to each result as the identity of the server.
pub(crate) fn reply_of(
    method: &str,
    raw: &RawValue,
    (from, to): (Revision, Revision),
    identity: &str,
) -> Result<Reply, Error> {
    if from != to
        && let Some(fitted) = fitted(method, raw, to)
    {
        return fitted.map(Reply::Complete);
    }
    let (kind, rendered) = unfitted(raw, to, identity)?;
    Ok(match kind.as_deref() {
        Some("input_required") => Reply::InputRequired(rendered),
        Some("task") => Reply::Task(rendered),
        _ => Reply::Complete(rendered),
    })
}

/// Returns the kind of a result, and the result without decoding its other members.
fn unfitted<'r>(
    raw: &'r RawValue,
    to: Revision,
    identity: &str,
) -> Result<(Option<Cow<'r, str>>, Rendered), Error> {
    let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
    let mut members = RawMembers::read(raw.get()).map_err(unreadable)?;
    let kind = members.remove("resultType").and_then(RawJson::as_text);
    let meta = members.remove("_meta");
    let meta = meta.and_then(|meta| passed_unread(meta, to, identity));
    Ok((kind, Rendered::from_object(members.to_vec().into(), meta)))
}

/// Returns the metadata of a result for a client of revision `to`.
fn passed(mut meta: Option<Meta>, to: Revision) -> Option<Meta> {
    if !to.has(Feature::Envelope)
        && let Some(meta) = &mut meta
    {
        meta.remove(Meta::SERVER_INFO);
    }
    meta.filter(|meta| !meta.is_empty())
}

/// Returns the metadata of a result for a client of revision `to`. Many results have the identity of the server only,
/// which is not decoded.
fn passed_unread(meta: RawJson<'_>, to: Revision, identity: &str) -> Option<Meta> {
    let mut members = RawMembers::read(meta.get()).ok()?;
    let named = members.get(Meta::SERVER_INFO).map(RawJson::get);
    if !to.has(Feature::Envelope) || named == Some(identity) {
        members.remove(Meta::SERVER_INFO);
    }
    if members.is_empty() {
        return None;
    }
    let meta: JsonObject = serde_json::from_slice(&members.to_vec()).ok()?;
    Some(Meta::from(meta))
}

/// Fits the result of a known method; `None` if the method is unknown, or the result is of another kind or type.
fn fitted(method: &str, raw: &RawValue, to: Revision) -> Option<Result<Rendered, Error>> {
    match method {
        CallTool::NAME => fit::<CallTool>(raw, to),
        ListTools::NAME => fit::<ListTools>(raw, to),
        ListResources::NAME => fit::<ListResources>(raw, to),
        ListResourceTemplates::NAME => fit::<ListResourceTemplates>(raw, to),
        ListPrompts::NAME => fit::<ListPrompts>(raw, to),
        ReadResource::NAME => fit::<ReadResource>(raw, to),
        GetPrompt::NAME => fit::<GetPrompt>(raw, to),
        Complete::NAME => fit::<Complete>(raw, to),
        _ => None,
    }
}

fn fit<M>(raw: &RawValue, to: Revision) -> Option<Result<Rendered, Error>>
where
    M: Method,
    M::Result: ResultBody + DeserializeOwned,
{
    let Ok(Outcome::Complete(mut result)) = Outcome::<M::Result>::decode(raw) else {
        return None;
    };
    let meta = result.meta_mut();
    *meta = passed(meta.take(), to);
    Some(Rendered::of(&mut result, to))
}

/// Whether a result requires input.
pub(crate) fn requires_input(raw: &RawValue) -> bool {
    let text = raw.get();
    // Most results have neither the word nor an escape, so their members are not read.
    let may_require = text.contains("input_required") || text.contains('\\');
    may_require && matches!(ResultType::of(raw), Ok(Some(ResultType::InputRequired)))
}
