//! A notice, rendered once for all its recipients.
//!
//! A thousand listeners share the bytes of one message. Only the name of its own listener is put in
//! between: on the lane of `subscriptions/listen` every notice carries the id of that request.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use serde::Serialize;

use pintle_model::method::{
    Notice, PromptsChanged, ResourceUpdated, ResourcesChanged, ToolsChanged,
};
use pintle_model::{Error, JsonObject, Meta, RequestId, ResourceUpdatedParams};

use crate::io::{DropPolicy, Frame};
use crate::topic::{Change, NoticeSubject};

/// One change, or one notice of an extension: its subject, and its bytes.
///
/// Cloning is cheap and shares the bytes.
#[derive(Debug, Clone)]
pub struct RenderedNotice {
    about: NoticeSubject,
    policy: DropPolicy,
    /// The message for sessions.
    plain: Bytes,
    /// The message for listeners, up to the listener's id.
    before: Bytes,
    /// The rest of the message for listeners, after the listener's id.
    after: Bytes,
}

impl RenderedNotice {
    /// Renders the notice of a change.
    pub fn of(change: &Change) -> Self {
        let (method, params) = match change {
            Change::Tools => (ToolsChanged::NAME, None),
            Change::Prompts => (PromptsChanged::NAME, None),
            Change::Resources => (ResourcesChanged::NAME, None),
            Change::Resource(uri) => (
                ResourceUpdated::NAME,
                Some(ResourceUpdatedParams::new(uri.as_str())),
            ),
        };
        let mut members = Vec::new();
        if let Some(params) = params {
            serde_json::to_writer(&mut members, &params).expect("a URI is always writable");
        }
        let members = members.get(1..members.len().max(1) - 1).unwrap_or_default();
        Self::rendered(NoticeSubject::Change(change.clone()), method, members, b"")
    }

    /// A notice of an extension; about `key`, if it concerns one key only.
    ///
    /// # Errors
    ///
    /// -32603 when the parameters are not an object, or cannot be written as JSON.
    pub fn notice<N: Notice>(params: &N::Params, key: Option<&str>) -> Result<Self, Error> {
        let internal = |_| Error::internal();
        let text = serde_json::to_vec(params).map_err(internal)?;
        let mut members: JsonObject = serde_json::from_slice(&text).map_err(internal)?;
        let mut meta = members.shift_remove("_meta").unwrap_or_default();
        if let Some(meta) = meta.as_object_mut() {
            meta.shift_remove(Meta::SUBSCRIPTION_ID);
        }
        let about = NoticeSubject::Topic {
            notice: N::NAME.into(),
            key: key.map(Into::into),
        };
        Ok(Self::rendered(
            about,
            N::NAME,
            &inner(&members),
            &meta.as_object().map(inner).unwrap_or_default(),
        ))
    }

    /// Renders a message from the members of its parameters and of their `_meta`, as text without
    /// braces.
    fn rendered(about: NoticeSubject, method: &str, members: &[u8], meta: &[u8]) -> Self {
        let policy = match &about {
            // A queued notice with the same fingerprint makes this one redundant.
            NoticeSubject::Change(change) => DropPolicy::Merge(fingerprint(change)),
            // Their number is unknown: for a peer that does not read, the oldest are dropped.
            NoticeSubject::Topic { .. } => DropPolicy::DropOldest,
        };
        let head: &[&[u8]] = &[
            b"{\"jsonrpc\":\"2.0\",\"method\":\"",
            method.as_bytes(),
            b"\"",
        ];
        let (tag, then) = (Meta::SUBSCRIPTION_ID.as_bytes(), comma(members));
        Self {
            about,
            policy,
            plain: plain(head, members, meta),
            before: [head, &[b",\"params\":{\"_meta\":{\"", tag, b"\":"]]
                .concat()
                .concat()
                .into(),
            after: [comma(meta), meta, b"}", then, members, b"}}"]
                .concat()
                .into(),
        }
    }

    pub(crate) fn about(&self) -> &NoticeSubject {
        &self.about
    }

    pub(crate) fn policy(&self) -> DropPolicy {
        self.policy
    }

    /// The message for a session: nothing is copied.
    pub(crate) fn plain(&self) -> Frame {
        Frame::around(Vec::new(), self.plain.clone(), b"")
    }

