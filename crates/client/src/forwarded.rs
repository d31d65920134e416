//! The parameters of a request that is passed on: its `_meta` apart, and its other members unchanged.

use bytes::Bytes;
use pintle_model::method::{
    CallTool, CancelTask, GetPrompt, GetTask, Method, ReadResource, UpdateTask,
};
use pintle_model::{JsonObject, Meta, RawJson, RawMembers};

/// Members of `_meta` that describe the first sender and not this client.
const OF_SENDER: [&str; 4] = [
    Meta::PROTOCOL_VERSION,
    Meta::CLIENT_INFO,
    Meta::CLIENT_CAPABILITIES,
    Meta::PROGRESS_TOKEN,
];

/// The parameters of a request that is passed on.
pub(crate) struct Forwarded {
    /// A JSON object without `_meta` and without line breaks.
    pub(crate) body: Bytes,
    pub(crate) meta: Meta,
    /// The name, the URI or the task that the request is about, which HTTP repeats in a header.
    pub(crate) subject: Option<String>,
}

impl Forwarded {
    /// Splits the text of a JSON object, which are the parameters of a method.
    ///
    /// # Errors
    ///
    /// If the text is not an object, or its `_meta` is not.
    pub(crate) fn read(method: &str, params: &str) -> Result<Self, serde_json::Error> {
        let mut members = RawMembers::read(params)?;
        let meta = members.remove("_meta").map(passed_meta).transpose()?;
        Ok(Self {
            body: members.to_vec().into(),
            meta: meta.unwrap_or_default(),
            subject: subject_of(method, &members),
        })
    }
}

/// Returns the members of `_meta` that are passed on. Most requests have none, so the others are not decoded.
fn passed_meta(meta: RawJson<'_>) -> Result<Meta, serde_json::Error> {
    let mut members = RawMembers::read(meta.get())?;
    for member in OF_SENDER {
        members.remove(member);
    }
    if members.is_empty() {
        return Ok(Meta::new());
    }
    serde_json::from_slice::<JsonObject>(&members.to_vec()).map(Meta::from)
}

fn subject_of(method: &str, members: &RawMembers<'_>) -> Option<String> {
    let member = match method {
        ReadResource::NAME => "uri",
        CallTool::NAME | GetPrompt::NAME => "name",
        GetTask::NAME | UpdateTask::NAME | CancelTask::NAME => "taskId",
        _ => return None,
    };
    Some(members.get(member)?.as_text()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_the_sender_are_removed() {
        let params = "{\"a\":1.50,\"_meta\":{\"x\":1,\"progressToken\":7}}";
        let read = Forwarded::read("m", params).expect("an object");
        assert_eq!(&read.body[..], b"{\"a\":1.50}");
        assert_eq!(read.meta.as_object().len(), 1);
        assert!(Forwarded::read("m", "[]").is_err());
        assert!(Forwarded::read("m", "{\"_meta\":1}").is_err());
    }

    #[test]
    fn the_subject_of_a_request_is_its_name_its_uri_or_its_task() {
        let params = "{\"name\":\"n\",\"uri\":\"u\",\"taskId\":\"t\"}";
        let subject = |method| Forwarded::read(method, params).expect("an object").subject;
        assert_eq!(subject("tools/call").as_deref(), Some("n"));
        assert_eq!(subject("resources/read").as_deref(), Some("u"));
        assert_eq!(subject("tasks/get").as_deref(), Some("t"));
        assert_eq!(subject("tools/list"), None);
    }
}
