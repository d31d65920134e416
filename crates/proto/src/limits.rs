//! The limits of a conversation. A transport has limits of its own.

use std::time::Duration;

/// The limits of one conversation: each with its default, unit and reason.
///
/// A queue, map or wait of the engine that is not bounded by one of these is a defect.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Requests of the peer that run at the same time; default 256.
    ///
    /// More wait in line, so that a fast peer cannot take all memory with slow handlers.
    pub max_running_requests: usize,
    /// Requests of the peer that wait in line; default 1 024. Beyond it a pipe stores the lines it
    /// has read, and then stops reading.
    ///
    /// A pipe also stops reading while `max_running_requests` + `max_waiting_requests` +
    /// `max_queued_notices` messages, or `max_outgoing_bytes`, wait to be written. Answers are
    /// never dropped, so the peer must stop sending requests.
    pub max_waiting_requests: usize,
    /// Bytes that requests of the peer hold while they run or wait in line; default 64 MiB. Beyond it
    /// a pipe is read no further, as with `max_waiting_requests`; a session over HTTP answers 429.
    ///
    /// A thousand requests are little, a thousand of the largest are all the memory there is.
    pub max_pending_request_bytes: usize,
    /// Our calls that are not answered yet; default 256.
    pub max_calls: usize,
    /// Values of one message of the peer, estimated: commas and opening brackets outside of its
    /// strings; default 100 000. A message with more is refused with -32600. A client accepts ten
    /// times as many, because most messages of a server are answers; an answer with more fails its
    /// call.
    ///
    /// Values take many times the memory of their text, and longer to be made and dropped: without
    /// this, 4 MiB of small objects would take more than 200 MiB and a second.
    pub max_values_per_message: usize,
    /// Notices of one engine that are not yet written; default 1 024 messages.
    ///
    /// At the limit list changes and progress are merged, and logs drop the oldest. Answers are
    /// never dropped.
    pub max_queued_notices: usize,
    /// Bytes of notices that are not yet written; default 1 MiB.
    pub max_queued_notice_bytes: usize,
    /// Open `subscriptions/listen` of one conversation; default 64.
    pub max_listeners: usize,
    /// Resources one conversation may be subscribed to; default 1 024.
    pub max_subscribed_uris: usize,
    /// Length of a subscribed URI; default 64 KiB.
    pub max_uri_bytes: usize,
    /// Length of all URIs together that a session, or one listener, is subscribed to; default
    /// 1 MiB. A peer fills this memory at will, for as long as it stays.
    pub max_subscribed_uri_bytes: usize,
    /// Tasks of one conversation whose progress and logs are sent in it; default 256. Beyond it the
    /// oldest task sends none: its status can still be requested.
    pub max_reported_tasks: usize,
    /// Tasks that one listener may follow; default 256, a little more than one principal may have
    /// at work.
    pub max_followed_tasks: usize,
    /// Size of one outgoing message; default 16 MiB. A larger result is answered with -32603. When
    /// the answers that wait for others of their batches are larger together, they leave.
    pub max_outgoing_bytes: usize,
    /// How long a handshake may stay unfinished; default 60 s.
    pub handshake_timeout: Duration,
    /// How long a call waits without an answer or progress; default 60 s.
    pub call_idle_timeout: Duration,
    /// How long a call waits at all; default 10 min.
    pub call_total_timeout: Duration,
    /// Timeout of a question to the client's user, independent of progress; default 10 min.
    ///
    /// It is long because users may need time to find the answer.
    pub question_timeout: Duration,
    /// How long a question is followed that became a task at the client; default 24 h.
    ///
    /// The handler waits all the time, and so does the client for the answer to its request.
    pub client_task_timeout: Duration,
    /// Visits to URLs whose end may still be sent to a session; default 256.
    ///
    /// A user may never open the URL, so the oldest visits are dropped.
    pub max_visits: usize,
    /// Rounds of questions that one request may take; default 10.
    ///
    /// Clients have the same limit, because a handler that asks without end must not keep a user
    /// busy.
    pub max_rounds: u32,
    /// Answers to one question that do not fit it; default 3. The question fails at the last one.
    ///
    /// Only where results ask (2026-07-28): there it is asked again before, with the reason.
    pub max_unfit_answers: u32,
    /// Size of the state that a retry carries for the server; default 16 KiB.
    ///
    /// It travels with every round, in both directions. A larger state is stored, and only its name
    /// travels.
    pub max_request_state_bytes: usize,
    /// Size of the stored state of one request between its rounds; default 1 MiB.
    ///
    /// A client may never retry, so the state expires after ten minutes.
    pub max_stored_state_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_running_requests: 256,
            max_waiting_requests: 1_024,
            max_pending_request_bytes: 64 << 20,
            max_calls: 256,
            max_values_per_message: 100_000,
            max_queued_notices: 1_024,
            max_queued_notice_bytes: 1 << 20,
            max_listeners: 64,
            max_subscribed_uris: 1_024,
            max_uri_bytes: 64 << 10,
            max_subscribed_uri_bytes: 1 << 20,
            max_reported_tasks: 256,
            max_followed_tasks: 256,
            max_outgoing_bytes: 16 << 20,
            handshake_timeout: Duration::from_secs(60),
            call_idle_timeout: Duration::from_secs(60),
            call_total_timeout: Duration::from_secs(600),
            question_timeout: Duration::from_secs(600),
            client_task_timeout: Duration::from_secs(86_400),
            max_visits: 256,
            max_rounds: 10,
            max_unfit_answers: 3,
            max_request_state_bytes: 16 << 10,
            max_stored_state_bytes: 1 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_are_the_documented_values() {
        let limits = Limits::default();
        assert_eq!(
            (
                limits.max_running_requests,
                limits.max_waiting_requests,
                limits.max_calls
            ),
            (256, 1_024, 256)
        );
        assert_eq!(
            (limits.max_queued_notices, limits.max_queued_notice_bytes),
            (1_024, 1_048_576)
        );
        assert_eq!(
            (
                limits.max_listeners,
                limits.max_subscribed_uris,
                limits.max_uri_bytes
            ),
            (64, 1_024, 65_536)
        );
        assert_eq!(
            (limits.max_subscribed_uri_bytes, limits.max_outgoing_bytes),
            (1_048_576, 16_777_216)
        );
        assert_eq!(
            (limits.max_reported_tasks, limits.max_followed_tasks),
            (256, 256)
        );
        assert_eq!(
            (
                limits.max_values_per_message,
                limits.max_pending_request_bytes
            ),
            (100_000, 67_108_864)
        );
        assert_eq!(limits.handshake_timeout.as_secs(), 60);
        assert_eq!(
            (
                limits.call_idle_timeout.as_secs(),
                limits.call_total_timeout.as_secs()
            ),
            (60, 600)
        );
        assert_eq!(limits.question_timeout.as_secs(), 600);
        assert_eq!(
            (limits.max_rounds, limits.max_request_state_bytes),
            (10, 16_384)
        );
        assert_eq!(limits.max_unfit_answers, 3);
        assert_eq!(limits.max_stored_state_bytes, 1_048_576);
        assert_eq!(
            (limits.max_visits, limits.client_task_timeout.as_secs()),
            (256, 86_400)
        );
    }
}
