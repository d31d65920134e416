//! The state of a session that its replicas share.

use std::collections::BTreeSet;

use pintle_model::LoggingLevel;

/// The settings of a client for one session, and the end of the session: the record that all replicas read.
///
/// A session without settings that has not ended has the default state, and no record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "replicas", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SessionState {
    /// The number of changes. A state with a higher number is newer.
    pub generation: u64,
    /// Whether the session has ended. The end is final.
    #[cfg_attr(
        feature = "replicas",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub is_ended: bool,
    /// The minimum level of log messages, if the client has set one.
    #[cfg_attr(
        feature = "replicas",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub level: Option<LoggingLevel>,
    /// The URIs of the resources that the client subscribed to.
    #[cfg_attr(
        feature = "replicas",
        serde(default, skip_serializing_if = "BTreeSet::is_empty")
    )]
    pub subscribed: BTreeSet<String>,
}

/// A change of the settings of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionChange {
    /// The client sets the minimum level of log messages.
    Level(LoggingLevel),
    /// The client subscribes to the resource of a URI.
    Subscribe(String),
    /// The client ends its subscription to the resource of a URI.
    Unsubscribe(String),
}

impl SessionState {
    /// Maximum number of subscriptions of one session.
    pub const MAX_SUBSCRIPTIONS: usize = 1_024;
    /// Maximum length of all URIs of a session together, in bytes. The record then fits into each store.
    pub const MAX_URI_BYTES: usize = 256 << 10;

    /// Applies a change. Returns false, and changes nothing, if the session has ended. The same beyond
    /// [`Self::MAX_SUBSCRIPTIONS`] and [`Self::MAX_URI_BYTES`].
    pub fn apply(&mut self, change: &SessionChange) -> bool {
        if self.is_ended || !self.has_room(change) {
            return false;
        }
        match change {
            SessionChange::Level(level) => self.level = Some(level.clone()),
            SessionChange::Subscribe(uri) => drop(self.subscribed.insert(uri.clone())),
            SessionChange::Unsubscribe(uri) => drop(self.subscribed.remove(uri)),
        }
        self.generation += 1;
        true
    }

    /// Adds settings that a part of the session knows, and that the store has lost. Without a record the state becomes
    /// the known one. Otherwise the subscriptions of both are in force, up to the limits. Returns false, and changes
    /// nothing, if the session has ended, or if this state is newer.
    pub fn restore(&mut self, known: &Self) -> bool {
        if self.is_ended || self.generation > known.generation || self == known {
            return false;
        }
        if self.generation == 0 {
            *self = known.clone();
            return true;
        }
        self.generation = known.generation;
        for uri in &known.subscribed {
            self.apply(&SessionChange::Subscribe(uri.clone()));
        }
        self.generation = known.generation + 1;
        self.level = self.level.take().or_else(|| known.level.clone());
        true
    }

    /// Ends the session. Returns false if it has ended before.
    pub fn end(&mut self) -> bool {
        let is_first = !self.is_ended;
        *self = Self {
            generation: self.generation + u64::from(is_first),
            is_ended: true,
            ..Self::default()
        };
        is_first
    }

    fn has_room(&self, change: &SessionChange) -> bool {
        let SessionChange::Subscribe(uri) = change else {
            return true;
        };
        let bytes: usize = self.subscribed.iter().map(String::len).sum();
        self.subscribed.contains(uri)
            || (self.subscribed.len() < Self::MAX_SUBSCRIPTIONS
                && bytes + uri.len() <= Self::MAX_URI_BYTES)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn subscribe(uri: &str) -> SessionChange {
        SessionChange::Subscribe(uri.to_owned())
    }

    #[test]
    fn a_session_has_at_most_1_024_subscriptions_and_256_kib_of_uris() {
        let mut state = SessionState::default();
        for number in 0..1_024 {
            assert!(state.apply(&subscribe(&format!("a:{number}"))));
        }
        assert!(!state.apply(&subscribe("b:")));
        assert!(state.apply(&subscribe("a:7")), "known");
        let mut state = SessionState::default();
        assert!(state.apply(&subscribe(&"a".repeat(256 << 10))));
        assert!(!state.apply(&subscribe("b")));
        assert_eq!(state.generation, 1);
    }

    #[test]
    fn a_session_ends_once_and_then_accepts_no_change() {
        let mut state = SessionState::default();
        assert!(state.apply(&SessionChange::Level(LoggingLevel::Error)));
        assert!(state.end());
        assert!(!state.end());
        assert!(!state.apply(&subscribe("a:1")));
        assert_eq!((state.generation, state.level), (2, None));
    }

    #[test]
    fn settings_that_the_store_has_lost_are_restored() {
        let mut known = SessionState::default();
        known.apply(&SessionChange::Level(LoggingLevel::Error));
        known.apply(&subscribe("a:1"));
        let mut lost = SessionState::default();
        assert!(lost.restore(&known));
        assert_eq!(lost, known);
        assert!(!lost.restore(&known), "nothing is lost");
        let mut changed = SessionState::default();
        changed.apply(&subscribe("a:2"));
        assert!(changed.restore(&known));
        assert_eq!((changed.generation, changed.subscribed.len()), (3, 2));
        assert_eq!(changed.level, Some(LoggingLevel::Error));
        assert!(!changed.restore(&known), "it is newer");
        let mut ended = SessionState::default();
        ended.end();
        assert!(!ended.restore(&known));
        assert!(ended.is_ended && ended.subscribed.is_empty());
    }

    // hardening: H-17
    #[test]
    fn restored_settings_are_within_the_limits() {
        let mut known = SessionState::default();
        for number in 0..1_024 {
            known.apply(&subscribe(&format!("a:{number}")));
        }
        let mut changed = SessionState::default();
        changed.apply(&subscribe("b:1"));
        assert!(changed.restore(&known));
        assert_eq!(changed.subscribed.len(), 1_024);
        assert!(changed.subscribed.contains("b:1"));
    }

    #[test]
    fn a_state_has_the_same_value_after_its_record() {
        let mut state = SessionState::default();
        state.apply(&SessionChange::Level(LoggingLevel::Error));
        state.apply(&subscribe("a:1"));
        let text = serde_json::to_string(&state).expect("JSON");
        assert_eq!(
            text,
            r#"{"generation":2,"level":"error","subscribed":["a:1"]}"#
        );
        assert_eq!(
            serde_json::from_str::<SessionState>(&text).expect("reads"),
            state
        );
    }
}
