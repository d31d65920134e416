//! Finds oddities of the messages of one session. It performs no I/O and reads no clock.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use foldhash::fast::RandomState;
use pintle_model::method::support_of;
use pintle_model::{Feature, Revision};
use serde_json::value::RawValue;

use crate::envelope::{Envelope, MessageKind, Params, handshake_revision};
use crate::lines::Line;
use crate::oddity::Oddity;

/// Maximum size of a stored method or name, in bytes.
const MAX_NAME_BYTES: usize = 256;

type Map<V> = HashMap<String, V, RandomState>;

/// The receiver of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

impl Direction {
    /// Returns the name of the receiver.
    pub fn receiver(self) -> &'static str {
        match self {
            Self::ToServer => "server",
            Self::ToClient => "client",
        }
    }

    /// Returns the direction of an answer.
    pub fn reverse(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self == Self::ToClient)
    }
}

/// A message and its oddities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The side that gets the message.
    pub direction: Direction,
    /// The form of the message.
    pub kind: MessageKind,
    /// The id, as JSON.
    pub id: Option<String>,
    /// The method; for an answer, the method of its request.
    pub method: Option<String>,
    /// The name of the tool or prompt, or the URI of the resource; for an answer, that of its request.
    pub target: Option<String>,
    /// For an answer, the time since its request.
    pub latency: Option<Duration>,
    /// Size of the message, in bytes.
    pub size: u64,
    /// Everything that is odd about the message.
    pub oddities: Vec<Oddity>,
}

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The receiver of the request.
    pub direction: Direction,
    /// The id, as JSON.
    pub id: String,
    /// The method of the request.
    pub method: String,
    /// The time since the request.
    pub age: Duration,
}

/// Observes the messages of one session. Times are counted from any fixed point.
#[derive(Debug)]
pub struct Observer {
    max_pending: usize,
    revision: Option<Revision>,
    /// Whether the server has answered a handshake.
    is_open: bool,
    sides: [Side; 2],
    /// Whether messages were not observed. An id may then belong to one of them.
    has_gap: bool,
}

/// The requests of one side.
#[derive(Debug, Default)]
struct Side {
    pending: Map<Pending>,
    ended: Map<End>,
    /// The ids of `ended`, oldest first.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Pending {
    method: String,
    target: Option<String>,
    at: Duration,
    is_cancelled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    was_cancelled: bool,
}

impl Observer {
    /// Creates an observer. It tracks at most `max_pending` requests of each side, and as many that have ended.
    pub fn new(max_pending: usize) -> Self {
        Self {
            max_pending,
            revision: None,
            is_open: false,
            sides: [Side::default(), Side::default()],
            has_gap: false,
        }
    }

    /// Records that messages were not observed. Ids without a request, and requests without an answer, are not
    /// reported any more.
    pub fn skip(&mut self) {
        self.has_gap = true;
    }

    /// States that no handshake is needed, because a header states the revision, or none is required. A handshake
    /// that was observed has precedence.
    pub fn assume(&mut self, revision: Option<Revision>) {
        self.is_open = true;
        self.revision = self.revision.or(revision);
    }

    /// Observes a line of a stream, at a time.
    pub fn observe(&mut self, direction: Direction, line: &Line, at: Duration) -> Observation {
        let mut seen = Observation {
            direction,
            kind: MessageKind::Other,
            id: None,
            method: None,
            target: None,
            latency: None,
            size: line.size,
            oddities: Vec::new(),
        };
        if !line.has_end {
            seen.oddities.push(Oddity::NoLineEnd);
        }
        if line.is_cut() {
            // The line may be an answer, or a request.
            self.skip();
            seen.oddities.push(Oddity::TooLong);
            return seen;
        }
        match std::str::from_utf8(&line.bytes) {
            Ok(text) => self.text(&mut seen, text.trim(), at),
            Err(_) => seen.oddities.push(Oddity::NotUtf8),
        }
        seen
    }

