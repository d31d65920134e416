//! The parameters of a request that is passed on: its `_meta` apart, and its other members unchanged.

use bytes::Bytes;
use pintle_model::method::{CallTool, GetPrompt, Method, ReadResource};
use pintle_model::{JsonObject, Meta, RawMembers};
use serde::Deserialize;

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
}

impl Forwarded {
    /// Splits the text of a JSON object.
    ///
    /// # Errors
    ///
    /// If the text is not an object, or its `_meta` is not.
    pub(crate) fn read(params: &str) -> Result<Self, serde_json::Error> {
        let mut members = RawMembers::read(params)?;
        let meta = members.remove("_meta");
        let meta = meta.map(|meta| serde_json::from_str::<JsonObject>(meta.get()));
        let mut meta = Meta::from(meta.transpose()?.unwrap_or_default());
        for member in OF_SENDER {
            meta.remove(member);
        }
        Ok(Self {
            body: members.to_vec().into(),
            meta,
        })
    }
}

/// Returns the name or the URI that a request is about, which HTTP repeats in a header.
pub(crate) fn subject_of(method: &str, params: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Subject {
        name: Option<String>,
        uri: Option<String>,
    }
    let is_read = method == ReadResource::NAME;
    if !is_read && method != CallTool::NAME && method != GetPrompt::NAME {
        return None;
    }
    let subject: Subject = serde_json::from_str(params).ok()?;
    if is_read { subject.uri } else { subject.name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_the_sender_are_removed() {
        let params = "{\"a\":1.50,\"_meta\":{\"x\":1,\"progressToken\":7}}";
        let read = Forwarded::read(params).expect("an object");
        assert_eq!(&read.body[..], b"{\"a\":1.50}");
        assert_eq!(read.meta.as_object().len(), 1);
        assert!(Forwarded::read("[]").is_err());
        assert!(Forwarded::read("{\"_meta\":1}").is_err());
    }

    #[test]
    fn the_subject_of_a_request_is_its_name_or_its_uri() {
        let params = "{\"name\":\"n\",\"uri\":\"u\"}";
        assert_eq!(subject_of("tools/call", params).as_deref(), Some("n"));
        assert_eq!(subject_of("resources/read", params).as_deref(), Some("u"));
        assert_eq!(subject_of("tools/list", params), None);
    }
}