    /// The message for one listener. The longer part, after the id, is not copied.
    pub(crate) fn tagged(&self, id: &RequestId) -> Frame {
        let mut head = Vec::with_capacity(self.before.len() + ID_ROOM);
        head.extend_from_slice(&self.before);
        serde_json::to_writer(&mut head, id).expect("an id is always writable");
        Frame::around(head, self.after.clone(), b"")
    }
}

/// Enough for any integer; a longer string makes the buffer grow once.
const ID_ROOM: usize = 24;

fn plain(head: &[&[u8]], members: &[u8], meta: &[u8]) -> Bytes {
    let mut text = head.concat();
    if !members.is_empty() || !meta.is_empty() {
        text.extend_from_slice(b",\"params\":{");
        text.extend_from_slice(members);
        if !meta.is_empty() {
            text.extend_from_slice(comma(members));
            text.extend_from_slice(b"\"_meta\":{");
            text.extend_from_slice(meta);
            text.push(b'}');
        }
        text.push(b'}');
    }
    text.push(b'}');
    text.into()
}

fn comma(after: &[u8]) -> &'static [u8] {
    if after.is_empty() { b"" } else { b"," }
}

/// An object's members as text, without its braces.
fn inner(object: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(object).expect("JSON is always writable");
    text.pop();
    text.drain(..text.len().min(1));
    text
}

/// Equal for equal changes; different ones collide so rarely that merging them is harmless.
fn fingerprint(change: &Change) -> u64 {
    let mut hasher = DefaultHasher::new();
    change.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use pintle_model::Extra;
    use serde_json::{Value, json};

    use super::*;

    enum Risen {}

    impl Notice for Risen {
        const NAME: &'static str = "notifications/tides/risen";
        type Params = Extra;
    }

    fn value(frame: &Frame) -> Value {
        serde_json::from_slice(&frame.to_vec()).expect("JSON")
    }

    fn object(value: Value) -> Extra {
        serde_json::from_value(value).expect("an object")
    }

    // spec: 2026-07-28 N-SUBS-07, N-SUBS-18, N-SUBS-22
    // spec: 2025-11-25 RES-05
    #[test]
    fn a_notice_carries_the_typed_id_of_its_listener_and_none_in_a_session() {
        let changes = [
            (Change::Tools, json!({})),
            (Change::Prompts, json!({})),
            (Change::Resources, json!({})),
            (
                Change::Resource("a:\"1\"".into()),
                json!({"uri": "a:\"1\""}),
            ),
        ];
        for (change, own) in changes {
            let notice = RenderedNotice::of(&change);
            for id in [json!(7), json!("7"), json!(i64::MIN), json!("q".repeat(60))] {
                let received =
                    value(&notice.tagged(&serde_json::from_value(id.clone()).expect("id")));
                let mut params = own.clone();
                params["_meta"] = json!({ Meta::SUBSCRIPTION_ID: id });
                assert_eq!(received["params"], params, "{change:?}");
            }
            let plain = value(&notice.plain());
            assert_eq!(
                plain["params"],
                if own == json!({}) { Value::Null } else { own }
            );
            assert!(
                plain["method"]
                    .as_str()
                    .is_some_and(|name| name.starts_with("notif"))
            );
        }
    }

    #[test]
    fn a_notice_of_an_extension_keeps_its_own_metadata() {
        let forged = json!({"metres": 2, "_meta": {"a.b/c": 1, Meta::SUBSCRIPTION_ID: 9}});
        let notice = RenderedNotice::notice::<Risen>(&object(forged), None).expect("an object");
        let tagged = value(&notice.tagged(&RequestId::from(5)));
        let meta = json!({ Meta::SUBSCRIPTION_ID: 5, "a.b/c": 1 });
        assert_eq!(tagged["params"], json!({ "_meta": meta, "metres": 2 }));
        let plain = value(&notice.plain());
        assert_eq!(plain["params"], json!({"metres": 2, "_meta": {"a.b/c": 1}}));
        let bare = RenderedNotice::notice::<Risen>(&Extra::new(), None).expect("an object");
        assert_eq!(value(&bare.plain()).get("params"), None);
    }

    #[test]
    fn a_thousand_listeners_share_one_rendered_body() {
        let notice = RenderedNotice::of(&Change::Resource("a:1".into()));
        let places: Vec<_> = (0..1_000)
            .map(|id| notice.tagged(&RequestId::from(id)).into_pieces()[1].as_ptr())
            .collect();
        assert!(places.iter().all(|place| *place == notice.after.as_ptr()));
        let session = notice.plain().into_pieces();
        assert_eq!(session[1].as_ptr(), notice.plain.as_ptr());
    }
}
