//! Progress notices, written in one piece: a call can send many of them.

use crate::write::{WriteError, Writer, quoted};
use crate::{Feature, Meta, ProgressToken, RequestId, Revision};

/// A progress notice on its way out. [`ProgressParams`](crate::ProgressParams) is the form of a
/// notice that was received.
#[derive(Debug, Clone, Copy)]
pub struct ProgressNotice<'a> {
    /// The beginning of the notices of the request.
    pub head: &'a ProgressHead,
    /// Progress until now. JSON cannot express infinity and NaN: they become 0.
    pub progress: f64,
    /// Total amount of work, if JSON can express it.
    pub total: Option<f64>,
    /// Message about the current progress, for the user.
    pub message: Option<&'a str>,
    /// The task of 2025-11-25 that the request has become.
    pub related_task: Option<&'a str>,
}

/// The beginning of all progress notices of one request: the envelope and the token. It is written once.
#[derive(Debug, Clone)]
pub struct ProgressHead(Vec<u8>);

/// The message up to the token.
const HEAD: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\
    \"params\":{\"progressToken\":";

/// Enough for the names of members, two numbers and the braces.
const ROOM: usize = 100;

impl ProgressHead {
    /// The beginning of notices with the token that a request chose for its progress.
    pub fn new(token: &ProgressToken) -> Self {
        let mut head = Vec::with_capacity(HEAD.len() + ROOM);
        head.extend_from_slice(HEAD);
        match &token.0 {
            RequestId::String(token) => quoted(&mut head, token),
            RequestId::Integer(token) => written(Writer::new(&mut head).delegate(token)),
        }
        head.extend_from_slice(b",\"progress\":");
        Self(head)
    }
}

impl ProgressNotice<'_> {
    /// Returns the whole message, as `revision` knows it.
    pub fn to_message(self, revision: Revision) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, revision);
        out
    }

    /// Writes the whole message at the end of `out`, as `revision` knows it.
    pub fn write(self, out: &mut Vec<u8>, revision: Revision) {
        let message = self
            .message
            .filter(|_| revision.has(Feature::ProgressMessage));
        let message_room = message.map_or(0, |text| text.len() + text.len() / 16);
        out.reserve(self.head.0.len() + ROOM + message_room);
        out.extend_from_slice(&self.head.0);
        number(out, finite(self.progress).unwrap_or_default());
        if let Some(total) = self.total.and_then(finite) {
            out.extend_from_slice(b",\"total\":");
            number(out, total);
        }
        if let Some(message) = message {
            out.extend_from_slice(b",\"message\":");
            quoted(out, message);
        }
        if let Some(task) = self.related_task {
            related(out, task);
        }
        out.extend_from_slice(b"}}");
    }
}

fn number(out: &mut Vec<u8>, number: f64) {
    written(Writer::new(out).double(number));
}

fn related(out: &mut Vec<u8>, task: &str) {
    out.extend_from_slice(b",\"_meta\":{\"");
    out.extend_from_slice(Meta::RELATED_TASK.as_bytes());
    out.extend_from_slice(b"\":{\"taskId\":");
    quoted(out, task);
    out.extend_from_slice(b"}}");
}

fn written(result: Result<(), WriteError>) {
    result.expect("a number is always writable");
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::jsonrpc::write_notification;
    use crate::method::{Notice, Progress};
    use crate::{Fit, ProgressParams};

    fn by_serde(token: &ProgressToken, notice: ProgressNotice<'_>, revision: Revision) -> Vec<u8> {
        let mut params = ProgressParams::new(token.clone(), notice.progress);
        params.total = notice.total.and_then(finite);
        params.message = notice.message.map(str::to_owned);
        params.meta = notice.related_task.map(|task| {
            let mut meta = Meta::new();
            meta.set_related_task(task);
            meta
        });
        params.fit(revision).expect("it fits every revision");
        let mut out = Vec::new();
        write_notification(&mut out, Progress::NAME, Some(&params));
        out
    }

    fn token() -> impl Strategy<Value = ProgressToken> {
        let text = "(?s).{0,40}".prop_map(RequestId::from);
        prop_oneof![any::<i64>().prop_map(RequestId::from), text].prop_map(ProgressToken)
    }

    proptest! {
        // spec: 2025-11-25 D1105-10
        #[test]
        fn a_notice_is_written_like_its_parameters(
            token in token(),
            progress: f64,
            total: Option<f64>,
            message in prop::option::of("(?s).{0,200}"),
            task in prop::option::of("(?s).{0,20}"),
        ) {
            let head = ProgressHead::new(&token);
            for revision in Revision::ALL {
                let notice = ProgressNotice {
                    head: &head,
                    progress,
                    total,
                    message: message.as_deref(),
                    related_task: task.as_deref(),
                };
                prop_assert_eq!(notice.to_message(revision), by_serde(&token, notice, revision));
            }
        }
    }

    #[test]
    fn numbers_that_json_lacks_are_not_in_a_notice() {
        let token = ProgressToken(RequestId::from(1));
        let notice = ProgressNotice {
            head: &ProgressHead::new(&token),
            progress: f64::NAN,
            total: Some(f64::INFINITY),
            message: None,
            related_task: None,
        };
        let latest = Revision::LATEST;
        assert_eq!(notice.to_message(latest), by_serde(&token, notice, latest));
    }
}
