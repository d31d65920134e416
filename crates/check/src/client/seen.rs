//! The record of one revision, as checks read it.

use pintle_model::Revision;
use serde_json::Value;

use super::record::{Entry, Kind, Talk, Visit};
use super::scene::Scene;
use crate::finding::{Judgement, Stop, observed, observed_after, skipped};
use crate::value::Fault;

/// Everything that was recorded in one revision.
pub(crate) struct Seen<'r> {
    all: &'r [Talk],
    visits: &'r [Visit],
    pub(crate) revision: Revision,
}

impl<'r> Seen<'r> {
    pub(crate) fn new(all: &'r [Talk], visits: &'r [Visit], revision: Revision) -> Self {
        Self {
            all,
            visits,
            revision,
        }
    }

    /// Returns the conversations in the revision.
    pub(crate) fn talks(&self) -> impl Iterator<Item = &'r Talk> {
        let revision = self.revision;
        self.all
            .iter()
            .filter(move |talk| talk.revision == Some(revision))
    }

    /// Returns the conversations with a server of the revision in a scene, whatever the client spoke.
    pub(crate) fn scene(&self, scene: Scene) -> impl Iterator<Item = &'r Talk> {
        let revision = self.revision;
        let is_of = move |talk: &&Talk| {
            talk.is_in(scene)
                && talk.visit.play.serves(revision)
                && talk.visit.play.revision.is_some()
        };
        self.all.iter().filter(is_of)
    }

    /// Returns all conversations.
    pub(crate) fn everything(&self) -> &'r [Talk] {
        self.all
    }

    /// Returns the messages of the client, one by one.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (&'r Entry, &'r Value)> {
        self.talks().flat_map(|talk| talk.messages())
    }

    /// Returns the requests of a method.
    pub(crate) fn requests(
        &self,
        method: &'static str,
    ) -> impl Iterator<Item = (&'r Entry, &'r Value)> {
        self.messages()
            .filter(move |(_, message)| is_request(message) && name(message) == Some(method))
    }

    /// Judges the messages of the client after the unusual thing of a scene.
    ///
    /// It passes if the conversation goes on, or if the client ends with success. It fails if the client ends without
    /// success, and with success in the plain scene.
    pub(crate) fn survives(&self, scene: Scene) -> Judgement {
        let mut reason = "the scene was not visited";
        for talk in self.scene(scene) {
            let Some(position) = talk
                .entries
                .iter()
                .position(|entry| matches!(entry.kind, Kind::Unusual(_)))
            else {
                reason = "the client has sent no request for it";
                continue;
            };
            match talk.visit.succeeded {
                Some(true) => return Ok(()),
                Some(false) if self.plain_succeeds() => {
                    let sent = talk
                        .entries
                        .get(position)
                        .map(Entry::text)
                        .unwrap_or_default();
                    return Err(observed_after(
                        sent,
                        "the client ended without success, and with success in the plain scene",
                    ));
                }
                _ => {}
            }
            let mut rest = talk.entries.iter().skip(position + 1);
            if rest.any(|entry| entry.came().is_some_and(is_request)) {
                return Ok(());
            }
            reason = "the client has ended, and its success is unknown";
        }
        Err(not_seen(reason))
    }

    /// Returns true if the client ended a plain visit of the revision with success.
    pub(crate) fn plain_succeeds(&self) -> bool {
        self.visits.iter().any(|visit| {
            visit.play.scene == Scene::Plain
                && visit.play.serves(self.revision)
                && visit.succeeded == Some(true)
        })
    }
}

impl Talk {
    /// Returns the messages of the client. A batch is not one of them.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (&Entry, &Value)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry, entry.came().filter(|message| !message.is_array())?)))
    }

    /// Returns the requests of the server, with the answer of the client.
    pub(crate) fn questions(&self) -> impl Iterator<Item = (&Value, Option<&Value>)> {
        let asked = self
            .entries
            .iter()
            .filter_map(Entry::sent)
            .filter(|message| is_request(message));
        asked.map(|question| {
            let mut answers = self.messages().filter(|(_, message)| is_answer(message));
            let answer = answers.find(|(_, answer)| answer.get("id") == question.get("id"));
            (question, answer.map(|(_, answer)| answer))
        })
    }

    /// Returns the time and the text of the response to a request.
    pub(crate) fn answered(&self, id: &Value) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            entry
                .sent()
                .is_some_and(|sent| is_answer(sent) && sent.get("id") == Some(id))
        })
    }
}

/// Returns the method of a message.
pub(crate) fn name(message: &Value) -> Option<&str> {
    message.get("method")?.as_str()
}

/// Returns true if a message has a method and an id.
pub(crate) fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// Returns true if a message has a method and no id.
pub(crate) fn is_notification(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_none()
}

/// Returns true if a message has no method.
pub(crate) fn is_answer(message: &Value) -> bool {
    message.is_object() && message.get("method").is_none()
}

/// Skips a check, because the client has not shown the behavior.
pub(crate) fn not_seen(reason: &str) -> Stop {
    skipped(format!("not seen: {reason}"))
}

/// Fails because of a message of the client.
pub(crate) fn fault_of(message: &Value, fault: impl std::fmt::Display) -> Stop {
    observed(format!("{fault}: {message}"))
}

/// Judges each message on its own. `reason` explains an empty record.
pub(crate) fn every<'r>(
    messages: impl Iterator<Item = (&'r Entry, &'r Value)>,
    reason: &str,
    mut fault: impl FnMut(&Entry, &Value) -> Fault,
) -> Judgement {
    let mut is_empty = true;
    for (entry, message) in messages {
        is_empty = false;
        if let Some(fault) = fault(entry, message) {
            return Err(fault_of(message, fault));
        }
    }
    match is_empty {
        true => Err(not_seen(reason)),
        false => Ok(()),
    }
}
