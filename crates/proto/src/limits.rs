//! Every bound of a conversation, in one place.

use std::time::Duration;

/// The bounds of one conversation: each with its default, unit and reason.
///
/// A queue, map or wait of the engine that is not bounded by one of these is a defect.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Requests of the peer that run at the same time; default 256.
    ///
    /// More wait in line, so that a fast peer cannot take all memory with slow handlers.
    pub requests: usize,
    /// Requests of the peer that wait in line; default 1 024. Beyond it a pipe holds what it reads,
    /// and then reads no more.
    ///
    /// Nor is it read while `requests` + `read_ahead` + `queued_notices` messages, or
    /// `outgoing_bytes`, wait to be written: answers are never dropped, so asking must stop.
    pub read_ahead: usize,
    /// Bytes that requests of the peer hold while they run or wait in line; default 64 MiB. Beyond it
    /// a pipe is read no further, as with `read_ahead`; a session over HTTP answers 429.
    ///
    /// A thousand requests are little, a thousand of the largest are all the memory there is.
    pub request_bytes: usize,
    /// Our calls that are not answered yet; default 256.
    pub calls: usize,
    /// Values of one message of the peer, about: commas and opening brackets outside of its strings;
    /// default 100 000. A message with more is refused with -32600. A client takes ten times as many,
    /// since it asked for most of what it is sent; an answer with more fails its call.
    ///
    /// Values take many times the memory of their text, and longer to be made and dropped: without
    /// this, 4 MiB of small objects would take more than 200 MiB and a second.
    pub values: usize,
    /// Notices of one lane that are not yet written; default 1 024 messages.
    ///
    /// At the limit list changes and progress are merged, and logs drop the oldest. Answers are
    /// never dropped.
    pub queued_notices: usize,
    /// Bytes of notices that are not yet written; default 1 MiB.
    pub queued_bytes: usize,
    /// Open `subscriptions/listen` of one conversation; default 64.
    pub listens: usize,
    /// Resources one conversation may be subscribed to; default 1 024.
    pub subscribed_uris: usize,
    /// Length of a subscribed URI; default 64 KiB.
    pub uri_bytes: usize,
    /// Length of all URIs together that a session, or one listener, is subscribed to; default
    /// 1 MiB. A peer fills this memory at will, for as long as it stays.
    pub subscribed_bytes: usize,
    /// Tasks of one conversation whose progress and logs are told in it; default 256. Beyond it the
    /// oldest is silent: what becomes of it can still be asked.
    pub tasks: usize,
    /// Tasks that one listener may follow; default 256, a little more than one principal may have
    /// at work.
    pub followed_tasks: usize,
    /// Size of one outgoing message; default 16 MiB. A larger result is answered with -32603. When
    /// the answers that wait for others of their batches are larger together, they leave.
    pub outgoing_bytes: usize,
    /// How long a handshake may stay unfinished; default 60 s.
    pub handshake: Duration,
    /// How long a call waits without an answer or progress; default 60 s.
    pub call_quiet: Duration,
    /// How long a call waits at all; default 10 min.
    pub call_ceiling: Duration,
    /// How long a question to the client's user waits, whatever the peer says; default 10 min.
    ///
    /// People answer it, and people go and look things up.
    pub question: Duration,
    /// How long a question that the client has made a task of is followed; default 24 h.
    ///
    /// Its handler waits all the time, and so does whoever has made its request.
    pub followed: Duration,
    /// Visits to URLs that a session asked for and may still hear the end of; default 256.
    ///
    /// Nobody need ever go there: the oldest are forgotten.
    pub visits: usize,
    /// Rounds of questions that one request may take; default 10.
    ///
    /// Clients stop there, too: a handler that asks for ever must not keep a user busy for ever.
    pub rounds: u32,
    /// Answers to one question that do not fit it; default 3. The question fails at the last one.
    ///
    /// Only where results ask (2026-07-28): there it is asked again before, with the reason.
    pub max_unfit_answers: u32,
    /// Size of what a retry carries back for us; default 16 KiB.
    ///
    /// It travels with every round, there and back. What is larger is stored, and its name travels.
    pub request_state_bytes: usize,
    /// Size of what is stored of one request between its rounds; default 1 MiB.
    ///
    /// Clients need not come back for it: it stays for ten minutes.
    pub stored_state_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 256,
            read_ahead: 1_024,
            request_bytes: 64 << 20,
            calls: 256,
            values: 100_000,
            queued_notices: 1_024,
            queued_bytes: 1 << 20,
            listens: 64,
            subscribed_uris: 1_024,
            uri_bytes: 64 << 10,
            subscribed_bytes: 1 << 20,
            tasks: 256,
            followed_tasks: 256,
            outgoing_bytes: 16 << 20,
            handshake: Duration::from_secs(60),
            call_quiet: Duration::from_secs(60),
            call_ceiling: Duration::from_secs(600),
            question: Duration::from_secs(600),
            followed: Duration::from_secs(86_400),
            visits: 256,
            rounds: 10,
            max_unfit_answers: 3,
            request_state_bytes: 16 << 10,
            stored_state_bytes: 1 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_are_what_the_documentation_promises() {
        let limits = Limits::default();
        assert_eq!(
            (limits.requests, limits.read_ahead, limits.calls),
            (256, 1_024, 256)
        );
        assert_eq!(
            (limits.queued_notices, limits.queued_bytes),
            (1_024, 1_048_576)
        );
        assert_eq!(
            (limits.listens, limits.subscribed_uris, limits.uri_bytes),
            (64, 1_024, 65_536)
        );
        assert_eq!(
            (limits.subscribed_bytes, limits.outgoing_bytes),
            (1_048_576, 16_777_216)
        );
        assert_eq!((limits.tasks, limits.followed_tasks), (256, 256));
        assert_eq!((limits.values, limits.request_bytes), (100_000, 67_108_864));
        assert_eq!(limits.handshake.as_secs(), 60);
        assert_eq!(
            (limits.call_quiet.as_secs(), limits.call_ceiling.as_secs()),
            (60, 600)
        );
        assert_eq!(limits.question.as_secs(), 600);
        assert_eq!((limits.rounds, limits.request_state_bytes), (10, 16_384));
        assert_eq!(limits.max_unfit_answers, 3);
        assert_eq!(limits.stored_state_bytes, 1_048_576);
        assert_eq!((limits.visits, limits.followed.as_secs()), (256, 86_400));
    }
}
