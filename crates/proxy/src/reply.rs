//! The result of the server as the reply to the client.

use std::borrow::Cow;

use pintle::model::method::{
    CallTool, Complete, GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ListTools,
    Method, ReadResource,
};
use pintle::model::{Error, Feature, JsonObject, Meta, RawJson, RawMembers, ResultType, Revision};
use pintle::proto::{Rendered, Reply, ResultBody};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::internal;

/// Returns the reply to a client of revision `to` with a result of a server of revision `from`. Between equal
/// revisions the result stays as it is; otherwise it is fitted if its method is known.
pub(crate) fn reply_of(
    method: &str,
    raw: &RawValue,
    (from, to): (Revision, Revision),
) -> Result<Reply, Error> {
    let (kind, members, mut meta) = undecoded(raw)?;
    if !to.has(Feature::Envelope)
        && let Some(meta) = &mut meta
    {
        meta.remove(Meta::SERVER_INFO);
    }
    let meta = meta.filter(|meta| !meta.is_empty());
    let rendered = || Rendered::from_object(members.clone().into(), meta.clone());
    Ok(match kind.as_deref() {
        Some("input_required") => Reply::InputRequired(rendered()),
        Some("task") => Reply::Task(rendered()),
        _ if from != to => match fitted(method, &members, meta.clone(), to) {
            Some(fitted) => Reply::Complete(fitted?),
            None => Reply::Complete(rendered()),
        },
        _ => Reply::Complete(Rendered::from_object(members.into(), meta)),
    })
}

/// The kind of a result, its other members, and its metadata.
type Undecoded = (Option<String>, Vec<u8>, Option<Meta>);

/// Reads the members of a result without decoding them.
fn undecoded(raw: &RawValue) -> Result<Undecoded, Error> {
    let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
    let mut members = RawMembers::read(raw.get()).map_err(unreadable)?;
    let kind = members.remove("resultType");
    let kind = kind.and_then(RawJson::as_text).map(Cow::into_owned);
    let meta = members.remove("_meta");
    let meta = meta.and_then(|meta| meta.decode::<JsonObject>().ok());
    Ok((kind, members.to_vec(), meta.map(Meta::from)))
}

/// Fits the result of a known method; `None` if the method is unknown, or the result does not fit it.
fn fitted(
    method: &str,
    members: &[u8],
    meta: Option<Meta>,
    to: Revision,
) -> Option<Result<Rendered, Error>> {
    match method {
        CallTool::NAME => fit::<CallTool>(members, meta, to),
        ListTools::NAME => fit::<ListTools>(members, meta, to),
        ListResources::NAME => fit::<ListResources>(members, meta, to),
        ListResourceTemplates::NAME => fit::<ListResourceTemplates>(members, meta, to),
        ListPrompts::NAME => fit::<ListPrompts>(members, meta, to),
        ReadResource::NAME => fit::<ReadResource>(members, meta, to),
        GetPrompt::NAME => fit::<GetPrompt>(members, meta, to),
        Complete::NAME => fit::<Complete>(members, meta, to),
        _ => None,
    }
}

fn fit<M>(members: &[u8], meta: Option<Meta>, to: Revision) -> Option<Result<Rendered, Error>>
where
    M: Method,
    M::Result: ResultBody + DeserializeOwned,
{
    let mut result: M::Result = serde_json::from_slice(members).ok()?;
    *result.meta_mut() = meta;
    Some(Rendered::new(result, to))
}

/// Whether a result requires input.
pub(crate) fn requires_input(raw: &RawValue) -> bool {
    matches!(ResultType::of(raw), Ok(Some(ResultType::InputRequired)))
}
