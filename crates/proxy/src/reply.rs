//! The result of the server as the reply to the client.

use pintle::model::method::{
    CallTool, Complete, GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ListTools,
    Method, ReadResource,
};
use pintle::model::{Error, JsonObject, Meta, RawMembers, ResultType, Revision};
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
    let (kind, rendered) = undecoded(raw)?;
    Ok(match kind.as_deref() {
        Some("input_required") => Reply::InputRequired(rendered),
        Some("task") => Reply::Task(rendered),
        _ if from != to => Reply::Complete(fitted(method, raw, to).unwrap_or(Ok(rendered))?),
        _ => Reply::Complete(rendered),
    })
}

/// Returns the kind of a result, and its other members without decoding them.
fn undecoded(raw: &RawValue) -> Result<(Option<String>, Rendered), Error> {
    let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
    let mut members = RawMembers::read(raw.get()).map_err(unreadable)?;
    let kind = members.remove("resultType");
    let kind = kind.and_then(|kind| serde_json::from_str(kind.get()).ok());
    let meta = members.remove("_meta");
    let meta = meta.and_then(|meta| serde_json::from_str::<JsonObject>(meta.get()).ok());
    let rendered = Rendered::from_object(members.to_vec().into(), meta.map(Meta::from));
    Ok((kind, rendered))
}

/// Fits the result of a known method; `None` if the method is unknown, or the result does not fit it.
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
    let result: M::Result = serde_json::from_str(raw.get()).ok()?;
    Some(Rendered::new(result, to))
}

/// Whether a result requires input.
pub(crate) fn requires_input(raw: &RawValue) -> bool {
    matches!(ResultType::of(raw), Ok(Some(ResultType::InputRequired)))
}