    /// Returns the requests without an answer. The session has ended.
    pub fn finish(&mut self, at: Duration) -> Vec<Missing> {
        let mut missing = Vec::new();
        for direction in [Direction::ToServer, Direction::ToClient] {
            let side = &mut self.sides[direction.index()];
            let open = side.pending.drain().filter(|(_, pending)| {
                // A stream of changes may end with the connection.
                !pending.is_cancelled && pending.method != "subscriptions/listen"
            });
            missing.extend(open.map(|(id, pending)| Missing {
                direction,
                id,
                method: pending.method,
                age: at.saturating_sub(pending.at),
            }));
        }
        if self.has_gap {
            missing.clear();
        }
        missing.sort_by_key(|missing| std::cmp::Reverse(missing.age));
        missing
    }

    fn text(&mut self, seen: &mut Observation, text: &str, at: Duration) {
        if text.is_empty() {
            seen.oddities.push(Oddity::EmptyLine);
        } else if text.starts_with('[') && self.batch(seen, text, at) {
            seen.kind = MessageKind::Batch;
        } else {
            match Envelope::read(text) {
                Ok((envelope, kind)) => {
                    seen.kind = kind;
                    self.message(seen, &envelope, at);
                }
                Err(reason) => seen.oddities.push(not_a_message(text, reason)),
            }
        }
    }

    /// Observes the messages of a batch. Returns false if the text is not a list.
    fn batch(&mut self, seen: &mut Observation, text: &str, at: Duration) -> bool {
        let Ok(messages) = serde_json::from_str::<Vec<&RawValue>>(text) else {
            return false;
        };
        for message in messages {
            let mut inner = Observation {
                oddities: Vec::new(),
                ..seen.clone()
            };
            match message.get().starts_with('[') {
                true => inner
                    .oddities
                    .push(not_a_message(message.get(), "a batch in a batch".into())),
                false => self.text(&mut inner, message.get(), at),
            }
            seen.latency = seen.latency.max(inner.latency);
            for oddity in inner.oddities {
                if !seen.oddities.contains(&oddity) {
                    seen.oddities.push(oddity);
                }
            }
        }
        let is_allowed = self
            .revision
            .is_none_or(|revision| revision.has(Feature::Batches));
        if !is_allowed {
            seen.oddities.push(Oddity::Batch);
        }
        true
    }

    fn message(&mut self, seen: &mut Observation, envelope: &Envelope<'_>, at: Duration) {
        seen.id = envelope.id().ok();
        match seen.kind {
            MessageKind::Request | MessageKind::Notification => {
                let params = envelope.params();
                seen.method = envelope.method().map(cut);
                seen.target = params.target().map(cut);
                self.check_method(seen, envelope, &params);
                self.begin(seen, &params, at);
            }
            _ => self.answer(seen, envelope, at),
        }
    }

