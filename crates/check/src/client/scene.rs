//! The scenes: each is a plain server, or a server that does one unusual thing.

use pintle_model::{Feature, Revision};

use crate::level::Carrier;

/// One thing that a scripted server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scene {
    /// Keeps to the protocol, and uses each feature that the client declares.
    Plain,
    /// Declares tools and no other capability.
    Bare,
    /// Sends a notification of an unknown method before each answer.
    UnknownNotification,
    /// Adds unknown members to results, capabilities and contents.
    UnknownMembers,
    /// Answers requests that the client has not sent, and answers each request twice.
    StrayAnswers,
    /// Sends notifications about requests, tokens and questions that do not exist.
    StrayNotifications,
    /// Sends broken JSON before each answer.
    BrokenJson,
    /// Sends a notification of 1 MiB before each answer.
    LargeMessage,
    /// Sends requests of unknown methods, and of features that the client has not declared.
    UnknownRequest,
    /// Serves revisions that no client knows.
    UnknownVersion,
    /// Answers `server/discover` with an error of no meaning.
    DiscoverError,
    /// Does not answer `server/discover`.
    DiscoverSilence,
    /// Forgets the session after the handshake.
    SessionLost,
    /// Ends event streams before the answer.
    StreamEnd,
    /// Uses every form of event streams.
    EventForms,
    /// Answers with JSON, and has no stream for GET.
    JsonAnswers,
    /// Leaves out `resultType`.
    NoResultType,
}

use Scene::*;

impl Scene {
    /// Every scene, in the order of the visits.
    pub(crate) const ALL: [Self; 17] = [
        Plain,
        Bare,
        UnknownNotification,
        UnknownMembers,
        StrayAnswers,
        StrayNotifications,
        BrokenJson,
        LargeMessage,
        UnknownRequest,
        UnknownVersion,
        DiscoverError,
        DiscoverSilence,
        SessionLost,
        StreamEnd,
        EventForms,
        JsonAnswers,
        NoResultType,
    ];

    /// Returns the name, as in the path of a URL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Plain => "plain",
            Bare => "bare",
            UnknownNotification => "unknown-notification",
            UnknownMembers => "unknown-members",
            StrayAnswers => "stray-answers",
            StrayNotifications => "stray-notifications",
            BrokenJson => "broken-json",
            LargeMessage => "large-message",
            UnknownRequest => "unknown-request",
            UnknownVersion => "unknown-version",
            DiscoverError => "discover-error",
            DiscoverSilence => "discover-silence",
            SessionLost => "session-lost",
            StreamEnd => "stream-end",
            EventForms => "event-forms",
            JsonAnswers => "json-answers",
            NoResultType => "no-result-type",
        }
    }

    /// Returns true if a server of this revision can play the scene on this transport.
    pub(crate) fn suits(self, revision: Revision, carrier: Carrier) -> bool {
        let is_http = carrier == Carrier::Http;
        let is_modern = revision.has(Feature::Envelope);
        match self {
            Plain => revision.has(Feature::StreamableHttp) || !is_http,
            UnknownRequest | DiscoverError => !is_modern,
            // A server over HTTP answers each request.
            DiscoverSilence => !is_modern && !is_http,
            SessionLost => !is_modern && is_http,
            // Earlier servers end a stream after the answer.
            StreamEnd => is_http && (is_modern || revision.has(Feature::Icons)),
            EventForms | JsonAnswers => is_http,
            NoResultType => is_modern,
            _ => true,
        }
    }
}

/// The server of one visit: a scene, in one revision or in any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Play {
    pub(crate) scene: Scene,
    /// The only revision that the server serves; `None` for every revision.
    pub(crate) revision: Option<Revision>,
}

impl Play {
    /// Returns the path of the URL.
    pub(crate) fn path(self) -> String {
        match self.revision {
            None => "/mcp".to_owned(),
            Some(revision) => format!("/{revision}/{}", self.scene.name()),
        }
    }

    /// Returns true if the server serves this revision.
    pub(crate) fn serves(self, revision: Revision) -> bool {
        self.revision.is_none_or(|own| own == revision)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_scene_has_a_name_of_its_own_and_a_place() {
        let names: BTreeSet<&str> = Scene::ALL.iter().map(|scene| scene.name()).collect();
        assert_eq!(names.len(), Scene::ALL.len());
        for scene in Scene::ALL {
            let mut places = [Carrier::Http, Carrier::Stdio]
                .into_iter()
                .flat_map(|carrier| Revision::ALL.map(|revision| scene.suits(revision, carrier)));
            assert!(places.any(|suits| suits), "{scene:?}");
        }
    }
}
