//! The settings of a session that replicas share, at one part of it.

use pintle_runtime::SessionState;

use super::Session;

/// The shared settings of a part.
#[derive(Default)]
pub(super) struct Settings {
    /// The generation of the record that was applied.
    pub(super) generation: u64,
    /// Whether the next request must read the record.
    pub(super) is_doubted: bool,
    /// Whether the engine may have settings that the record does not have.
    pub(super) is_ahead: bool,
}

impl Session {
    /// Returns the generation of the settings.
    pub(in crate::server) fn generation(&self) -> u64 {
        self.lock().settings.generation
    }

    /// Makes the next request read the state.
    pub(in crate::server) fn doubt(&self) {
        self.lock().settings.is_doubted = true;
    }

    /// Makes the next request replace the settings of the engine, because the record may not have them.
    pub(in crate::server) fn doubt_settings(&self) {
        let settings = &mut self.lock().settings;
        (settings.is_doubted, settings.is_ahead) = (true, true);
    }

    /// Applies the settings of a record, unless the part has newer ones.
    pub(in crate::server) fn apply(&self, shared: &SessionState) {
        self.change(|state| {
            let settings = &mut state.settings;
            if shared.generation > settings.generation || settings.is_ahead {
                let uris = shared.subscribed.iter().map(String::as_str);
                state
                    .engine
                    .set_session_settings(shared.level.clone(), uris);
            }
            *settings = Settings {
                generation: settings.generation.max(shared.generation),
                ..Settings::default()
            };
        });
    }
}