    fn begin(&mut self, seen: &mut Observation, params: &Params<'_>, at: Duration) {
        let side = &mut self.sides[seen.direction.index()];
        let method = seen.method.clone().unwrap_or_default();
        match (&seen.id, seen.kind) {
            (Some(id), MessageKind::Request) => {
                let pending = Pending {
                    method,
                    target: seen.target.clone(),
                    at,
                    is_cancelled: false,
                };
                if let Some(oddity) = side.begin(id, pending, self.max_pending) {
                    self.has_gap |= oddity == Oddity::NotTracked;
                    seen.oddities.push(oddity);
                }
            }
            _ if method == "notifications/cancelled" => {
                let id = params.cancelled();
                let pending = id.and_then(|id| side.pending.get_mut(&id));
                if let Some(pending) = pending {
                    pending.is_cancelled = true;
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, seen: &mut Observation, envelope: &Envelope<'_>, at: Duration) {
        let Some(id) = &seen.id else {
            // An error without an id answers a message that could not be read.
            return;
        };
        let side = &mut self.sides[seen.direction.reverse().index()];
        match side.end(id, self.max_pending) {
            Ok(pending) => {
                if pending.is_cancelled {
                    seen.oddities.push(Oddity::AnswerAfterCancel);
                }
                seen.latency = Some(at.saturating_sub(pending.at));
                seen.target = pending.target;
                seen.method = Some(pending.method);
            }
            Err(_) if self.has_gap => {}
            Err(oddity) => seen.oddities.push(oddity),
        }
        if seen.method.as_deref() == Some("initialize") && seen.direction == Direction::ToClient {
            self.negotiate(seen, envelope);
        }
    }

    /// Stores the revision of a session.
    fn negotiate(&mut self, seen: &mut Observation, envelope: &Envelope<'_>) {
        if let Some(name) = envelope.result.and_then(handshake_revision) {
            self.is_open = true;
            match name.parse() {
                Ok(revision) => self.revision = Some(revision),
                Err(_) => seen.oddities.push(Oddity::UnsupportedRevision(name)),
            }
        }
    }

    fn check_method(
        &mut self,
        seen: &mut Observation,
        envelope: &Envelope<'_>,
        params: &Params<'_>,
    ) {
        let method = envelope.method().unwrap_or_default();
        if is_of_wrong_side(method, seen.direction) {
            seen.oddities.push(Oddity::WrongSide);
        }
        let stated = params
            .revision()
            .map(|name| name.parse::<Revision>().map_err(|_| name));
        let revision = match stated {
            Some(Err(name)) => return seen.oddities.push(Oddity::UnsupportedRevision(name)),
            Some(Ok(stated)) => {
                if let Some(session) = self.revision.filter(|session| *session != stated) {
                    seen.oddities
                        .push(Oddity::OtherRevision { stated, session });
                }
                Some(stated)
            }
            None => self.revision,
        };
        match (revision, support_of(method)) {
            (Some(revision), Some(support)) if !support.met_by(revision) => {
                seen.oddities.push(Oddity::WrongRevision(revision));
            }
            (None, _) if self.is_early(method, seen) => seen.oddities.push(Oddity::BeforeHandshake),
            _ => {}
        }
    }

    /// Whether a request comes before the handshake that it needs.
    fn is_early(&self, method: &str, seen: &Observation) -> bool {
        let may_be_first = ["initialize", "ping", "server/discover"];
        let is_request = seen.kind == MessageKind::Request;
        is_request && !self.is_open && !self.has_gap && !may_be_first.contains(&method)
    }
}

impl Side {
    fn begin(&mut self, id: &str, pending: Pending, max: usize) -> Option<Oddity> {
        if self.pending.contains_key(id) {
            return Some(Oddity::DuplicateId);
        }
        if self.pending.len() >= max {
            return Some(Oddity::NotTracked);
        }
        self.pending.insert(id.to_owned(), pending);
        let was_used = self.ended.contains_key(id);
        was_used.then_some(Oddity::ReusedId)
    }

    fn end(&mut self, id: &str, max: usize) -> Result<Pending, Oddity> {
        let Some(pending) = self.pending.remove(id) else {
            return Err(match self.ended.get(id) {
                Some(End {
                    was_cancelled: true,
                }) => Oddity::AnswerAfterCancel,
                Some(_) => Oddity::SecondAnswer,
                None => Oddity::UnknownId,
            });
        };
        let end = End {
            was_cancelled: pending.is_cancelled,
        };
        if self.ended.insert(id.to_owned(), end).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > max
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        Ok(pending)
    }
}

/// Returns the begin of a text, because a peer may send names of any length.
fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

fn not_a_message(text: &str, reason: String) -> Oddity {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Oddity::NotJsonRpc(reason),
        Err(_) => Oddity::NotJson,
    }
}

/// Whether only the other side sends the method.
fn is_of_wrong_side(method: &str, direction: Direction) -> bool {
    let of_server = [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "notifications/message",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/elicitation/complete",
        "notifications/subscriptions/acknowledged",
    ];
    // Both sides send these.
    let of_both = ["ping", "notifications/cancelled", "notifications/progress"];
    match direction {
        Direction::ToServer => of_server.contains(&method),
        Direction::ToClient => {
            let is_known = support_of(method).is_some();
            let may_be_sent = of_server.contains(&method)
                || of_both.contains(&method)
                || method.contains("tasks");
            is_known && !may_be_sent
        }
    }
}

#[cfg(test)]
mod tests;
